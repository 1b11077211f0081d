"""Figures of several seeds on one test set: means, two kinds of interval told apart, corrected comparisons. No torch.

Other seeds would give other models: that spread is the t interval over seeds. Other test sentences would give other
scores of the same models: that is the bootstrap. A difference is called one only if it stands against both, so its p is
the larger of the two; where many are asked for, Holm (1979) corrects them.

Sizes   N test sentences   K counts of a sentence   R resamples   M seeds
"""

from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.batches.chance import seed_of
from nungil.errors import UsageError
from nungil.scoring.measures import bleu_of, chrf_of
from nungil.scoring.resampling import SHARE, Interval, difference, interval, resample
from nungil.scoring.significance import LEVEL
from nungil.studies.extras import needed
from nungil.studies.job import Formula, Record

Array = NDArray[np.float64]
Quantity = Mapping[str, float]  # names of tallies or figures, each times a number, summed
HUNDRED = 100.0
ROUNDING = 1e-9  # of figures up to some thousands


def share_of(sums: Array) -> Array:
    """The first count as a percentage of the second."""
    return np.asarray(HUNDRED * sums[:, 0] / np.maximum(sums[:, 1], 1e-300))


def aer_of(sums: Array) -> Array:
    """Percent: 1 − (|A∩S| + |A∩P|) / (|A| + |S|), from these four counts."""
    return np.asarray(HUNDRED * (1 - (sums[:, 0] + sums[:, 1]) / np.maximum(sums[:, 2] + sums[:, 3], 1)))


def mean_of(sums: Array) -> Array:
    """The first count for each of the second."""
    return np.asarray(sums[:, 0] / np.maximum(sums[:, 1], 1e-300))


FORMULAS: dict[Formula, Callable[[Array], Array]] = {
    "bleu": bleu_of,
    "chrf": chrf_of,
    "share": share_of,
    "aer": aer_of,
    "mean": mean_of,
}


class Estimate(NamedTuple):
    """A figure: its mean over seeds, the interval over seeds, the one over test sentences, and that of each seed."""

    mean: float
    seeds: Interval
    test: Interval | None
    each: tuple[float, ...]


class Comparison(NamedTuple):
    """The first less the second, paired by seed and by sentence. `p` is corrected where several were asked for."""

    what: str
    first: str
    second: str
    difference: float
    seeds: Interval
    test: Interval | None
    p_seeds: float
    p_test: float | None
    p: float

    @property
    def stands(self) -> bool:
        """Whether it is a difference."""
        return self.p < LEVEL


class Results:
    """The finished runs of a study, by arm; those of a sweep are left out."""

    def __init__(self, records: Sequence[Record]) -> None:
        main = sorted((one for one in records if one.job.stage == "main"), key=lambda one: one.job.seed)
        self.arms = list(dict.fromkeys(one.job.arm for one in main))
        self._of = {arm: [one for one in main if one.job.arm == arm] for arm in self.arms}

    def of(self, arm: str) -> list[Record]:
        """The runs of an arm, by seed."""
        if arm not in self._of:
            raise UsageError(f"there is no run of {arm}")
        return self._of[arm]

    def names(self, beginning: str) -> list[str]:
        """The tallies and figures whose name begins so, as the first run has them."""
        first = self._of[self.arms[0]][0]
        return [name for name in (*first.tallies, *first.figures) if name.startswith(beginning)]

    def estimate(self, arm: str, what: str | Quantity) -> Estimate:
        """One figure of one arm."""
        records, quantity = self.of(arm), _quantity(what)
        each = np.array([_score(one, quantity) for one in records])
        resampled = _resampled(records, quantity)
        test = None if resampled is None else interval(float(each.mean()), resampled)
        return Estimate(float(each.mean()), over_seeds(each), test, tuple(each.tolist()))

    def compare(self, first: str, second: str, what: str | Quantity, named: str) -> Comparison:
        """Two arms in one figure."""
        quantity, ours, theirs = _quantity(what), *self._paired(first, second)
        apart = np.array([_score(a, quantity) - _score(b, quantity) for a, b in zip(ours, theirs, strict=True)])
        resampled = _resampled(ours, quantity), _resampled(theirs, quantity)
        return _compared((named, first, second), apart, *resampled, _sentences(ours[0], quantity))

    def against(self, arm: str, what: str | Quantity, level: float, named: str, other: str = "") -> Comparison:
        """One arm against a number that is known, such as that of a guess; `other` is empty where `named` says it."""
        records, quantity = self.of(arm), _quantity(what)
        apart = np.array([_score(one, quantity) for one in records]) - level
        resampled = _resampled(records, quantity)
        known = None if resampled is None else np.full_like(resampled, level)
        return _compared((named, arm, other), apart, resampled, known, _sentences(records[0], quantity))

    def _paired(self, first: str, second: str) -> tuple[list[Record], list[Record]]:
        """The runs of both whose seeds both have."""
        both = {one.job.seed for one in self.of(first)} & {one.job.seed for one in self.of(second)}
        if not both:
            raise UsageError(f"{first} and {second} have no seed in common")
        sides = ([one for one in self.of(arm) if one.job.seed in both] for arm in (first, second))
        return next(sides), next(sides)


