"""Words swapped, deleted and inserted: where they stand, what the source becomes, and the map of what changed."""

import pytest

from nungil.errors import UsageError
from nungil.inspection.difference import Difference, labels, paired, traced
from nungil.inspection.edits import Delete, Insert, Swap, edited
from nungil.inspection.lensmap import LensMap
from nungil.inspection.wordplaces import places_of, words_in
from nungil.pipeline.texts import shown
from nungil.text.tokenizers.vocabulary import CharacterTokenizer, WordTokenizer

WORDS = WordTokenizer(["I", "like", "snow", "rain", "￭.", "white"])
LETTERS = CharacterTokenizer(sorted(set("I like snow")))


def places(word, text="I like snow.", tokenizer=WORDS):
    ids = tokenizer.encode(text)
    return places_of(word, ids, tokenizer.tokens(ids), tokenizer.encode)


def test_a_word_is_named_by_its_text_or_by_its_column():
    assert places("snow") == [2]
    assert places("￭.") == places(".") == [3]
    assert places(1) == [0]
    assert places("snow", "I like snow", LETTERS) == [7, 8, 9, 10]


def test_a_word_of_pieces_has_several_places():
    tokens = ["▁I", "▁sn", "ow", "<eos>"]
    assert places_of("snow", [4, 5, 6, 3], tokens, lambda _: [99]) == [1, 2]
    assert places_of("▁sn", [4, 5, 6, 3], tokens, lambda _: [99]) == [1]


def test_a_word_that_is_not_there_or_there_twice_is_refused():
    with pytest.raises(UsageError, match=r"“snwo” is not in the source: did you mean “snow.”\?"):
        places("snwo")
    with pytest.raises(UsageError, match=r"“xyz” is not in the source: 1 I; 2 like; 3 snow; 4 ￭\."):
        places("xyz")
    with pytest.raises(UsageError, match=r"“snow” stands in the source more than once; name one by its column: 1, 3"):
        places("snow", "snow like snow")
    with pytest.raises(UsageError, match=r"there is no word 5: the source has 4 columns, counted from 1"):
        places(5)


def test_words_are_what_is_no_mark():
    assert words_in(["<sos>", "I", "<eos>"]) == [1]
    assert words_in(["<sos>", "<eos>"]) == [0, 1]


def cut(text):
    return shown(WORDS.encode(text), WORDS, text)


def after(*edits, text="I like snow."):
    def find(source):
        return lambda word: places_of(word, source.ids, source.tokens, WORDS.encode)

    return edited(cut(text), edits, find, cut)


@pytest.mark.parametrize(
    ("edits", "text", "origins"),
    [
        ([Swap("snow", "rain")], "I like rain.", [0, 1, 2, 3]),
        ([Swap(3, "white rain")], "I like white rain.", [0, 1, 2, None, 3]),
        ([Delete("like")], "I snow.", [0, 2, 3]),
        ([Insert("like", "white")], "I like white snow.", [0, 1, None, 2, 3]),
        ([Insert("like", "white"), Swap("snow", "rain"), Delete("I")], "like white rain.", [1, None, 2, 3]),
    ],
)
def test_what_the_source_becomes_and_where_its_words_were(edits, text, origins):
    found = after(*edits)
    assert WORDS.decode(found.source.ids) == text
    assert found.origins == origins


def test_edits_that_leave_nothing_are_refused():
    with pytest.raises(UsageError, match=r"“snow” deleted: nothing is left to read"):
        after(Delete("snow"), text="snow")
    with pytest.raises(UsageError, match=r"the new word is empty"):
        after(Swap("snow", " "))


def test_an_edit_says_what_it_does():
    assert str(Swap("snow", "rain")) == "“snow” swapped for “rain”"
    assert str(Insert(2, "white")) == "“white” inserted after word 2"
    assert str(Delete("snow")) == "“snow” deleted"


def test_words_that_stay_are_paired():
    before, after = ["I", "like", "snow", "a", "lot"], ["I", "like", "white", "rain", "a", "lot", "!"]
    pairs = paired(before, after)
    assert pairs == [(0, 0), (1, 1), (2, 2), (None, 3), (3, 4), (4, 5), (None, 6)]
    assert labels(pairs, before, after) == ("I", "like", "snow→white", "+rain", "a", "lot", "+!")
    assert labels(paired(after, before), after, before)[2:4] == ("white→snow", "−rain")


def test_words_whose_origin_is_known_are_paired_by_it():
    assert traced([0, None, 2, 3], 5) == [(0, 0), (None, 1), (1, None), (2, 2), (3, 3), (4, None)]
    before = LensMap("raw", ("x",), ("a", "b"), [[0.1, 0.9]], "weights")
    after = LensMap("raw", ("x",), ("c", "b"), [[0.3, 0.7]], "weights")
    assert Difference(before, after, (), (None, 1)).picture().columns == ("+c", "−a", "b")
    assert Difference(before, after, (), (0, 1)).picture().columns == ("a→c", "b")


def test_a_difference_cell_by_cell():
    before = LensMap("raw", ("x", "y"), ("a", "b", "c"), [[0.1, 0.2, 0.7], [0.5, 0.4, 0.1]], "weights", output="x y")
    after = LensMap("raw", ("x", "z", "w"), ("a", "c"), [[0.3, 0.7], [0.9, 0.1], [0.6, 0.4]], "weights", output="x z w")
    found = Difference(before, after, ("“b” deleted",))
    picture = found.picture()
    assert picture.rows == ("x", "y→z", "+w")
    assert picture.columns == ("a", "−b", "c")
    assert picture.cells.tolist() == [
        [pytest.approx(0.2), -0.2, 0.0],
        [pytest.approx(0.4), -0.4, 0.0],
        [0.6, 0.0, 0.4],
    ]
    assert picture.signed
    assert found.differs
    assert found.lines() == ("Output before: x y", "Output after:  x z w")
    assert found.to_json()["difference"] == picture.cells.tolist()


def test_what_is_next_to_nothing_is_drawn_as_nothing():
    before = LensMap("raw", ("x",), ("a", "b"), [[0.2, 0.8]], "weights")
    found = Difference(before, LensMap("raw", ("x",), ("a", "b"), [[0.203, 0.794]], "weights"))
    assert found.picture().cells.tolist() == [[0.0, pytest.approx(-0.006)]]
    assert found.picture().notes[-1] == "Differences of less than 0.004 are left out."
    assert found.to_json()["difference"] == [[pytest.approx(0.003), pytest.approx(-0.006)]]


def test_no_difference_is_zero_everywhere():
    same = LensMap("raw", ("x",), ("a", "b"), [[0.25, 0.75]], "weights", output="x")
    found = Difference(same, same)
    assert not found.picture().cells.any()
    assert not found.differs
