"""The record: exact numbers, refusals, round trips and merging."""

import csv
import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays

from nungil.errors import ConfigError, CorpusError, ResourceError, ShapeError, UsageError
from nungil.inspection.beam import BeamNode, BeamTree
from nungil.inspection.merging import words_of
from nungil.inspection.record import READING, AttentionMap, AttentionRecord
from nungil.inspection.steps import Candidate, Step

T, S = 3, 5
SOURCE = ["<sos>", "I", "like", "snow", "<eos>"]
TARGET = ["나는", "눈을", "<eos>"]
MATRIX = [[0.0, 0.75, 0.25, 0.0, 0.0], [0.0, 0.0, 0.125, 0.875, 0.0], [0.25, 0.0, 0.0, 0.0, 0.75]]


def record():
    return AttentionRecord.from_matrix(MATRIX, SOURCE, TARGET)


def softmax(scores):
    exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
    return exponentials / exponentials.sum(axis=-1, keepdims=True)


def many_maps(heads=2):
    """Two layers of each kind over 5 source and 3 target tokens, no two numbers alike."""
    random = np.random.default_rng(7)
    sizes = {"cross": (T, S), "self": (S, S), "masked": (T, T)}
    maps = [
        AttentionMap(kind, layer, softmax(random.normal(size=(heads, *size))))
        for kind, size in sizes.items()
        for layer in (0, 1)
    ]
    return AttentionRecord(SOURCE, TARGET, maps, ("<sos>", *TARGET[:-1]), source="I like snow", score=-0.1)


def test_other_peoples_weights_become_a_record():
    assert record().weights.tolist() == MATRIX
    assert (record().layers, record().heads, record().kinds) == ((0,), 1, ("cross",))
    assert (record().source_tokens, record().target_tokens) == (tuple(SOURCE), tuple(TARGET))
    assert record().reading == READING == "row t is the word being output"


def test_the_main_map_is_the_mean_over_the_heads_of_the_last_cross_layer():
    two = AttentionRecord.from_matrix([MATRIX, np.roll(MATRIX, 1, axis=1)], SOURCE, TARGET)
    assert two.heads == 2
    assert two.weights[0].tolist() == [0.0, 0.375, 0.5, 0.125, 0.0]
    assert two.select(head=1)[0].tolist() == [0.0, 0.0, 0.75, 0.25, 0.0]
    many = many_maps()
    assert np.array_equal(many.weights, many.maps[1].weights.mean(axis=0))
    assert (many.layers, many.kinds) == ((0, 1), ("cross", "self", "masked"))
    assert np.array_equal(many.select("self", 0, 1), many.maps[2].weights[1])


def test_a_classifier_has_one_row():
    pooled = AttentionRecord(SOURCE, ["positive"], [AttentionMap("pooling", 0, np.full((1, 1, S), 0.2))])
    assert pooled.weights.shape == (1, S)
    assert pooled.reading_of(pooled.map_of()) == "the one row is the whole text"


def test_nothing_in_a_record_can_be_changed():
    given_numbers = np.array(MATRIX)
    one = AttentionRecord.from_matrix(given_numbers, SOURCE, TARGET)
    given_numbers[:] = 0
    assert one.weights.tolist() == MATRIX
    with pytest.raises(ValueError, match="read-only"):
        one.maps[0].weights[0, 0, 0] = 1
    with pytest.raises(FrozenInstanceError):
        one.source = "other"


