"""Cleaning: what is mended, what is dropped and why, and that every record is accounted for."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from nungil.errors import UsageError
from nungil.records import Labelled, Pair
from nungil.text.cleaning import (
    CleaningSettings,
    Tally,
    batches,
    clean_labelled,
    clean_pairs,
    hold_out,
    pair_fault,
    text_fault,
)
from nungil.text.rejected import RejectedFile
from nungil.text.tidy import UNSEEN, repairs, tidy

LIMITS = CleaningSettings()
# Every sort of character that tidying touches, next to ones that it must not.
odd = st.text(
    st.characters()
    | st.sampled_from(
        "\t\n\r\x0b\x85\xa0\u2028\u3000\u3164\u200b\u200c\u200d\u202e\ufeff\xad\ud800\0  a눈\u0301\u1100\u1161"
    )
)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("plain", "plain"),
        ("", ""),
        ("a  b", "a b"),
        (" a", "a"),
        ("눈 ", "눈"),
        ("  a \t b\u3000c\xa0d\r\ne\x85f\u2028g\x1fh ", "a b c d e f g h"),
        ("a\u3164b", "a b"),
        ("e\u0301 \u1112\u1161\u11ab", "é 한"),
        ("a\x00b\x07c\x7fd\u200be\u202ef\ufeffg\xadh", "abcdefgh"),
        ("می\u200cخواهم", "می\u200cخواهم"),
        ("👩\u200d💻 codes", "👩\u200d💻 codes"),
        ("\u200d a\u200c b \u200d", "a b"),
        ("co\ud800de", "code"),
        ("a\u0000 \u200b b", "a b"),
    ],
)
def test_tidy_by_example(text, expected):
    assert tidy(text) == expected


@given(odd)
def test_tidy_text_is_normal_has_single_spaces_and_nothing_unseen_and_stays(text):
    clean = tidy(text)
    assert unicodedata.is_normalized("NFC", clean)
    assert clean == " ".join(clean.split())
    assert not any(unicodedata.category(character) in ("Cc", "Cs", "Zl", "Zp") for character in clean)
    assert not UNSEEN.search(clean)
    assert tidy(clean) == clean


@given(odd)
def test_repairs_are_named_exactly_when_tidying_changes_something(text):
    assert bool(repairs(text)) == (tidy(text) != text)


@pytest.mark.parametrize(
    ("source", "target", "fault"),
    [
        ("snow", "눈", None),
        ("", "눈", "empty source"),
        ("snow", "", "empty target"),
        ("x" * 4_000, "y" * 4_000, None),
        ("x" * 4_001, "y" * 4_000, "too long"),
        ("x" * 35, "", "empty target"),
        ("x" * 44, "yy", None),  # 54 and 12
        ("x" * 45, "yy", "length ratio"),
        ("yy", "x" * 45, "length ratio"),
        ("x" * 170, "눈" * 10, None),  # 180 and 40: a syllable is three bytes
        ("x" * 171, "눈" * 10, "length ratio"),
        ("snow", "snow", None),
    ],
)
def test_pair_faults(source, target, fault):
    assert pair_fault(source, target, LIMITS) == fault


def test_copies_are_dropped_on_request():
    assert pair_fault("snow", "snow", CleaningSettings(drop_copies=True)) == "copy"


@pytest.mark.parametrize(
    ("text", "label", "fault"),
    [
        ("good", "1", None),
        ("", "1", "empty text"),
        ("good", "", "empty label"),
        ("x" * 20_000, "1", None),
        ("x" * 20_001, "1", "too long"),
    ],
)
def test_text_faults(text, label, fault):
    assert text_fault(text, label, LIMITS) == fault


def test_what_is_dropped_is_counted_and_handed_over():
    pairs = [
        Pair("snow", "눈", "f", 1),
        Pair("snow ", "눈", "f", 2),
        Pair("", "길", "f", 3),
        Pair("road", "길", "f", 4),
        Pair("eye", "눈", "f", 5),
    ]
    tally, rejected = Tally(), []
    test = hold_out("test", [Pair("eye", "눈"), Pair("snow", "하늘")])
    kept = list(clean_pairs(pairs, LIMITS, tally, lambda *both: rejected.append(both), [test]))
    assert kept == [pairs[0], pairs[3]]
    assert rejected == [
        ("duplicate", Pair("snow", "눈", "f", 2)),
        ("empty source", pairs[2]),
        ("in the test set", pairs[4]),
    ]
    assert (tally.read, tally.kept) == (5, 2)
    assert tally.dropped == {"duplicate": 1, "empty source": 1, "in the test set": 1}
    assert tally.changed == {"white space": 1}


def test_a_text_in_the_test_set_is_dropped_whatever_its_label():
    tally = Tally()
    test = hold_out("test", [Labelled("good\u00a0film", "1")])
    texts = [Labelled("good film", "0"), Labelled("bad film", "0"), Labelled("bad film", "1")]
    assert list(clean_labelled(texts, LIMITS, tally, held_out=[test])) == texts[1:]
    assert tally.dropped == {"in the test set": 1}


def test_what_its_own_file_does_not_vouch_for_is_dropped_by_its_reason():
    pairs = [Pair("a ", "b", "f", 1, "fuzzy"), Pair("a", "b", "f", 2), Pair("c", "", "f", 3)]
    tally, rejected = Tally(), []
    kept = list(clean_pairs(pairs, LIMITS, tally, lambda reason, pair: rejected.append((reason, pair.line))))
    assert kept == [pairs[1]]
    assert tally.dropped == {"fuzzy": 1, "empty target": 1}
    assert rejected == [("fuzzy", 1), ("empty target", 3)]
    allowed = clean_pairs(pairs, CleaningSettings(drop_withheld=False), Tally())
    assert [pair.line for pair in allowed] == [1]


def test_dropping_can_be_switched_off():
    settings = CleaningSettings(drop_duplicates=False, drop_held_out=False)
    pairs = [Pair("a", "b"), Pair("a", "b")]
    assert list(clean_pairs(pairs, settings, Tally(), held_out=[hold_out("test", pairs)])) == pairs


@given(st.lists(st.tuples(st.sampled_from(["", "a", "b ", " b", "c" * 99]), st.sampled_from(["", "x", "y"]))))
def test_every_record_is_kept_or_counted(rows):
    tally, rejected = Tally(), []
    kept = list(clean_pairs([Pair(*row) for row in rows], LIMITS, tally, lambda *both: rejected.append(both)))
    assert tally.read == len(rows) == len(kept) + len(rejected)
    assert tally.kept == len(kept) == len(set(kept))
    assert tally.dropped.total() == len(rejected)


@pytest.mark.parametrize(("limit", "size"), [("BATCH", 3), ("BATCH_CHARACTERS", 8)])
def test_duplicates_are_found_across_batches(monkeypatch, limit, size):
    monkeypatch.setattr(f"nungil.text.cleaning.{limit}", size)
    pairs = [Pair(f"s{number % 7}", "t") for number in range(20)]
    assert max(map(len, batches(pairs))) == 3
    assert [pair.source for pair in clean_pairs(pairs, LIMITS, Tally())] == [f"s{number}" for number in range(7)]


def test_the_rejected_file_is_there_whole_or_not_at_all(tmp_path):
    path = tmp_path / "dropped.tsv"
    path.write_text("older")
    with pytest.raises(ZeroDivisionError), RejectedFile(path) as file:
        file.add("duplicate", Pair("a", "b", "f.tsv", 3))
        assert path.read_text() == "older"
        raise ZeroDivisionError
    assert [one.name for one in tmp_path.iterdir()] == ["dropped.tsv"]
    assert path.read_text() == "older"
    with RejectedFile(path) as file:
        file.add("duplicate", Pair("a", "b", "f.tsv", 3))
    assert [one.name for one in tmp_path.iterdir()] == ["dropped.tsv"]
    assert path.read_text() == "reason\tfile\tline\ttext\ttranslation or label\nduplicate\tf.tsv\t3\ta\tb\n"


def test_a_rejected_file_that_cannot_be_written_says_so(tmp_path):
    with pytest.raises(UsageError) as caught, RejectedFile(tmp_path / "none" / "dropped.tsv"):
        pass
    assert str(caught.value) == f"{tmp_path}/none/dropped.tsv: cannot be written: No such file or directory"
