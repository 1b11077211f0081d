"""Job and Record: one run of a study, and what is left of it as one JSON file. No torch."""

import json
import math
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal

from pydantic import Field, ValidationError

from nungil.errors import CheckpointError
from nungil.settings import Settings, parse_json
from nungil.text.atomic import whole_bytes

Stage = Literal["sweep", "main"]
Formula = Literal["bleu", "chrf", "share", "aer", "mean"]
SWEEP_SEED = 1_000  # one that no study counts


class Job(Settings):
    """What is run: an arm of the study, with a seed and a learning rate."""

    arm: str = Field(max_length=200)
    seed: int = Field(ge=0)
    stage: Stage = "main"
    rate: float | None = Field(None, gt=0, description="None where nothing is trained.")

    @property
    def key(self) -> str:
        """A name that can be that of a file; the rate of a main run is chosen, so it is no part of it."""
        arm = "".join(letter if letter.isalnum() else "-" for letter in self.arm)
        return f"sweep-{arm}-{self.rate:g}" if self.stage == "sweep" else f"{arm}-seed-{self.seed}"


class Tally(Settings):
    """Counts of each test sentence, and the formula that makes a score of their sum."""

    formula: Formula
    rows: tuple[tuple[float, ...], ...]
    part: str = Field("", description="Which of the sentences these are: tallies of one part have the same ones.")


class Record(Settings):
    """One finished run."""

    job: Job
    updates: int = 0
    parameters: int = 0
    seconds: float = Field(0.0, description="Of training.")
    examined: float = Field(0.0, description="Seconds that the tests took.")
    validation: float | None = Field(None, description="Loss on the validation set; None where training diverged.")
    figures: dict[str, float] = Field({}, description="What has no test sentences, such as a speed.")
    tallies: dict[str, Tally] = Field({}, description="Counts of each test sentence.")


def write_record(folder: Path, record: Record) -> None:
    """Write it whole or not at all."""
    text = json.dumps(record.model_dump(mode="json"), ensure_ascii=False, allow_nan=False, separators=(",", ":"))
    whole_bytes(folder / f"{record.job.key}.json", (text + "\n").encode())


def read_record(path: Path) -> Record:
    """Read it; what is no record is refused by name."""
    try:
        return Record.model_validate(parse_json(path.read_text(encoding="utf-8"), str(path)))
    except (ValidationError, OSError, UnicodeDecodeError):
        raise CheckpointError(f"{path}: this is no record of a run; remove it, and the run is made again") from None


def finite(numbers: Mapping[str, float]) -> dict[str, float]:
    """Those that are numbers: JSON has no infinity."""
    return {name: float(value) for name, value in numbers.items() if math.isfinite(value)}


def tally(formula: Formula, rows: Sequence[Sequence[Any]], part: str = "") -> Tally:
    """Counts as plain numbers."""
    return Tally(formula=formula, rows=tuple(tuple(float(count) for count in row) for row in rows), part=part)
