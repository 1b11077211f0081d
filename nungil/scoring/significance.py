"""Compares two systems, in numbers and in a sentence."""

import math
from collections.abc import Sequence
from typing import NamedTuple

from nungil.errors import UsageError
from nungil.scoring.resampling import Difference
from nungil.scoring.sides import check_sides

EXACT_UP_TO = 1_000  # texts that only one system gets right; with more, the normal approximation is good enough
LEVEL = 0.05
LEAST = 0.001  # smaller values are printed as a bound


class McNemar(NamedTuple):
    """How many texts only the first and only the second system gets right, and p: how likely that is by chance."""

    only_first: int
    only_second: int
    p: float
    test: str  # "exact" or "chi-squared"


def mcnemar(first: Sequence[str], second: Sequence[str], gold: Sequence[str]) -> McNemar:
    """McNemar (1947) on two systems' labels: exact, two-sided; with many texts by χ², with Edwards's correction."""
    check_sides("labels of the first system", first, "gold labels", gold)
    check_sides("labels of the second system", second, "gold labels", gold)
    pairs = [(ours == right, theirs == right) for ours, theirs, right in zip(first, second, gold, strict=True)]
    return mcnemar_counts(pairs.count((True, False)), pairs.count((False, True)))


def mcnemar_counts(only_first: int, only_second: int) -> McNemar:
    """The same from the two counts."""
    if min(only_first, only_second) < 0:
        raise UsageError("a number of texts is negative; 0 or more are needed")
    apart, fewer = only_first + only_second, min(only_first, only_second)
    if apart <= EXACT_UP_TO:
        tail = sum(math.comb(apart, count) for count in range(fewer + 1))
        return McNemar(only_first, only_second, min(1.0, 2 * tail / 2**apart), "exact")
    squared = max(0, abs(only_first - only_second) - 1) ** 2 / apart
    return McNemar(only_first, only_second, math.erfc(math.sqrt(squared / 2)), "chi-squared")


def tell(
    first: str, second: str, unit: str, found: Difference, lower_is_better: bool = False, same: bool = False
) -> str:
    """`A is better than B by 1.3 BLEU (95% interval 0.4 to 2.2, p = 0.004).`, or that no difference was found.

    `same` says that both gave the same answers.
    """
    if same:
        return f"{first} and {second} gave the same answers."
    if found.p >= LEVEL:
        return (
            f"No difference between {first} and {second} can be told: {found.difference:+.1f} {unit} "
            f"(95% interval {found.low:+.1f} to {found.high:+.1f}, {_chance(found.p)})."
        )
    ahead = found.difference > 0
    low, high = (found.low, found.high) if ahead else (-found.high, -found.low)
    verb = "better" if ahead != lower_is_better else "worse"
    return (
        f"{first} is {verb} than {second} by {abs(found.difference):.1f} {unit} "
        f"(95% interval {low:.1f} to {high:.1f}, {_chance(found.p)})."
    )


def _chance(p: float) -> str:
    return f"p = {p:.2g}" if p >= LEAST else f"p < {LEAST}"


def tell_baseline(first: str, baseline: str, told: str) -> str:
    """The same for a system and a baseline: if it does not beat the baseline, that is said first."""
    beaten = told.startswith(f"{first} is better than {baseline} ")
    return told if beaten else f"{first} does not beat {baseline}. {told}"
