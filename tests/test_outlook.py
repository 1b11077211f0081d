"""What a translator is likely to reach: measured figures, quoted as they are."""

import re
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.text.outlook import CURVES, Curve, Rung, outlook

ROOT = Path(__file__).resolve().parent.parent
LONG = Curve("long ones", "from here to there", (Rung(1_000, 11.4), Rung(5_000, 20.6), Rung(20_000, 31.0)))
SHORT = Curve("short ones", "back again", (Rung(2_000, 40.2), Rung(10_000, 55.7)))


@pytest.mark.parametrize(
    ("pairs", "told"),
    [
        (
            700,
            "700 pairs: expect chrF below 11 (long ones, from here to there: measured with 1,000), or below 40 (short "
            "ones, back again: measured with 2,000). More of them help: it was 21 with 5,000 long ones, or 56 with "
            "10,000 short ones.",
        ),
        (
            4_870,
            "4,870 pairs: expect chrF 11–21 (long ones, from here to there: measured with 1,000 and 5,000), or 40–56 "
            "(short ones, back again: measured with 2,000 and 10,000). More of them help: it was 31 with 20,000 long "
            "ones.",
        ),
        (
            5_000,
            "5,000 pairs: expect chrF 21 (long ones, from here to there: measured with 5,000), or 40–56 (short ones, "
            "back again: measured with 2,000 and 10,000). More of them help: it was 31 with 20,000 long ones.",
        ),
        (
            12_345,
            "12,345 pairs: expect chrF 21–31 (long ones, from here to there: measured with 5,000 and 20,000), or above "
            "56 (short ones, back again: measured with 10,000).",
        ),
        (
            20_000,
            "20,000 pairs: expect chrF 31 (long ones, from here to there: measured with 20,000), or above 56 (short "
            "ones, back again: measured with 10,000).",
        ),
        (20_001, None),
    ],
)
def test_the_measured_neighbours_are_quoted(pairs, told):
    assert outlook(pairs, (LONG, SHORT)) == told


@given(st.integers(1, 50_000))
def test_nothing_is_said_that_was_not_measured(pairs):
    told = outlook(pairs)
    if told is None:
        assert all(pairs > curve.rungs[-1].pairs for curve in CURVES)
        return
    figures = {f"{rung.chrf:.0f}" for curve in CURVES for rung in curve.rungs}
    sizes = {f"{rung.pairs:,}" for curve in CURVES for rung in curve.rungs} | {f"{pairs:,}"}
    assert set(re.findall(r"\d[\d,]*\d|\d", told)) <= figures | sizes


def test_every_figure_stands_in_the_results():
    results = (ROOT / "docs" / "results.md").read_text(encoding="utf-8")
    for curve in CURVES:
        for rung in curve.rungs:
            row = rf"^\| {rung.pairs:,} \|.*\| {rung.chrf:.1f} \|"
            assert re.search(row, results, re.MULTILINE), f"{curve.pairs}: {rung}"


def test_more_text_is_better_in_every_curve():
    for curve in CURVES:
        assert list(curve.rungs) == sorted(curve.rungs)
        assert [rung.chrf for rung in curve.rungs] == sorted(rung.chrf for rung in curve.rungs)