@pytest.mark.parametrize(
    ("weights", "source", "target", "kind", "said"),
    [
        (np.zeros((S, T)), SOURCE, TARGET, ShapeError, r"\(1, 5, 3\) do not fit 3 target tokens.*turned.*weights\.T"),
        (np.zeros((T, S)), SOURCE[1:], TARGET, ShapeError, r"3 target tokens \(rows\) and 4 source tokens"),
        (np.zeros(S), SOURCE, TARGET, ShapeError, r"not \(5,\)"),
        (np.zeros((2, 2, T, S)), SOURCE, TARGET, ShapeError, r"not \(2, 2, 3, 5\)"),
        ([[0.5], [0.5, 0.5]], SOURCE, TARGET, ShapeError, "rows of different lengths"),
        ([["0.5"]], ["a"], ["b"], UsageError, "numbers are expected"),
        ([[None]], ["a"], ["b"], UsageError, "numbers are expected"),
        ([[0.5, np.nan]], ["a", "b"], ["c"], UsageError, r"head 0, row 0, column 1 \(from 0\) is nan, not finite"),
        ([[0.5, -0.25]], ["a", "b"], ["c"], UsageError, r"column 1 \(from 0\) is -0.25, below 0.*after softmax"),
        ([[1.0]], "I like", ["b"], UsageError, r"source_tokens: .*not one text; perhaps \['I', 'like'\]"),
        ([[1.0]], ["a"], None, UsageError, "target_tokens: a list of tokens is expected, not None"),
        ([[1.0]], ["a"], [7], UsageError, r"target_tokens: token 0 \(from 0\) is 7"),
        ([[1.0]], ["\ud800"], ["b"], UsageError, "half a character"),
        (np.zeros((0, S)), SOURCE, [], ShapeError, r"not \(1, 0, 5\)"),
    ],
)
def test_what_cannot_be_weights_is_refused_with_a_sentence(weights, source, target, kind, said):
    with pytest.raises(kind, match=said):
        AttentionRecord.from_matrix(weights, source, target)


def test_rows_that_do_not_sum_to_one_are_taken_and_it_is_said():
    odd = AttentionRecord.from_matrix([[0.5, 0.25], [0.5, 0.75]], ["a", "b"], ["c", "d"])
    assert odd.picture().notes[0] == f"Reading: {READING}; rows do not sum to 1, but to 0.75 … 1.25."
    near = AttentionRecord.from_matrix([[0.5, 0.5009]], ["a", "b"], ["c"])
    assert near.picture().notes[0] == f"Reading: {READING}; each row sums to 1."


def test_a_record_is_shown_in_a_line():
    shown = repr(AttentionRecord.from_matrix([[0.25, 0.75, 0.0]], ["I", "like", "snow"], ["눈을"]))
    assert shown == "<AttentionRecord 'I like snow' → '눈을': cross layer 0 (1, 1, 3) (heads, rows, columns)>"


def test_a_reading_that_there_is_not():
    with pytest.raises(UsageError, match=r"there is no reading 'source'; there is output, input"):
        record().read_as("source")


def test_a_row_can_be_read_as_the_word_that_was_just_put_in():
    other = record().read_as("input")
    assert other.target_tokens == ("<sos>", "나는", "눈을")
    assert other.weights.tolist() == MATRIX
    assert other.reading == "row t is the word just put in"
    assert other.read_as("input") is other
    assert other.without_marks().weights.tolist() == [[0.0, 0.125, 0.875], [0.0, 0.0, 0.0]]
    with pytest.raises(UsageError, match="read another way already: row t is the word just put in"):
        other.read_as("output")
    pooled = AttentionRecord(SOURCE, ["positive"], [AttentionMap("pooling", 0, np.full((1, 1, S), 0.2))])
    with pytest.raises(UsageError, match="one row of a classifier"):
        pooled.read_as("input")


def written():
    """A record with what was written and how it was searched for."""
    steps = [
        Step(token="▁눈", probability=0.5, candidates=(Candidate(token="▁눈", probability=0.5),)),
        Step(token="을", probability=0.25),
        Step(token="<eos>", probability=0.75, candidates=(Candidate(token="<eos>", probability=0.75),)),
    ]
    nodes = [
        BeamNode(parent=None, token="▁눈", log_probability=-0.5, fate="kept"),
        BeamNode(parent=None, token="▁비", log_probability=-3.0, fate="pruned"),
        BeamNode(parent=0, token="<eos>", log_probability=-0.25, fate="ended", score=-0.375),
    ]
    return replace(record(), steps=tuple(steps), beam=BeamTree(width=2, nodes=tuple(nodes)))


