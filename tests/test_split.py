"""A split is complete, as large as asked, repeatable, and never parts near-duplicates."""

import re
import time
from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from nungil.errors import CorpusError
from nungil.text.split import DIGIT, TEST, TRAIN, VALID, near_groups, near_key, near_keys, split

words = st.sampled_from(["Snow", "snow!", "snow 1", "snow 2", "눈", "눈길", "a b", "b a", "road", "eye", "?", "!"])
pairs = st.lists(st.tuples(words, words), min_size=1, max_size=30)


def keys_of(pairs):
    return [near_keys(source for source, _ in pairs), near_keys(target for _, target in pairs)]


@pytest.mark.parametrize(
    ("text", "other"),
    [
        ("Snow falls.", "snow  falls"),
        ("Chapter 12", "chapter 97!"),
        ("the road to Seoul", "To Seoul: the road"),
        ("ｆｕｌｌ width", "Full Width"),
        ("don't", "dont"),
    ],
)
def test_near_duplicates_have_one_key(text, other):
    assert near_key(text) == near_key(other)


@given(st.text(st.characters(max_codepoint=127)))
def test_the_fast_way_of_ascii_text_gives_the_same_key(text):
    slow = sorted(re.sub(r"[^\w\s]|_", "", DIGIT.sub("0", text.casefold())).split())
    assert near_key(text) == ("".join(slow) or text.strip())


def test_other_texts_have_other_keys():
    keys = {near_key(text) for text in ("snow falls", "snow fell", "눈이 온다", "눈이 왔다", "?", "!", "...")}
    assert len(keys) == 7


@given(pairs)
def test_groups_are_the_connected_components(pairs):
    groups = near_groups(keys_of(pairs)).tolist()
    expected = list(range(len(pairs)))  # by hand: merge until nothing changes
    plain = [(near_key(source), near_key(target)) for source, target in pairs]
    for _ in pairs:
        for one, other in combinations(range(len(pairs)), 2):
            if plain[one][0] == plain[other][0] or plain[one][1] == plain[other][1]:
                expected[one] = expected[other] = min(expected[one], expected[other])
    together = [(one, other) for one, other in combinations(range(len(pairs)), 2) if groups[one] == groups[other]]
    assert together == [
        (one, other) for one, other in combinations(range(len(pairs)), 2) if expected[one] == expected[other]
    ]


def test_a_long_chain_is_one_group():
    number = np.random.default_rng(5).permutation(100_000).astype(np.uint64)
    start = time.perf_counter()
    assert set(near_groups([number // 2, (number + 1) // 2]).tolist()) == {0}
    assert time.perf_counter() - start < 5, "a round per link takes four times as long; this, a hundredth"


@given(pairs, st.integers(0, 99), st.integers(0, 5), st.integers(0, 5))
def test_near_duplicates_stay_together_and_sizes_are_as_asked(pairs, seed, valid, test):
    assume(valid + test < len(pairs))
    keys = keys_of(pairs)
    groups = near_groups(keys)
    try:
        parts = split(keys, seed, valid, test)
    except CorpusError as error:
        assert "too alike" in str(error)
        fitting = [size for size in sorted(np.bincount(groups))[:-1] if size <= min(valid or test, test or valid)]
        assert sum(fitting) <= test + max(fitting, default=0), "nothing is left that would fit"
        return
    for group in set(groups.tolist()):
        assert len(set(parts[groups == group].tolist())) == 1
    sizes = np.bincount(groups)
    assert np.count_nonzero(parts == TRAIN) >= sizes.max()
    for part, wanted in ((VALID, valid), (TEST, test)):
        chosen = groups[parts == part]
        largest = sizes[chosen].max(initial=0)
        assert len(chosen) < wanted + max(largest, 1)
        assert largest <= max(wanted, 1)


def test_it_is_the_same_on_every_machine():
    parts = split([near_keys(f"sentence {letter}" for letter in "abcdefghijklmnop")], 7, 3, 2)
    assert parts.tolist() == [0, 0, 1, 0, 1, 0, 0, 0, 0, 0, 0, 0, 1, 0, 2, 2]


def test_another_seed_draws_another_split():
    keys = [np.arange(1, 1_001, dtype=np.uint64)]
    first, second = split(keys, 1, 100, 50), split(keys, 2, 100, 50)
    assert np.bincount(first).tolist() == np.bincount(second).tolist() == [850, 100, 50]
    assert np.count_nonzero((first == VALID) & (second == VALID)) < 30


def test_the_order_of_the_file_does_not_matter():
    keys = np.random.default_rng(3).integers(1, 2**63, 1_000).astype(np.uint64)
    order = np.random.default_rng(4).permutation(1_000)
    parts, shuffled = split([keys], 5, 100, 30), split([keys[order]], 5, 100, 30)
    assert np.count_nonzero(parts[order] != shuffled) <= 2  # the largest group is one of equals here


def test_a_giant_group_never_lands_in_valid():
    keys = np.concatenate([np.full(900, 7), np.arange(100, 200)]).astype(np.uint64)
    for seed in range(20):
        parts = split([keys], seed, 50)
        assert not parts[:900].any()
        assert np.count_nonzero(parts == VALID) == 50


def test_too_few_records_are_refused():
    with pytest.raises(CorpusError) as caught:
        split([np.arange(5, dtype=np.uint64)], 0, 3, 2)
    assert str(caught.value) == "too few records to set 5 aside for validation and test: 5"


def test_vowel_signs_belong_to_their_words():
    assert near_key("लड़का") != near_key("लड़की")
    assert near_key("लड़की!") == near_key("लड़की")


def test_records_too_alike_to_be_split_are_refused():
    keys = [near_keys([f"x {number % 10}" for number in range(100)])]
    with pytest.raises(CorpusError, match="the 100 records are too alike to set 10 of them aside"):
        split(keys, seed=1, valid=10)
