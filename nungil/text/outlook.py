"""Outlook: what a translator is likely to reach with so many pairs, by curves that were measured. Nothing is made up.

Each figure is chrF of the test set; docs/results.md has them all, and the commands that made them.
"""

from bisect import bisect_left
from collections.abc import Sequence
from typing import NamedTuple

from nungil.text.counts import counted


class Rung(NamedTuple):
    """So many pairs, and what a translator that learned from them reached."""

    pairs: int
    chrf: float


class Curve(NamedTuple):
    """One corpus, drawn smaller and smaller: what its pairs are, from which language to which."""

    pairs: str
    languages: str
    rungs: tuple[Rung, ...]

    def around(self, pairs: int) -> tuple[Rung, ...]:
        """The rungs on both sides of so many pairs; one where they are as many, or beyond the lowest or the highest."""
        above = bisect_left(self.rungs, pairs, key=lambda rung: rung.pairs)
        exact = above < len(self.rungs) and self.rungs[above].pairs == pairs
        return self.rungs[above if exact else max(0, above - 1) : above + 1]

    def next(self, pairs: int) -> Rung | None:
        """The rung above those."""
        highest = self.around(pairs)[-1]
        return next((rung for rung in self.rungs if rung.pairs > highest.pairs), None)


CURVES = (
    Curve(
        "long paragraphs",
        "English to Korean",
        (Rung(1_000, 11.5), Rung(5_000, 21.3), Rung(10_000, 23.1), Rung(20_000, 33.9), Rung(38_395, 44.2)),
    ),
    Curve("short captions", "English to German", (Rung(1_000, 34.4), Rung(5_000, 50.7), Rung(28_995, 63.9))),
)


def outlook(pairs: int, curves: Sequence[Curve] = CURVES) -> str | None:
    """What to expect and what would help, in two sentences; None for more pairs than were measured."""
    if pairs > max(curve.rungs[-1].pairs for curve in curves):
        return None
    expected = ", or ".join(_expected(curve, pairs) for curve in curves)
    more = ", or ".join(
        f"{rung.chrf:.0f} with {rung.pairs:,} {curve.pairs}"
        for curve in curves
        if (rung := curve.next(pairs)) is not None
    )
    return f"{counted(pairs, 'pair')}: expect chrF {expected}." + (
        f" More of them help: it was {more}." if more else ""
    )


def _expected(curve: Curve, pairs: int) -> str:
    rungs = curve.around(pairs)
    figures = "–".join(f"{rung.chrf:.0f}" for rung in rungs)
    beyond = "below " if pairs < rungs[0].pairs else "above " if pairs > rungs[-1].pairs else ""
    measured = " and ".join(f"{rung.pairs:,}" for rung in rungs)
    return f"{beyond}{figures} ({curve.pairs}, {curve.languages}: measured with {measured})"