def test_what_was_written_and_searched_for_comes_back_from_json(tmp_path):
    written().save(tmp_path / "snow.json")
    back = AttentionRecord.load(tmp_path / "snow.json")
    assert back == written()
    assert back.beam.tokens(back.beam.best) == ["▁눈", "<eos>"]
    assert back.beam.log_probability(2) == -0.75


def test_probabilities_of_pieces_are_multiplied_to_those_of_words():
    words = written().without_marks().merged()
    assert words.steps == (Step(token="눈을", probability=0.125),)
    assert written().merged().steps[1].candidates[0].token == "<eos>"
    assert words.beam == written().beam


def test_what_is_not_there_cannot_be_selected():
    for wrong, said in [
        ({"kind": "pooling"}, "no 'pooling' attention; it has cross, self, masked"),
        ({"layer": 2}, "no cross attention of layer 2; its layers, from 0: 0, 1"),
        ({"head": 2}, "layer 1 has no head 2; its heads, from 0: 0 to 1"),
        ({"head": -1}, "no head -1"),
    ]:
        with pytest.raises(UsageError, match=said):
            many_maps().select(**wrong)
    with pytest.raises(UsageError, match="no attention of kind 'sideways'; there is cross"):
        AttentionMap("sideways", 0, np.ones((1, 1, 1)))
    one = many_maps()
    with pytest.raises(UsageError, match="got two: cross, layer 0"):
        replace(one, maps=(*one.maps, one.maps[0]))
    with pytest.raises(UsageError, match="at least one map"):
        replace(one, maps=())


def test_marks_are_left_out_and_nothing_is_made_to_sum_to_one_again():
    bare = record().without_marks()
    assert (bare.source_tokens, bare.target_tokens) == (("I", "like", "snow"), ("나는", "눈을"))
    assert bare.weights.tolist() == [[0.75, 0.25, 0.0], [0.0, 0.125, 0.875]]
    pale = AttentionRecord.from_matrix([[0.25, 0.75]], ["I", "<eos>"], ["나는"]).without_marks()
    assert pale.weights.tolist() == [[0.25]]
    fed = many_maps().without_marks()
    assert fed.input_tokens == ("나는", "눈을")
    assert np.array_equal(fed.select("masked", 0, 0), many_maps().select("masked", 0, 0)[:2, 1:])


def test_a_side_of_nothing_but_marks_keeps_them():
    assert AttentionRecord.from_matrix([[0.5, 0.5]], ["I", "<eos>"], ["<eos>"]).without_marks().target_tokens == (
        "<eos>",
    )


def test_pieces_merge_to_words():
    weights = [[0.5, 0.125, 0.125, 0.25], [0.25, 0.5, 0.25, 0.0], [0.0, 0.0, 0.25, 0.75]]
    pieces = AttentionRecord.from_matrix(weights, ["▁snow", "▁ro", "ad", "<eos>"], ["▁눈", "길", "<eos>"])
    words = pieces.merged()
    assert (words.source_tokens, words.target_tokens) == (("snow", "road", "<eos>"), ("눈길", "<eos>"))
    assert words.weights.tolist() == [[0.375, 0.5, 0.125], [0.0, 0.25, 0.75]]
    assert words.merge == "words: columns summed over their pieces, rows averaged over theirs"
    assert words.merged() == words


def test_pieces_of_other_peoples_tokenizers_become_words():
    weights = np.full((2, 5), 0.2)
    words = AttentionRecord.from_matrix(weights, ["[CLS]", "snow", "##ing", "no", "[SEP]"], ["Ġsnow", "y"]).merged()
    assert (words.source_tokens, words.target_tokens) == (("[CLS]", "snowing", "no", "[SEP]"), ("snowy",))
    assert words.without_marks().source_tokens == ("snowing", "no")


