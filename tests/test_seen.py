"""The set of hashes equals a Python set, in little memory."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from nungil.text.seen import Seen, hash_texts

hashes = st.integers(0, 2**64 - 1) | st.integers(0, 20).map(lambda number: number << 12)  # the latter share a slot


@given(st.lists(st.lists(hashes, max_size=60), max_size=8))
def test_it_equals_a_set(batches):
    seen, plain = Seen(slots=4), set()
    for batch in batches:
        batch = [number or 1 for number in batch]
        expected = []
        for number in batch:
            expected.append(number not in plain)
            plain.add(number)
        assert seen.add(np.array(batch, np.uint64)).tolist() == expected
        assert len(seen) == len(plain)
    wanted = [*plain, 12345, 6789 << 12]
    assert seen.contains(np.array(wanted, np.uint64)).tolist() == [number in plain for number in wanted]


def test_the_hash_of_zero_is_kept_too():
    seen = Seen()
    assert seen.add(np.zeros(2, np.uint64)).tolist() == [True, False]
    assert seen.contains(np.zeros(1, np.uint64)).tolist() == [True]


def test_hashes_are_the_same_on_every_machine():
    assert hash_texts(["눈길", "\ud800", ""]).tolist() == [0xFCD87602480E913D, 0x680D7D923E780842, 0xB4B2797457A0A6E4]


def test_texts_can_be_asked_for():
    seen = Seen()
    seen.add(hash_texts(["snow", "eye"]))
    assert "snow" in seen
    assert "eyes" not in seen


def test_five_million_fit_in_128_megabytes():
    seen, random = Seen(), np.random.default_rng(7)
    for _ in range(20):
        seen.add(random.integers(1, 2**63, 250_000).astype(np.uint64))
    assert len(seen) > 4_999_000
    assert seen.nbytes <= 128_000_000
