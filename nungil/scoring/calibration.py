"""Calibration: is a classifier right as often as its probabilities say? Guo et al. (2017)."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from nungil.errors import UsageError

BINS = 15


class Bin(NamedTuple):
    """The answers with a probability above `low`, up to `high`: its mean, and how often they are right."""

    low: float
    high: float
    texts: int
    confidence: float
    accuracy: float


class Calibration(NamedTuple):
    """The expected calibration error, 0 (best) to 1, and its bins, without empty ones."""

    error: float
    bins: tuple[Bin, ...]


def calibration(probabilities: Sequence[float], right: Sequence[bool], bins: int = BINS) -> Calibration:
    """The mean difference, over texts, between the mean probability and the accuracy of their bin.

    `probabilities` are those of the predicted labels. The bins are equally wide.
    """
    if len(probabilities) != len(right):
        raise UsageError(f"probabilities {len(probabilities):,}, answers {len(right):,}; there must be one for each")
    if not len(right):
        raise UsageError("there are no answers to score; give at least one")
    sure, correct = np.asarray(probabilities, dtype=np.float64), np.asarray(right, dtype=np.float64)
    bad = np.flatnonzero(~((sure >= 0) & (sure <= 1)))
    if bad.size:
        raise UsageError(f"probability {bad[0] + 1:,} is {sure[bad[0]]:g}; it must be between 0 and 1")
    places = np.clip(np.ceil(sure * bins).astype(np.int64) - 1, 0, bins - 1)
    texts = np.bincount(places, minlength=bins)
    some = np.flatnonzero(texts)
    confidence = np.bincount(places, weights=sure, minlength=bins)[some] / texts[some]
    accuracy = np.bincount(places, weights=correct, minlength=bins)[some] / texts[some]
    error = float(np.abs(confidence - accuracy) @ texts[some] / len(sure))
    rows = zip(some, confidence, accuracy, strict=True)
    return Calibration(
        error, tuple(Bin(k / bins, (k + 1) / bins, int(texts[k]), float(c), float(a)) for k, c, a in rows)
    )
