"""A chart as PDF, PNG or SVG, through matplotlib: legible in grey, intervals drawn, axes named. No torch."""

import io
from itertools import cycle
from typing import TYPE_CHECKING, Any, Literal

from nungil.studies.extras import needed
from nungil.studies.finding import Chart, Point, Series

if TYPE_CHECKING:
    from matplotlib.axes import Axes

# Each series has its own grey, marker and line, so that a print without colour tells them apart.
MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<")
LINES = ("-", "--", ":", "-.", (0, (5, 1, 1, 1, 1, 1)), (0, (1, 2)), (0, (8, 2)), (0, (3, 3)))
GREYS = ("0.05", "0.35", "0.55", "0.2", "0.65", "0.45", "0.1", "0.5")
WIDE, ROW, LEAST_HIGH, HIGH = 7.2, 0.34, 2.2, 3.8  # inches
DOTS = 160
PERCENT = 104  # no share is more than 100%, whatever an interval says; a little room for markers
FONT = "DejaVu Sans"  # comes with matplotlib


def draw(chart: Chart, form: Literal["png", "pdf", "svg"]) -> bytes:
    """The bytes of the file: the same for the same chart."""
    matplotlib, figure = needed("matplotlib"), needed("matplotlib.figure")
    names = [point for series in chart.series for point in series.points]
    high = HIGH if chart.kind == "lines" else max(LEAST_HIGH, 1.1 + ROW * len(names))
    # A context of its own: whatever the caller has set stays, and nothing of it reaches these files.
    with matplotlib.rc_context({"font.family": [FONT], "svg.hashsalt": "nungil", "svg.fonttype": "path"}):
        page = figure.Figure(figsize=(WIDE, high), facecolor="white", layout="constrained")
        axes = page.add_subplot()
        (_lines if chart.kind == "lines" else _dots)(axes, chart)
        axes.set_title(chart.title, fontsize=10, loc="left", parse_math=False)
        axes.tick_params(labelsize=8)
        for side in ("top", "right"):
            axes.spines[side].set_visible(False)
        file = io.BytesIO()
        empty: dict[str, dict[str, Any]] = {
            "pdf": {"CreationDate": None, "Producer": None, "Creator": None},
            "svg": {"Date": None, "Creator": None},
            "png": {"Software": None},
        }
        page.savefig(file, format=form, dpi=DOTS, metadata=empty[form])
    return file.getvalue()


def _lines(axes: "Axes", chart: Chart) -> None:
    numeric = all(not isinstance(point.x, str) for series in chart.series for point in series.points)
    names = list(dict.fromkeys(point.x for series in chart.series for point in series.points))
    count = len(chart.series)
    for place, (series, marker, line, grey) in enumerate(_styled(chart.series)):
        # Names are far enough apart for the intervals to stand side by side; numbers stay where they are.
        aside = 0.0 if numeric else 0.12 * (place - (count - 1) / 2) / max(1, count / 3)
        x = [float(point.x) if numeric else names.index(point.x) + aside for point in series.points]
        y = [point.y for point in series.points]
        axes.errorbar(
            x, y, yerr=_reach(series.points), label=series.name, marker=marker, markersize=5, linestyle=line,
            color=grey, capsize=3, linewidth=1.3, elinewidth=0.9, markerfacecolor="white" if place % 2 else grey,
        )  # fmt: skip
    if not numeric:
        axes.set_xticks(range(len(names)), [str(name) for name in names])
        axes.set_xlim(-0.4, len(names) - 0.6)
    if chart.log_across:
        axes.set_xscale("log", base=2)
        axes.set_xticks([float(name) for name in names], [f"{name:g}" for name in names])
        axes.minorticks_off()
    if chart.log_up:
        axes.set_yscale("log")
    elif all(point.y >= 0 for series in chart.series for point in series.points):
        axes.set_ylim(
            bottom=0, top=min(axes.get_ylim()[1], PERCENT) if "%" in chart.up else None
        )  # no figure that is never negative has a mean below it
    if chart.rule is not None:
        name, level = chart.rule
        axes.axhline(level, color="0.4", linewidth=0.8, linestyle=(0, (2, 3)), label=name)
    axes.set_xlabel(chart.across, fontsize=9, parse_math=False)
    axes.set_ylabel(chart.up, fontsize=9, parse_math=False)
    axes.grid(axis="y", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=8, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _dots(axes: "Axes", chart: Chart) -> None:
    """A row for each point: its mean, the interval over seeds, the one over test sentences below, and every seed."""
    points = [point for series in chart.series for point in series.points]
    axes.margins(y=0.08)
    for row, point in enumerate(points):
        axes.errorbar(
            point.y, row, xerr=_reach([point]), fmt="o", color="0.05", markersize=5, capsize=3, linewidth=1.3,
            label="mean, 95% over seeds" if row == 0 else None,
        )  # fmt: skip
        if point.test is not None:
            low, high = point.test
            name = "95% over test sentences" if row == 0 else None
            axes.plot([low, high], [row + 0.22] * 2, color="0.55", linewidth=2.5, linestyle="-", label=name)
        if len(point.each) > 1:
            name = "each seed" if row == 0 else None
            axes.plot(point.each, [row - 0.22] * len(point.each), "|", color="0.35", markersize=6, label=name)
    axes.set_yticks(range(len(points)), [str(point.x) for point in points])
    axes.invert_yaxis()
    if chart.rule is not None:
        name, level = chart.rule
        axes.axvline(level, color="0.4", linewidth=0.8, linestyle=(0, (2, 3)), label=name)
    if chart.log_up:
        axes.set_xscale("log")
    elif all(point.y >= 0 for point in points):  # as above: an interval may reach further than a figure can
        low, high = axes.get_xlim()
        axes.set_xlim(max(low, 0), min(high, PERCENT) if "%" in chart.up else high)
    axes.set_xlabel(chart.up, fontsize=9, parse_math=False)
    axes.set_ylabel(chart.across, fontsize=9, parse_math=False)
    axes.grid(axis="x", color="0.9", linewidth=0.6)
    axes.set_axisbelow(True)
    axes.legend(fontsize=7.5, frameon=False, loc="upper left", bbox_to_anchor=(1.0, 1.0))


def _styled(series: tuple[Series, ...]) -> list[tuple[Series, str, Any, str]]:
    return list(zip(series, cycle(MARKERS), cycle(LINES), cycle(GREYS), strict=False))


def _reach(points: Any) -> list[list[float]]:
    """How far intervals reach below and above their points."""
    kept: list[Point] = list(points)
    return [[max(0.0, one.y - one.low) for one in kept], [max(0.0, one.high - one.y) for one in kept]]
