"""The bootstrap: how far a score would move if other sentences of the same kind had been scored (Koehn, 2004).

Sizes   N sentences   K counts of a sentence   R resamples   M cells: kinds of answer, each with its number
"""

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
SAMPLES, SEED = 1_000, 1
AT_ONCE = 4_000_000  # sentences drawn at once
SHARE = 95  # percent of the resamples that an interval spans


class Interval(NamedTuple):
    """A score, and where 95% of the resamples lie."""

    score: float
    low: float
    high: float


class Difference(NamedTuple):
    """How much more the first system has than the second, where 95% of the resamples lie, and p.

    p is two-sided: twice the share of resamples with the rarer sign, with one added to both counts. It is never below
    2 / 2^N, the probability that N fair coins all fall alike: resamples of a single sentence are always the same.
    """

    difference: float
    low: float
    high: float
    p: float


def resample(counts: Array, samples: int = SAMPLES, seed: int = SEED) -> Array:
    """The sums (R, K) over resamples of the rows of counts (N, K): as many rows as there are, drawn with replacement.

    Everything to compare is in one array, so that it is summed over the same sentences.
    """
    N = len(counts)
    random = np.random.default_rng(seed)
    sums = np.empty((samples, counts.shape[1]))
    step = max(1, AT_ONCE // N)
    for start in range(0, samples, step):
        rows = min(step, samples - start)
        drawn = random.integers(0, N, size=(rows, N)) + N * np.arange(rows)[:, None]
        times_RN = np.bincount(drawn.ravel(), minlength=rows * N).reshape(rows, N)
        sums[start : start + rows] = times_RN @ counts
    return sums


def resample_cells(numbers: NDArray[np.int64], samples: int = SAMPLES, seed: int = SEED) -> Iterator[NDArray[np.int64]]:
    """The same where rows are alike: how many of each of M kinds are drawn, some resamples at a time, (…, M)."""
    total = int(numbers.sum())
    random = np.random.default_rng(seed)
    step = max(1, AT_ONCE // len(numbers))
    for start in range(0, samples, step):
        yield random.multinomial(total, numbers / total, size=min(step, samples - start))


def interval(score: float, resampled: Array) -> Interval:
    """The middle 95% of resampled scores, beside the score itself."""
    low, high = np.percentile(resampled, [(100 - SHARE) / 2, (100 + SHARE) / 2])
    return Interval(score, float(low), float(high))


def difference(
    first: float, second: float, first_resampled: Array, second_resampled: Array, sentences: int
) -> Difference:
    """The first minus the second, from the same resamples."""
    apart = first_resampled - second_resampled
    found = interval(first - second, apart)
    against = min(int(np.count_nonzero(apart <= 0)), int(np.count_nonzero(apart >= 0)))
    p = min(1.0, 2 * (against + 1) / (len(apart) + 1))
    return Difference(*found, p=max(p, 0.5 ** (sentences - 1)))
