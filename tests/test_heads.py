"""Heads against gold links, coverage, and the atlas: small matrices whose every number is known."""

import xml.etree.ElementTree as ElementTree

import numpy as np
import pytest

from nungil.errors import UsageError
from nungil.inspection.coverage import Coverage, coverage_of, listed
from nungil.inspection.drawings.atlas import atlas_of, draw_atlas
from nungil.inspection.drawings.svg import to_svg
from nungil.inspection.heads import Desk, ceiling_scores, diagonal_scores
from nungil.inspection.links import links_of
from nungil.inspection.record import AttentionMap, AttentionRecord
from nungil.inspection.saving import size_of
from nungil.scoring.alignment import score_links

SOURCE, TARGET = ["<sos>", "I", "like", "snow", "<eos>"], ["나는", "눈을", "좋아한다", "<eos>"]
GOLD = "0-0 2-1 1-2"
# The right word at each step; and the same one step late, as a map that is off by one.
RIGHT = np.array([[0, 0.75, 0, 0.25, 0], [0, 0, 0, 0.5, 0.5], [0, 0, 1.0, 0, 0], [1.0, 0, 0, 0, 0]])
LATE = np.roll(RIGHT, 1, axis=0)


def record(*heads, layer=0):
    return AttentionRecord(SOURCE, TARGET, [AttentionMap("cross", layer, np.stack(heads))])


def test_links_in_both_readings():
    assert links_of(record(RIGHT)) == "0-0 1-2 2-1"
    assert links_of(record(LATE), "input") == "0-0 1-2 2-1"
    assert links_of(record(LATE)) == "0-1 2-2", "a row that looks at <sos> alone links nothing"
    assert links_of(record(RIGHT, LATE), head=1) == links_of(record(LATE))
    assert links_of(record(RIGHT).read_as("input"), "input") == links_of(record(RIGHT), "input")


def test_a_desk_scores_each_head_in_each_reading():
    desk = Desk([GOLD])
    desk.add(0, record(RIGHT, LATE))
    found = {(one.head, one.reading): one for one in desk.scores()}
    assert list(found) == [(None, "output"), (None, "input"), (0, "output"), (0, "input"), (1, "output"), (1, "input")]
    good = found[0, "output"]
    assert (good.aer, good.precision, good.recall, good.match) == (0, 1, 1, 1)
    assert good.mass == pytest.approx((0.75 + 0.5 + 1.0) / 3)
    late = found[1, "input"]
    assert (late.aer, late.match, late.mass) == (0, 1, pytest.approx(0.75))
    bad = found[1, "output"]  # links 0-1 and 2-2, neither of them right
    assert (bad.aer, bad.precision, bad.recall, bad.match) == (1, 0, 0, 0)
    assert bad.mass == pytest.approx(0.25 / 3), "the first row has a quarter on snow"
    mean = found[None, "output"]
    assert mean.mass == pytest.approx((0.375 + (0.25 + 0.125) + 0.5) / 3)


def test_a_possible_link_is_no_match_and_a_word_without_gold_is_not_asked_for():
    desk = Desk(["0-0 2p1 1-2"])
    desk.add(0, record(RIGHT))
    (output, _) = desk.scores()
    assert (output.match, output.mass) == (1.0, pytest.approx(0.875))
    assert output.precision == 1.0


def test_the_best_head_is_chosen_on_one_half_and_reported_on_the_other():
    desk = Desk([GOLD, GOLD, GOLD])
    for place in (2, 0, 1):  # in any order; the first and third choose, the second reports
        desk.add(place, record(RIGHT, LATE) if place != 1 else record(LATE, RIGHT))
    chosen = desk.choose()
    assert (chosen.chosen_on.head, chosen.chosen_on.reading, chosen.chosen_on.aer) == (0, "output", 0)
    assert (chosen.reported_on.head, chosen.reported_on.reading, chosen.reported_on.aer) == (0, "output", 1)
    assert chosen.to_json()["reported_on"]["aer"] == 1
    with pytest.raises(UsageError, match="2 or more are needed"):
        Desk([GOLD]).choose()


def test_the_diagonal_and_the_ceiling():
    pairs = [("I like snow", "나는 눈을 좋아한다")]
    assert diagonal_scores(pairs, [GOLD]) == score_links(["0-0 1-1 2-2"], [GOLD])
    gold = ["0-0 1-0 2p1 3p1"]  # one link for word 0 leaves a sure one out
    assert ceiling_scores(gold) == score_links(["0-0 2-1"], gold)


