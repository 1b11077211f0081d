"""A set of 64-bit hashes that stays small and fast at millions of texts: what was seen before."""

from collections.abc import Iterable
from hashlib import blake2b

import numpy as np
from numpy.typing import NDArray

Hashes = NDArray[np.uint64]
FULLEST = 0.7  # share of the slots in use at which the table doubles
CHUNK = 1 << 18  # hashes moved at once when it does, so that moving needs little memory


def hash_texts(texts: Iterable[str]) -> Hashes:
    """64 bits for each text, the same on every machine (Python's own `hash` differs from run to run)."""
    digests = [blake2b(text.encode("utf-8", "surrogatepass"), digest_size=8).digest() for text in texts]
    return np.frombuffer(b"".join(digests), dtype="<u8").astype(np.uint64, copy=False)


class Seen:
    """A growing set of hashes in one array, by open addressing: 5 million take 64 MB, a Python set of them 400.

    Two texts share a hash once in 2⁶⁴: among 5 million, one wrong "seen" is expected in 1.5 million corpora.
    """

    def __init__(self, slots: int = 1 << 12) -> None:
        self._table: Hashes = np.zeros(slots, np.uint64)  # 0 marks a free slot
        self._count = 0

    def __len__(self) -> int:
        return self._count

    def __contains__(self, text: str) -> bool:
        return bool(self.contains(hash_texts([text]))[0])

    @property
    def nbytes(self) -> int:
        """The memory of the table."""
        return self._table.nbytes

    def add(self, hashes: Hashes) -> NDArray[np.bool_]:
        """Add a batch; True where a hash was met for the first time, in the set and in the batch."""
        mask = np.zeros(len(hashes), np.bool_)
        if len(hashes) == 0:
            return mask
        distinct, first = np.unique(_without_zero(hashes), return_index=True)
        while self._count + len(distinct) > FULLEST * len(self._table):
            self._grow()
        fresh = self._insert(distinct)
        self._count += int(fresh.sum())
        mask[first[fresh]] = True
        return mask

    def contains(self, hashes: Hashes) -> NDArray[np.bool_]:
        """True where a hash is in the set; adds nothing."""
        wanted = _without_zero(hashes)
        found = np.zeros(len(wanted), np.bool_)
        waiting = np.arange(len(wanted))
        places = self._first_places(wanted)
        step = 0
        while len(waiting):
            held = self._table[places]
            found[waiting] = held == wanted[waiting]
            going_on = (held != 0) & ~found[waiting]
            step += 1
            waiting, places = waiting[going_on], (places[going_on] + step) & (len(self._table) - 1)
        return found

    def _insert(self, distinct: Hashes) -> NDArray[np.bool_]:
        """Put distinct hashes into the table, all at once: where several claim a slot one wins and the others go on."""
        fresh = np.zeros(len(distinct), np.bool_)
        waiting = np.arange(len(distinct))
        places = self._first_places(distinct)
        step = 0
        while len(waiting):
            wanted = distinct[waiting]
            free = self._table[places] == 0
            self._table[places[free]] = wanted[free]
            settled = self._table[places] == wanted
            fresh[waiting[settled & free]] = True
            step += 1  # steps of 1, 2, 3 … visit every slot of a table whose size is a power of two
            waiting, places = waiting[~settled], (places[~settled] + step) & (len(self._table) - 1)
        return fresh

    def _first_places(self, hashes: Hashes) -> NDArray[np.int64]:
        return (hashes & np.uint64(len(self._table) - 1)).astype(np.int64)

    def _grow(self) -> None:
        old = self._table
        self._table = np.zeros(2 * len(old), np.uint64)
        for start in range(0, len(old), CHUNK):
            part = old[start : start + CHUNK]
            self._insert(part[part != 0])


def _without_zero(hashes: Hashes) -> Hashes:
    """Zero marks a free slot, so the text whose hash is zero is given another."""
    return np.where(hashes == 0, np.uint64(1), hashes)
