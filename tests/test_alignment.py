"""Links and their error rate: hand-made values, what holds for any links, and messages as users read them."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import CorpusError, ShapeError, UsageError
from nungil.scoring.alignment import aer, diagonal_links, format_links, parse_links, score_links
from nungil.scoring.words import links_from_weights, merge_to_words

places = st.integers(0, 4)
pieces = st.builds(lambda source, mark, target: f"{source}{mark}{target}", places, st.sampled_from("-p"), places)
lines = st.lists(pieces, max_size=8).map(" ".join)
sides = st.lists(st.tuples(lines, lines), max_size=5).map(
    lambda pairs: [list(side) for side in zip(*pairs, strict=True)] or [[], []]
)


def test_a_line_has_sure_links_and_possible_ones():
    sure, possible = parse_links(" 0-0 10p2\t3-1\n")
    assert sure == {(0, 0), (3, 1)}
    assert possible == {(0, 0), (3, 1), (10, 2)}


@pytest.mark.parametrize("line", ["4-5 4p5", "4p5 4-5", "4-5 4-5"])
def test_a_link_written_twice_is_one_and_sure_if_either_is(line):
    assert parse_links(line) == ({(4, 5)}, {(4, 5)})


def test_an_empty_line_has_no_links():
    assert parse_links("") == parse_links(" \n") == (frozenset(), frozenset())


@given(st.sets(st.tuples(st.integers(0, 120), st.integers(0, 120))))
def test_links_written_and_read_are_the_same(links):
    assert parse_links(format_links(links)) == (links, links)


def test_links_are_written_in_the_order_of_their_numbers():
    assert format_links([(10, 0), (2, 1), (2, 0)]) == "2-0 2-1 10-0"


def test_scores_worked_out_by_hand():
    # A = {00, 11, 21}, S = {00, 22}, P = {00, 11, 22}: of A one is sure, two are possible.
    scores = score_links(["0-0 1-1 2-1"], ["0-0 1p1 2-2"])
    assert scores.aer == pytest.approx(1 - (1 + 2) / (3 + 2))
    assert (scores.precision, scores.recall) == (2 / 3, 1 / 2)
    assert (scores.links, scores.sure, scores.possible) == (3, 2, 3)


def test_counts_are_summed_over_sentences_before_dividing():
    error = aer(["0-0 1-1 2-1", "0-0"], ["0-0 1p1 2-2", "0-0"])
    assert error == pytest.approx(2 / 7)  # the mean of the two would be 0.2


def test_the_source_comes_first():
    assert aer(["0-1"], ["1-0"]) == 1.0


def test_a_mark_on_an_answer_changes_nothing():
    assert score_links(["0p0 1p2"], ["0-0 1-1"]) == score_links(["0-0 1-2"], ["0-0 1-1"])


@pytest.mark.parametrize(
    ("links", "gold", "error", "precision", "recall"),
    [
        ([], [], 0.0, 1.0, 1.0),
        (["", ""], ["", ""], 0.0, 1.0, 1.0),
        ([""], ["0p0"], 0.0, 1.0, 1.0),
        ([""], ["0-0"], 1.0, 1.0, 0.0),
        (["0-0"], [""], 1.0, 0.0, 1.0),
        (["0-0"], ["0p0"], 0.0, 1.0, 1.0),
    ],
)
def test_where_one_side_has_nothing(links, gold, error, precision, recall):
    assert score_links(links, gold)[:3] == (error, precision, recall)


@given(sides)
def test_scores_lie_between_nothing_and_one(both):
    assert all(0 <= score <= 1 for score in score_links(*both)[:3])


@given(st.lists(lines, max_size=5))
def test_all_of_the_gold_and_only_the_sure_are_both_perfect(gold):
    sure = [format_links(parse_links(line).sure) for line in gold]
    assert aer(gold, gold) == aer(sure, gold) == 0.0


@given(sides)
def test_the_order_of_links_and_of_sentences_is_irrelevant(both):
    turned = [[" ".join(reversed(line.split())) for line in reversed(side)] for side in both]
    assert score_links(*turned) == score_links(*both)


@given(sides, places, places)
def test_one_more_wrong_link_is_never_better(both, source, target):
    links, gold = both
    assert aer([*links, ""], [*gold, "9-9"]) <= aer([*links, f"{source}-{target}"], [*gold, "9-9"])


@pytest.mark.parametrize(
    "piece", ["4=5", "4-", "-5", "4-5-6", "4:5", "a-b", "4P5", "-1-2", "4–5", "٤-٥", "1" * 5000 + "-2"]
)
def test_a_piece_that_is_no_link_is_named_with_its_line_and_the_cure(piece):
    with pytest.raises(CorpusError) as raised:
        aer(["0-0", f"1-1 {piece} 2-2"], ["0-0", "1-1"])
    assert str(raised.value) == (
        f"links, line 2: '{piece}' is no link; "
        "write source-target, words counted from 0: 0-1, or 0p1 if it is only possible"
    )


def test_what_is_wrong_on_either_side_is_named_at_once():
    with pytest.raises(CorpusError) as raised:
        aer(["0-0", "1"], ["0/0", "1-1"])
    assert [line.split(" is ")[0] for line in str(raised.value).splitlines()] == [
        "links, line 2: '1'",
        "gold, line 1: '0/0'",
    ]


def test_a_wholly_wrong_file_does_not_fill_the_screen():
    with pytest.raises(CorpusError) as raised:
        aer(["some text"] * 1207, ["0-0"] * 1207)
    shown = str(raised.value).splitlines()
    assert len(shown) == 6
    assert shown[4].startswith("links, line 5: 'some' is no link")
    assert shown[5] == "and 1,202 more like these"


def test_sides_of_unequal_number_are_refused():
    with pytest.raises(UsageError) as raised:
        aer(["0-0", "1-1"], ["0-0"])
    assert (
        str(raised.value) == "2 lines of links for 1 lines of gold links; there must be one for each, in the same order"
    )


def test_a_string_is_no_list_of_lines():
    with pytest.raises(UsageError) as raised:
        aer(["0-0"], "0-0\n1-1")
    assert str(raised.value) == (
        "lines of gold links: one string where a list of strings is needed; for many lines, text.splitlines()"
    )


@pytest.mark.parametrize(
    ("source", "target", "expected"),
    [
        (3, 3, [(0, 0), (1, 1), (2, 2)]),
        (2, 4, [(0, 0), (0, 1), (1, 2), (1, 3)]),
        (6, 2, [(1, 0), (4, 1)]),
        (1, 3, [(0, 0), (0, 1), (0, 2)]),
        (5, 3, [(0, 0), (2, 1), (4, 2)]),
        (0, 3, []),
        (3, 0, []),
    ],
)
def test_the_diagonal_by_example(source, target, expected):
    assert diagonal_links(source, target) == expected


@given(st.integers(1, 60), st.integers(1, 60))
def test_the_diagonal_links_every_target_word_and_never_turns_back(source, target):
    links = diagonal_links(source, target)
    assert [link[1] for link in links] == list(range(target))
    assert links == sorted(links)
    assert all(0 <= link[0] < source for link in links)


def test_each_row_is_linked_to_its_largest_weight_and_the_first_of_equals():
    weights = np.array([[0.1, 0.2, 0.7], [0.4, 0.4, 0.2]], dtype=np.float32)
    assert links_from_weights(weights) == [(2, 0), (0, 1)]


def test_what_is_not_kept_takes_no_part_and_the_rest_keep_their_numbers():
    weights = np.array([[0.6, 0.3, 0.1], [0.6, 0.1, 0.3], [0.2, 0.7, 0.1], [0.9, 0.05, 0.05]])
    assert links_from_weights(weights, keep_source=[False, True, True]) == [(1, 0), (2, 1), (1, 2), (1, 3)]
    assert links_from_weights(weights, keep_target=np.array([False, True, True, False])) == [(0, 1), (1, 2)]
    assert links_from_weights(weights, [False, False, False]) == []
    assert links_from_weights(weights, None, [False] * 4) == []


def test_a_row_without_weight_has_no_link():
    assert links_from_weights(np.array([[0.0, 0.0], [0.0, 0.3]])) == [(1, 1)]


def test_no_rows_have_no_links():
    assert links_from_weights(np.zeros((0, 3))) == links_from_weights(np.zeros((3, 0))) == []


def test_pieces_are_summed_over_the_source_and_averaged_over_the_target():
    weights = np.array([[0.1, 0.2, 0.3, 0.4], [0.5, 0.0, 0.3, 0.2], [0.0, 0.6, 0.1, 0.3]])
    merged = merge_to_words(weights, source_groups=[[0, 1], [2]], target_groups=[[0], [1, 2]])  # column 3 is a mark
    np.testing.assert_allclose(merged, [[0.3, 0.3], [(0.5 + 0.6) / 2, (0.3 + 0.1) / 2]])


def test_words_can_win_where_no_piece_of_theirs_does():
    weights = np.array([[0.3, 0.3, 0.4]])
    assert links_from_weights(weights) == [(2, 0)]
    assert links_from_weights(merge_to_words(weights, [[0, 1], [2]], [[0]])) == [(0, 0)]


def test_a_word_without_pieces_has_neither_weight_nor_link():
    merged = merge_to_words(np.array([[0.3, 0.7]]), [[0], [], [1]], [[], [0]])
    np.testing.assert_allclose(merged, [[0, 0, 0], [0.3, 0, 0.7]])
    assert links_from_weights(merged) == [(2, 1)]


@given(st.integers(1, 6), st.integers(1, 6), st.data())
def test_where_every_piece_is_in_a_word_each_row_still_sums_to_one(T, S, data):
    weights = np.random.default_rng(data.draw(st.integers(0, 99))).dirichlet(np.ones(S), size=T)
    cut_source, cut_target = data.draw(st.integers(0, S)), data.draw(st.integers(0, T - 1))
    merged = merge_to_words(
        weights,
        [range(cut_source), range(cut_source, S)],
        [*([place] for place in range(cut_target)), range(cut_target, T)],
    )
    assert merged.shape == (cut_target + 1, 2)
    np.testing.assert_allclose(merged.sum(axis=1), 1)


def test_pieces_as_words_change_nothing():
    weights = np.array([[0.2, 0.5, 0.3], [0.1, 0.1, 0.8]])
    np.testing.assert_array_equal(merge_to_words(weights, [[0], [1], [2]], [[0], [1]]), weights)


@pytest.mark.parametrize(
    ("call", "error", "message"),
    [
        (
            lambda weights: merge_to_words(weights, [[0, 3]], [[0]]),
            ShapeError,
            "source word 0: has piece 3, but there are 3, counted from 0",
        ),
        (
            lambda weights: merge_to_words(weights, [[0]], [[0], [-1]]),
            ShapeError,
            "target word 1: has piece -1, but there are 2, counted from 0",
        ),
        (
            lambda weights: merge_to_words(weights, [[0, 1], [1]], [[0]]),
            UsageError,
            "source word 1: piece 1 is already in a word; its weight would count twice",
        ),
        (
            lambda weights: links_from_weights(weights, keep_source=[True, True]),
            ShapeError,
            "keep_source: 2 for 3 in the weights; each needs one",
        ),
        (
            lambda weights: links_from_weights(weights, keep_target=[True]),
            ShapeError,
            "keep_target: 1 for 2 in the weights; each needs one",
        ),
        (
            lambda weights: links_from_weights(weights[None]),
            ShapeError,
            "weights: of shape (1, 2, 3); a matrix is needed, a row for each target word",
        ),
        (
            lambda weights: links_from_weights(np.where(weights > 0.6, np.nan, weights)),
            UsageError,
            "weights: row 1, column 2 is nan; a weight is 0 or more",
        ),
        (
            lambda weights: merge_to_words(-weights, [[0]], [[0]]),
            UsageError,
            "weights: row 0, column 0 is -0.2; a weight is 0 or more",
        ),
    ],
)
def test_weights_and_groups_that_do_not_fit_are_refused_in_a_sentence(call, error, message):
    with pytest.raises(error) as raised:
        call(np.array([[0.2, 0.5, 0.3], [0.1, 0.2, 0.7]]))
    assert str(raised.value) == message
