"""What several studies share: the quality of arms as a table and as a chart. No torch."""

from collections.abc import Sequence

from nungil.studies.finding import CELLS, Chart, Series, Table, cells, number, point
from nungil.studies.statistics import Comparison, Results

SPEED = "sentences per second"


def quality_table(results: Results, more: Sequence[tuple[str, int]] = ()) -> Table:
    """BLEU with both of its intervals, chrF++, and further figures with so many digits."""
    rows = []
    for arm in results.arms:
        extra = (number(results.estimate(arm, name).mean, digits) for name, digits in more)
        made = results.of(arm)[0].parameters
        bleu, chrf = results.estimate(arm, "BLEU"), results.estimate(arm, "chrF++")
        rows.append((arm, *cells(bleu), number(chrf.mean), *extra, f"{made:,}"))
    head = ("arm", "BLEU", *CELLS[1:], "chrF++", *(name for name, _ in more), "parameters")
    return Table("Quality", head, tuple(rows))


def dot_chart(results: Results, stem: str, title: str, what: str, unit: str, across: str = "model") -> Chart:
    """One figure of every arm, a row for each."""
    points = tuple(point(arm, results.estimate(arm, what)) for arm in results.arms)
    return Chart(stem, title, across, unit, (Series(unit, points),), kind="dots")


def better_and_worse(compared: Sequence[Comparison]) -> tuple[list[str], list[str]]:
    """The arms whose difference stands, above and below what they were compared with."""
    better = [one.first for one in compared if one.stands and one.difference > 0]
    return better, [one.first for one in compared if one.stands and one.difference < 0]


def listed(names: Sequence[str]) -> str:
    """`a, b and c`."""
    return " and ".join([", ".join(names[:-1]), names[-1]]) if len(names) > 1 else "".join(names)
