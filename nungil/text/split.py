"""Splits records at random, with near-duplicates on one side, so that validation does not measure memorising."""

import re
import string
import unicodedata
from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nungil.errors import CorpusError
from nungil.text.seen import Hashes, hash_texts

TRAIN, VALID, TEST = 0, 1, 2
LEAST = 20  # least records to split: one for each set
DIGIT = re.compile(r"\d")


class _Letters(dict[int, int | None]):
    """For `str.translate`: removes punctuation, symbols and controls; keeps letters and combining vowel signs."""

    def __missing__(self, code: int) -> int | None:
        goes = unicodedata.category(chr(code))[0] in "PSC" and not chr(code).isspace()
        self[code] = None if goes else code
        return self[code]


_LETTERS = _Letters()

# For ASCII: what is no word and no white space; then large letters to small, and digits to 0.
NO_WORD = bytes(code for code in range(128) if _LETTERS[code] is None)
ASCII = bytes.maketrans(
    string.ascii_uppercase.encode() + string.digits.encode(), string.ascii_lowercase.encode() + b"0" * 10
)
LARGE = 20  # a group larger than 1/20 of a held-out set is not put there: one sentence would decide the score


def near_key(text: str) -> str:
    """What near-duplicates have in common: their words in any order, without case, punctuation and which digits."""
    if text.isascii():  # the same, twice as fast
        words = sorted(text.encode("ascii").translate(ASCII, NO_WORD).decode("ascii").split())
    else:
        plain = DIGIT.sub("0", unicodedata.normalize("NFKC", text).casefold())
        words = sorted(plain.translate(_LETTERS).split())
    return "".join(words) or text.strip()  # "?!" and "…" are not near-duplicates just because they have no words


def near_keys(texts: Iterable[str]) -> Hashes:
    """The hashes of near-duplicate keys, for `split`; eight bytes a text, so millions fit in memory."""
    return hash_texts(map(near_key, texts))


def split(keys: Sequence[Hashes], seed: int, valid: int, test: int = 0) -> NDArray[np.int8]:
    """0, 1 or 2 (train, valid, test) per record, from the near keys of each of its columns.

    Records whose keys agree in any column form a group with all that agree with those, and a group stays whole. Sizes
    are as asked, give or take a group, or less where only large groups are left; a group as large as the part asked
    for, and the largest of all, stay in train. Where no group at all is small enough, that is said. Depends on nothing
    but the keys and the seed.
    """
    total = len(keys[0])
    if valid + test >= total:
        raise CorpusError(f"too few records to set {valid + test:,} aside for validation and test: {total:,}")
    groups = near_groups(keys)
    sizes = np.bincount(groups)
    part_of_group = np.full(len(sizes), TRAIN, np.int8)
    order = np.argsort(_drawn(keys[0], groups, len(sizes), seed), kind="stable")
    for part, wanted in ((TEST, test), (VALID, valid)):
        taken = _take(order, sizes, part_of_group, wanted)
        if wanted and not len(taken):
            raise CorpusError(f"the {total:,} records are too alike to set {wanted:,} of them aside")
        part_of_group[taken] = part
    return part_of_group[groups]


def near_groups(keys: Sequence[Hashes]) -> NDArray[np.int64]:
    """The group of each record, numbered from 0: connected components of "some column has the same key"."""
    columns = [np.unique(column, return_inverse=True)[1].reshape(-1).astype(np.int32) for column in keys]
    group = np.arange(len(keys[0]), dtype=np.int32)  # half the memory of 64 bits, and no corpus has 2³¹ lines
    while True:
        before = group.copy()
        for column in columns:
            lowest = np.full(int(column.max(initial=-1)) + 1, len(group), np.int32)
            np.minimum.at(lowest, column, group)
            # Whole groups are joined, by their first record, and not record by record: a chain of n links then takes
            # about log n rounds (Zhang, Azad and Hu 2020, "FastSV").
            np.minimum.at(group, group.copy(), lowest[column])
            group = np.minimum(group, lowest[column])
            group = group[group]
        if np.array_equal(before, group):
            return np.unique(group, return_inverse=True)[1].reshape(-1)


def _take(
    order: NDArray[np.int64], sizes: NDArray[np.int64], part_of_group: NDArray[np.int8], wanted: int
) -> NDArray[np.int64]:
    """Groups in drawn order until there are enough records: small ones first, and never the largest of all."""
    free = order[(part_of_group[order] == TRAIN) & (order != np.argmax(sizes))]
    small = sizes[free] <= max(1, wanted // LARGE)
    fitting = ~small & (sizes[free] <= wanted)
    candidates = np.concatenate([free[small], free[fitting]])
    filled = np.cumsum(sizes[candidates])
    return candidates[: int(np.searchsorted(filled, wanted)) + 1] if wanted else candidates[:0]


def _drawn(keys: Hashes, groups: NDArray[np.int64], count: int, seed: int) -> Hashes:
    """A number per group, drawn by the seed from its lowest key, so that the order of the file does not matter."""
    lowest = np.full(count, np.iinfo(np.uint64).max)
    np.minimum.at(lowest, groups, keys)
    return _mixed(lowest ^ _mixed(np.array([seed], np.uint64)))


def _mixed(values: Hashes) -> Hashes:
    """The finaliser of SplitMix64 (Steele, Lea and Flood 2014), on arrays."""
    values = values + np.uint64(0x9E3779B97F4A7C15)
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
