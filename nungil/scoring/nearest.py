"""The training sentence that is most like a given one: the baseline that a translator must beat.

Similarity is the cosine of the sets of runs of 2 and of 4 characters, weighted by how rare a run is in training
(TF-IDF). Runs are hashed, which needs no table and works for any script.

Sizes   N training sentences   F runs of characters, of all sentences end to end
"""

import math
from collections.abc import Iterable, Iterator, Sequence
from itertools import islice
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from nungil.errors import UsageError

Array = NDArray[np.float64]
Numbers = NDArray[np.int64]

SIZES = (2, 4)  # characters of a run: four suit alphabets, two Hangul and ideographs
BITS = 20  # a run is one of a million numbers
AT_ONCE = 20_000  # training sentences searched together
BUDGET = 20_000  # occurrences of runs, the rarest first, that are followed for one sentence
CANDIDATES = 30  # of those, the sentences that are compared run by run


class Nearest(NamedTuple):
    """The number of the training sentence, from 0, and its similarity, 0 to 1; -1 if none has a run in common."""

    number: int
    likeness: float


NONE = Nearest(-1, 0.0)
TINY = np.finfo(np.float64).tiny


class Runs(NamedTuple):
    """The runs of some sentences: of each sentence in order, every run once."""

    flat: Numbers  # (F,)
    sentences: Numbers  # (F,), the sentence of each
    texts: int

    @property
    def starts(self) -> Numbers:
        """The start of each sentence's runs, and the end of the last."""
        return np.searchsorted(self.sentences, np.arange(self.texts + 1)).astype(np.int64)


def nearest(texts: Sequence[str], training: Sequence[str]) -> list[Nearest]:
    """For each text the training sentence most like it, the first of equals. Memory does not grow with `training`."""
    if not training:
        raise UsageError("there are no training sentences to be near to; give at least one")
    weights = _weights(training)
    wanted = runs_of(texts)
    starts = wanted.starts
    sought = [wanted.flat[starts[place] : starts[place + 1]] for place in range(len(texts))]
    lengths = [math.sqrt(float(weights[runs].sum())) for runs in sought]
    best = [NONE] * len(texts)
    for first, block in _blocks(training):
        index = _Index(runs_of(block), weights)
        for place, (runs, length) in enumerate(zip(sought, lengths, strict=True)):
            found = index.best(runs, length)
            if found.likeness > best[place].likeness:
                best[place] = Nearest(first + found.number, found.likeness)
    return best


def runs_of(texts: Sequence[str]) -> Runs:
    """Every run of 2 and of 4 characters of each text, in lower case, with a space before and behind it."""
    padded = [f" {' '.join(text.lower().split())} " for text in texts]
    letters = np.frombuffer("".join(padded).encode("utf-32-le", "surrogatepass"), dtype="<u4").astype(np.uint64)
    owners = np.repeat(np.arange(len(texts)), [len(text) for text in padded])
    keys = []
    for size in SIZES:
        hashed = np.zeros(max(0, len(letters) - size + 1), dtype=np.uint64)
        for offset in range(size):  # Knuth's multiplier; the sum wraps around as a hash may
            hashed = (hashed + letters[offset : offset + len(hashed)] + np.uint64(size)) * np.uint64(
                6364136223846793005
            )
        whole = owners[: len(hashed)] == owners[size - 1 :]  # not from one text into the next
        numbers = (hashed >> np.uint64(64 - BITS)).astype(np.int64)
        keys.append((owners[: len(hashed)][whole] << BITS) | numbers[whole])
    ordered = np.sort(np.concatenate(keys))
    once = ordered[np.diff(ordered, prepend=-1) > 0]  # np.unique hashes first, and takes ten times as long
    return Runs(once & (2**BITS - 1), once >> BITS, len(texts))


def _weights(training: Sequence[str]) -> Array:
    """The squared weight of each run: the rarer in training, the heavier; unseen runs are heaviest."""
    seen = np.zeros(2**BITS, dtype=np.int64)
    for _, block in _blocks(training):
        seen += np.bincount(runs_of(block).flat, minlength=2**BITS)
    weights: Array = np.log((len(training) + 1) / (seen + 1)) ** 2
    return weights


def _blocks(training: Iterable[str]) -> Iterator[tuple[int, list[str]]]:
    """Some sentences at a time, and the number of the first."""
    sentences, first = iter(training), 0
    while block := list(islice(sentences, AT_ONCE)):
        yield first, block
        first += len(block)


class _Index:
    """Some training sentences, by the runs in them."""

    def __init__(self, runs: Runs, weights: Array) -> None:
        self._runs, self._weights = runs, weights
        self._starts = runs.starts
        self._marked = np.zeros(2**BITS, dtype=np.bool_)
        order = np.argsort(runs.flat, kind="stable")
        self._sentences = runs.sentences[order]  # of the first run, then of the second …
        self._ends = np.cumsum(np.bincount(runs.flat, minlength=2**BITS))
        self._lengths = np.sqrt(np.bincount(runs.sentences, weights=weights[runs.flat], minlength=runs.texts))

    def best(self, sought: Numbers, length: float) -> Nearest:
        """The sentence most similar to one with these runs."""
        rough = self._rough(sought)
        if rough is None:
            return NONE
        likely = np.flatnonzero(rough >= rough.max() / 2)
        if len(likely) > CANDIDATES:
            likely = np.sort(likely[np.argpartition(rough[likely], -CANDIDATES)[-CANDIDATES:]])
        exact = self._common(likely, sought) / np.maximum(self._lengths[likely] * length, TINY)
        place = int(exact.argmax())
        return Nearest(int(likely[place]), min(1.0, float(exact[place]))) if exact[place] > 0 else NONE

    def _rough(self, sought: Numbers) -> Array | None:
        """A rough similarity of each sentence, by the rarest runs only."""
        ends = self._ends[sought]
        starts = np.where(sought > 0, self._ends[sought - 1], 0)
        there = ends > starts
        rare = np.argsort((ends - starts)[there], kind="stable")
        runs, starts, ends = sought[there][rare], starts[there][rare], ends[there][rare]
        followed = max(1, int(np.searchsorted(np.cumsum(ends - starts), BUDGET)))
        if not len(runs):
            return None
        places = [self._sentences[start:end] for start, end in zip(starts[:followed], ends[:followed], strict=True)]
        worth = np.repeat(self._weights[runs[:followed]], (ends - starts)[:followed])
        common = np.bincount(np.concatenate(places), weights=worth, minlength=self._runs.texts)
        return common / np.maximum(self._lengths, TINY)

    def _common(self, numbers: Numbers, sought: Numbers) -> Array:
        """The weight of the runs that each of these sentences shares with those sought."""
        starts, lengths = self._starts[numbers], self._starts[numbers + 1] - self._starts[numbers]
        begins = np.cumsum(lengths) - lengths
        runs = self._runs.flat[np.arange(lengths.sum()) + np.repeat(starts - begins, lengths)]
        self._marked[sought] = True
        shared = np.where(self._marked[runs], self._weights[runs], 0.0)
        self._marked[sought] = False
        return np.add.reduceat(shared, begins)  # every sentence has runs: it is padded with spaces
