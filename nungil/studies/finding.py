"""Finding: what a study found, as sentences, tables and charts; nothing of it knows how it will be shown. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Literal, NamedTuple

from nungil.studies.statistics import Comparison, Estimate

Verdict = Literal["holds", "does not hold", "holds in part", "cannot be told"]
VERDICTS: dict[Verdict, str] = {
    "holds": "In this measurement the claim holds.",
    "does not hold": "In this measurement the claim does not hold.",
    "holds in part": "In this measurement the claim holds in part.",
    "cannot be told": "This measurement cannot tell whether the claim holds.",
}


class Point(NamedTuple):
    """A value and its 95% interval over seeds; `test` is the one over test sentences."""

    x: float | str
    y: float
    low: float
    high: float
    test: tuple[float, float] | None = None
    each: tuple[float, ...] = ()


@dataclass(frozen=True)
class Series:
    """Points of one name."""

    name: str
    points: tuple[Point, ...]


@dataclass(frozen=True)
class Chart:
    """A picture to be: lines through points, or points beside names. `rule` is a level to compare with."""

    name: str
    title: str
    across: str  # what the axes are
    up: str
    series: tuple[Series, ...]
    kind: Literal["lines", "dots"] = "lines"
    log_across: bool = False
    log_up: bool = False
    rule: tuple[str, float] | None = None
    note: str = ""


@dataclass(frozen=True)
class Table:
    """Rows of cells; the first column is a name."""

    title: str
    head: tuple[str, ...]
    rows: tuple[tuple[str, ...], ...]
    note: str = ""


@dataclass(frozen=True)
class Finding:
    """The answer in a sentence, whether the claim holds, and all that it rests on."""

    answer: str
    verdict: Verdict
    details: tuple[str, ...] = ()
    tables: tuple[Table, ...] = ()
    charts: tuple[Chart, ...] = ()
    comparisons: tuple[Comparison, ...] = ()
    limits: tuple[str, ...] = ()


def point(x: float | str, found: Estimate) -> Point:
    """An estimate as a point of a chart."""
    test = None if found.test is None else (found.test.low, found.test.high)
    return Point(x, found.mean, found.seeds.low, found.seeds.high, test, found.each)


def number(value: float, digits: int = 1) -> str:
    """With a true minus."""
    shown = f"{value:,.{digits}f}"
    return shown.replace("-", "−") if float(shown.replace(",", "")) else f"{0:.{digits}f}"


def cells(found: Estimate, digits: int = 1) -> tuple[str, str, str]:
    """A figure, its half-width over seeds, and its interval over test sentences, for three columns."""
    half = found.seeds.high - found.mean
    test = "–" if found.test is None else f"{number(found.test.low, digits)} to {number(found.test.high, digits)}"
    return number(found.mean, digits), "–" if len(found.each) < 2 else f"±{number(half, digits)}", test


CELLS = ("mean", "± seeds", "95% over test sentences")


def told(found: Comparison, unit: str = "", digits: int | None = None) -> str:
    """`+4.1 BLEU (95% over seeds 3.0 to 5.2, p = 0.003)`."""
    digits = fitting_digits(found) if digits is None else digits
    low, high = number(found.seeds.low, digits), number(found.seeds.high, digits)
    sign = "+" if found.difference > 0 else ""
    return f"{sign}{number(found.difference, digits)}{unit} (95% over seeds {low} to {high}, {chance(found.p)})"


def chance(p: float) -> str:
    """A probability as it is read."""
    return f"p = {p:.2g}" if p >= 0.001 else "p < 0.001"


def fitting_digits(found: Comparison) -> int:
    """More of them where all that is known of a difference is less than one."""
    return 1 if max(abs(found.difference), abs(found.seeds.low), abs(found.seeds.high)) >= 1 else 3


def comparison_table(compared: Sequence[Comparison]) -> Table:
    """Every comparison with both of its intervals, and what is left after correction."""
    rows = []
    for one in compared:
        digits = fitting_digits(one)
        test = "–" if one.test is None else f"{number(one.test.low, digits)} to {number(one.test.high, digits)}"
        seeds = f"{number(one.seeds.low, digits)} to {number(one.seeds.high, digits)}"
        both = (chance(one.p_seeds), "–" if one.p_test is None else chance(one.p_test))
        stands = "yes" if one.stands else "no"
        what = f"{one.what}: {one.first}{f' − {one.second}' if one.second else ''}"
        rows.append((what, number(one.difference, digits), seeds, test, *both, chance(one.p), stands))
    head = ("what", "difference", "95% over seeds", "95% over test sentences", "p seeds", "p test", "p corrected")
    note = "The larger p of the two is corrected by Holm for all rows; a difference stands if it is below 0.05."
    return Table("Comparisons", (*head, "stands"), tuple(rows), note)
