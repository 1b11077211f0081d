"""The learning rate of each update: a pure function."""

import math
from typing import Literal

from pydantic import Field

from nungil.settings import Settings


class ScheduleSettings(Settings):
    """How the learning rate rises and falls."""

    shape: Literal["inverse-sqrt", "cosine", "constant"] = Field(
        "inverse-sqrt", description="After the warm-up: fall as 1/√update, along a cosine to `floor`, or stay constant."
    )
    rate: float = Field(0.001, gt=0, le=10, description="The highest learning rate.")
    warmup: int = Field(400, ge=0, le=10_000_000, description="Updates of the warm-up, in which it rises from 0.")
    floor: float = Field(0.05, ge=0, le=1, description="Where a cosine ends, as a share of the highest rate.")


def rate_at(update: int, settings: ScheduleSettings, updates: int) -> float:
    """The learning rate of an update, counted from 1, in a run of `updates`."""
    if update < settings.warmup:
        return settings.rate * update / settings.warmup
    if settings.shape == "inverse-sqrt":
        return settings.rate * math.sqrt(max(settings.warmup, 1) / max(update, 1))
    if settings.shape == "cosine":
        done = min(1.0, (update - settings.warmup) / max(1, updates - settings.warmup))
        return settings.rate * (settings.floor + (1 - settings.floor) * (1 + math.cos(math.pi * done)) / 2)
    return settings.rate