def over_seeds(each: Array) -> Interval:
    """The 95% t interval of the mean; with one seed nothing is known of the spread, and it is the figure alone."""
    mean, count = float(each.mean()), len(each)
    if count < 2:
        return Interval(mean, mean, mean)
    wide = float(needed("scipy.stats").t.ppf((100 + SHARE) / 200, count - 1)) * float(each.std(ddof=1)) / count**0.5
    return Interval(mean, mean - wide, mean + wide)


def p_over_seeds(apart: Array) -> float:
    """Student's paired test, two-sided. Where every seed says the same it is a coin that always fell alike."""
    count, largest = len(apart), float(np.abs(apart).max())
    spread = float(apart.std(ddof=1)) if count > 1 else 0.0
    if spread <= ROUNDING:  # 98.4 − 98.2 and 98.6 − 98.4 are the same difference, but for their last digits
        return 1.0 if largest <= ROUNDING else 0.5 ** (count - 1)
    return float(2 * needed("scipy.stats").t.sf(abs(float(apart.mean())) * count**0.5 / spread, count - 1))


def holm(compared: Sequence[Comparison]) -> list[Comparison]:
    """The same with p corrected for how many there are. Holm (1979)."""
    order = sorted(range(len(compared)), key=lambda place: compared[place].p)
    corrected, highest = list(compared), 0.0
    for rank, place in enumerate(order):
        highest = max(highest, min(1.0, (len(compared) - rank) * compared[place].p))
        corrected[place] = compared[place]._replace(p=highest)
    return corrected


def _quantity(what: str | Quantity) -> Quantity:
    return {what: 1.0} if isinstance(what, str) else what


def _score(record: Record, quantity: Quantity) -> float:
    return sum(times * _one(record, name) for name, times in quantity.items())


def _one(record: Record, name: str) -> float:
    if name in record.figures:
        return record.figures[name]
    if name not in record.tallies:
        raise UsageError(f"the run {record.job.key} has no figure {name}")
    found = record.tallies[name]
    return float(FORMULAS[found.formula](np.array(found.rows, dtype=np.float64).sum(axis=0, keepdims=True))[0])


def _resampled(records: Sequence[Record], quantity: Quantity) -> Array | None:
    """(R,) means over seeds, the same sentences drawn for every arm, seed and tally of them; None if there are none."""
    parts = [
        times * _resampled_one(records, name)
        for name, times in quantity.items()
        if all(name in one.tallies for one in records)
    ]
    return np.asarray(sum(parts)) if len(parts) == len(quantity) else None


def _resampled_one(records: Sequence[Record], name: str) -> Array:
    counts = [np.array(one.tallies[name].rows, dtype=np.float64) for one in records]
    first = records[0].tallies[name]
    formula, K = FORMULAS[first.formula], counts[0].shape[1]
    sums = resample(np.concatenate(counts, axis=1), seed=seed_of(len(counts[0]), *first.part.encode()))
    return np.asarray(np.mean([formula(sums[:, m * K : (m + 1) * K]) for m in range(len(counts))], axis=0))


def _sentences(record: Record, quantity: Quantity) -> int:
    """How many a figure rests on; of a difference of two groups, the fewer."""
    return min((len(record.tallies[name].rows) for name in quantity if name in record.tallies), default=0)


def _compared(
    names: tuple[str, str, str], apart: Array, ours: Array | None, theirs: Array | None, sentences: int
) -> Comparison:
    p_seeds, seeds, mean = p_over_seeds(apart), over_seeds(apart), float(apart.mean())
    if ours is None or theirs is None:
        return Comparison(*names, mean, seeds, None, p_seeds, None, p_seeds)
    found = difference(mean, 0.0, ours, theirs, sentences)
    test = Interval(found.difference, found.low, found.high)
    return Comparison(*names, mean, seeds, test, p_seeds, found.p, max(p_seeds, found.p))