def test_many_words_never_looked_at_are_counted():
    words = tuple(f"w{number}" for number in range(20))
    coverage = Coverage(words, (0.0,) * 20, (0.0,) * 20)
    (line,) = coverage.notes()
    assert line == ("Never looked at (no word written gives 5%): w0, w1, w2, w3, w4, w5, w6, w7 … (12 more).")
    assert listed(words[:10]) == "w0, w1, w2, w3, w4, w5, w6, w7, w8, w9"
    assert listed(words[:11]) == "w0, w1, w2, w3, w4, w5, w6, w7 … (3 more)"
    assert len(coverage.to_json()["never"]) == 20


def test_coverage_tells_words_never_and_often_looked_at():
    weights = [[0.0, 0.9, 0.04, 0.06, 0.0], [0.0, 0.8, 0.03, 0.17, 0.0], [0.0, 0.7, 0.0, 0.3, 0.0], [0, 0, 1.0, 0, 0]]
    one = AttentionRecord.from_matrix(weights, SOURCE, TARGET)
    coverage = coverage_of(one)
    assert coverage.words == ("I", "like", "snow")
    assert coverage.total == pytest.approx((2.4, 0.07, 0.53))
    assert (coverage.never, coverage.often) == ((1,), (0,))
    assert one.picture().notes[2:] == (
        "Never looked at (no word written gives 5%): like.",
        "Looked at again and again (weight of 2 words or more): I (2.4).",
    )
    assert one.to_json()["coverage"]["never"] == [1]
    assert AttentionRecord.from_json(one.to_json()) == one
    marks = AttentionRecord.from_matrix([[0.5, 0.5]], ["I", "<eos>"], ["<eos>"])
    assert coverage_of(marks) is None
    pieces = AttentionRecord.from_matrix([[0.5, 0.5], [0.5, 0.5]], ["▁sn", "ow"], ["▁눈", "을"])
    assert coverage_of(pieces).total == (1.0,)


def test_an_atlas_has_a_panel_for_each_head_with_its_facts():
    maps = [AttentionMap("cross", 0, np.stack([RIGHT, LATE])), AttentionMap("cross", 1, np.stack([LATE, LATE]))]
    both = AttentionRecord(SOURCE, TARGET, maps, source="I like snow")
    atlas = atlas_of(both)
    assert [(panel.layer, panel.head) for panel in atlas.panels] == [(0, 0), (0, 1), (1, 0), (1, 1)]
    halves, quarters = np.log(2), -(0.75 * np.log(0.75) + 0.25 * np.log(0.25))
    assert atlas.panels[0].entropy == pytest.approx((halves + quarters) / 4 / np.log(5))
    assert atlas.panels[0].eos == pytest.approx(0.125)
    root = ElementTree.fromstring(to_svg(draw_atlas(atlas)))
    for panel in atlas.panels:
        [group] = [part for part in root.iter() if part.get("class") == f"layer-{panel.layer}-head-{panel.head}"]
        values = [float(cell.get("data-value")) for cell in group]
        assert values == both.select("cross", panel.layer, panel.head).ravel().tolist()
    assert atlas.notes[-2:] == (f"Down: {' · '.join(TARGET)}", f"Across: {' · '.join(SOURCE)}")
    assert size_of(draw_atlas(atlas), ".svg") == pytest.approx(len(to_svg(draw_atlas(atlas)).encode()), rel=0.5)
    desk = Desk([GOLD])
    desk.add(0, both)
    scores = {(one.layer, one.head): one for one in desk.scores() if one.reading == "output" and one.head is not None}
    scored = atlas_of(both, "cross", scores)
    assert scored.panels[0].lines()[0] == "layer 0 · head 0 · AER 0% (output)"
    assert [panel.fact for panel in scored.panels] == [0, 1, 1, 1]
    pooled = AttentionRecord(SOURCE, ["positive"], [AttentionMap("pooling", 0, np.full((1, 1, 5), 0.2))])
    with pytest.raises(UsageError, match="pooling has one row"):
        atlas_of(pooled)


def test_rows_named_after_the_word_put_in_tell_nothing_of_what_was_left_unread():
    record = AttentionRecord.from_matrix(RIGHT, SOURCE, TARGET)
    assert coverage_of(record) is not None
    assert coverage_of(record.read_as("input")) is None