@pytest.mark.parametrize(
    ("tokens", "words"),
    [
        (["I", "like", "snow", "￭."], [[0], [1], [2, 3]]),
        (["<sos>", "▁", "<unk>", "x", "▁b", "<eos>"], [[0], [1, 2, 3], [4], [5]]),
        (["<sos>", "un", "marked", "<eos>"], [[0], [1], [2], [3]]),
        (["￭", "￭a", "<eos>", "￭b"], [[0, 1], [2], [3]]),
        (["▁I", "▁li", "ke", "</s>"], [[0], [1, 2], [3]]),  # Marian
        (["[CLS]", "snow", "##ing", "##", "[SEP]"], [[0], [1, 2], [3], [4]]),  # BERT
        (["<s>", "Snow", "ing", "Ġheav", "ily", "</s>"], [[0], [1, 2], [3, 4], [5]]),  # BART
        (["Jien", "twelidt", "fl", "Ġunju", "1990"], [[0], [1], [2], [3], [4]]),  # Maltese: in June
        ([], []),
    ],
)
def test_which_pieces_make_a_word(tokens, words):
    assert words_of(tokens) == words


pieces = st.lists(st.sampled_from(["▁a", "b", "￭c", "<sos>", "<eos>", "<unk>", "▁"]), min_size=1, max_size=9)


@given(pieces, pieces, st.integers(1, 3), st.integers(0, 2**32 - 1))
def test_merging_keeps_the_mass_of_rows_and_every_piece(source, target, heads, seed):
    random = np.random.default_rng(seed)
    one = AttentionRecord.from_matrix(softmax(random.normal(size=(heads, len(target), len(source)))), source, target)
    assert [place for word in words_of(source) for place in word] == list(range(len(source)))
    np.testing.assert_allclose(one.merged().weights.sum(axis=-1), 1, atol=1e-12)
    marks = [token in ("<sos>", "<eos>") for token in source]
    if not all(marks) and not any(token in ("<sos>", "<eos>") for token in target):
        np.testing.assert_allclose(
            one.without_marks().weights.sum(axis=-1), 1 - one.weights[:, marks].sum(axis=-1), atol=1e-12
        )


texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=6)


@given(
    arrays(np.float64, (2, 3, 4), elements=st.floats(0, 0.25)),
    st.lists(texts, min_size=4, max_size=4),
    st.lists(texts, min_size=3, max_size=3),
)
def test_json_gives_back_every_digit(weights, source, target):
    one = AttentionRecord.from_matrix(weights, source, target)
    assert AttentionRecord.from_json(json.loads(json.dumps(one.to_json()))) == one


def test_a_record_of_everything_comes_back_from_its_file(tmp_path):
    one = many_maps()
    one.save(tmp_path / "deep" / "snow.json")
    back = AttentionRecord.load(tmp_path / "deep" / "snow.json")
    assert back == one
    assert hash(back) == hash(one)
    assert back != replace(one, score=None)
    assert list(tmp_path.rglob("*.part")) == []


@pytest.mark.parametrize(
    ("change", "said"),
    [
        ({"wieghts": 1}, "wieghts: no such setting"),
        ({"maps": "all"}, "maps: a list is expected"),
        ({"maps": []}, "at least one map"),
        ({"maps": [{"kind": "cros", "layer": 0, "weights": []}]}, "did you mean cross"),
        ({"maps": [{"kind": "cross", "layer": True, "weights": []}]}, "a whole number"),
        ({"maps": [{"kind": "cross", "layer": -1, "weights": []}]}, "must be at least 0"),
        ({"maps": [{"kind": "cross", "layer": 0, "weights": [[["1"]]]}]}, "numbers are expected"),
        ({"maps": [{"kind": "cross", "layer": 0, "weights": [[[10**400]]]}]}, "numbers are expected"),
        ({"maps": [{"kind": "cross", "layer": 0, "weights": [[[0.1], []]]}]}, "rows of different lengths"),
        ({"maps": [{"kind": "cross", "layer": 0, "weights": [[[0.1]]]}]}, r"\(1, 1, 1\) do not fit 3 target tokens"),
        ({"source_tokens": "I like"}, "source_tokens: a list is expected"),
        ({"source_tokens": [1, 2]}, "text is expected"),
        ({"score": float("nan")}, "finite"),
        ({"reading": "\udfff"}, "reading: .*half a character"),
        ({"steps": [{"token": "a", "probability": 1.5}]}, r"\[steps\.1\] probability: must be at most 1"),
        ({"steps": [{"token": "a", "probability": float("nan")}]}, r"\[steps\.1\] probability: .*finite"),
        ({"steps": [{"token": "a", "probability": 1, "word": 1}]}, "word: no such setting"),
        ({"beam": {"width": 0, "nodes": []}}, r"\[beam\] width: must be at least 1"),
        (
            {"beam": {"width": 1, "nodes": [{"parent": None, "token": "a", "log_probability": -1, "fate": "lost"}]}},
            "fate",
        ),
        (
            {"beam": {"width": 1, "nodes": [{"parent": 0, "token": "a", "log_probability": -1, "fate": "kept"}]}},
            r"node 0 \(from 0\) has the parent 0, which does not stand before it",
        ),
    ],
)
def test_hostile_json_is_refused_with_a_sentence(change, said):
    with pytest.raises(UsageError, match=said):
        AttentionRecord.from_json({**record().to_json(), **change})


def test_numbers_of_numpy_can_be_written(tmp_path):
    one = replace(record(), score=np.float32(-0.5))
    one.save(tmp_path / "snow.json")
    assert AttentionRecord.load(tmp_path / "snow.json").score == -0.5
    with pytest.raises(UsageError, match="finite number or None, not inf"):
        replace(one, score=float("inf"))


def test_a_file_that_is_no_record_is_refused_by_name(tmp_path):
    for text, said in [
        ("[1]", "object of names"),
        ("{", "line 1"),
        ("[" * 100_000, "nested"),
        ('{"maps": NaN}', "NaN"),
    ]:
        (tmp_path / "bad.json").write_text(text)
        with pytest.raises(UsageError, match=rf"bad\.json:\s.*{said}|bad\.json:\n- .*{said}"):
            AttentionRecord.load(tmp_path / "bad.json")
    with pytest.raises(ConfigError, match="target_tokens: is missing"):
        AttentionRecord.from_json({"source_tokens": [], "maps": []})
    with pytest.raises(CorpusError, match="no such file"):
        AttentionRecord.load(tmp_path / "none.json")


def test_a_csv_has_a_line_for_each_weight(tmp_path):
    one = replace(many_maps(), source_tokens=("<sos>", 'say "hi", you', "two\nlines", "snow", "<eos>"))
    one.save(tmp_path / "snow.csv")
    with (tmp_path / "snow.csv").open(newline="", encoding="utf-8") as file:
        rows = list(csv.DictReader(file))
    assert len(rows) == 2 * 2 * (T * S + S * S + T * T)
    [found] = [
        r for r in rows if (r["kind"], r["layer"], r["head"], r["row"], r["column"]) == ("cross", "1", "1", "2", "1")
    ]
    assert (found["row_token"], found["column_token"]) == ("<eos>", 'say "hi", you')
    assert float(found["weight"]) == one.select("cross", 1, 1)[2, 1]


def test_an_unknown_ending_names_those_there_are(tmp_path):
    for name, said in [
        ("snow.gif", r"the ending \.gif; there is \.html, \.json, \.csv, \.svg, \.png"),
        ("snow", "no ending"),
    ]:
        with pytest.raises(UsageError, match=said):
            record().save(tmp_path / name)
    (tmp_path / "file").write_text("")
    with pytest.raises(ResourceError, match="cannot be written"):
        record().save(tmp_path / "file" / "snow.json")


def test_records_and_drawings_do_not_load_torch():
    code = "import sys, nungil.inspection.saving; assert 'torch' not in sys.modules"
    assert subprocess.run([sys.executable, "-c", code]).returncode == 0
