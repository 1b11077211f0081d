"""HeadScores: how well each head of a translator's attention finds the gold links, in both readings. No torch.

Of the target words that have a sure link, `match` is the share whose most looked at word is one of theirs, and `mass`
the weight they give to theirs on average; what goes to `<sos>` and `<eos>` is lost to both.
"""

from collections.abc import Iterable, Sequence
from dataclasses import asdict, dataclass
from typing import Any, NamedTuple

import numpy as np

from nungil.errors import UsageError
from nungil.inspection.links import between_words
from nungil.inspection.record import READINGS, Array, AttentionRecord, Reading
from nungil.scoring.alignment import AlignmentScores, Link, diagonal_links, parse_links, score_parsed
from nungil.scoring.words import links_from_weights
from nungil.text.tokenizers.base import EOS, SPECIALS

TINY = 1e-300  # so that 0 · log 0 is 0


class Which(NamedTuple):
    """A head of cross-attention (None: the mean of its layer's heads), and how its rows are read."""

    layer: int
    head: int | None
    reading: Reading


@dataclass(frozen=True)
class HeadScores:
    """The scores of one head in one reading."""

    layer: int
    head: int | None
    reading: Reading
    aer: float
    precision: float
    recall: float
    match: float
    mass: float

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


@dataclass(frozen=True)
class Chosen:
    """The best head of one half of the pairs (every other, from the first), and its scores on the other half."""

    chosen_on: HeadScores
    reported_on: HeadScores

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return asdict(self)


class _Seen(NamedTuple):
    """What one head has of one pair."""

    links: frozenset[Link]
    matched: int
    mass: float
    asked: int  # target words with a sure link


class Desk:
    """Takes records of given translations, one after another, and has the scores of every head at the end."""

    def __init__(self, gold: Sequence[str]) -> None:
        self.gold = [parse_links(line) for line in gold]
        self._seen: dict[Which, dict[int, _Seen]] = {}

    def add(self, place: int, record: AttentionRecord) -> None:
        """The record of the pair at this place of the gold links."""
        for one in (one for one in record.maps if one.kind == "cross"):
            for reading in READINGS:
                words = between_words(record, one.weights, reading)
                self._add(place, Which(one.layer, None, reading), None if words is None else words.mean(axis=0))
                for head in range(one.heads if one.heads > 1 else 0):
                    self._add(place, Which(one.layer, head, reading), None if words is None else words[head])

    def _add(self, place: int, which: Which, weights: Array | None) -> None:
        self._seen.setdefault(which, {})[place] = self._see(place, weights)

    def _see(self, place: int, weights: Array | None) -> _Seen:
        sure = self.gold[place].sure
        asked = {target for _, target in sure}
        if weights is None:
            return _Seen(frozenset(), 0, 0.0, len(asked))
        links = frozenset(links_from_weights(weights))
        within = [(s, t) for s, t in sure if t < weights.shape[0] and s < weights.shape[1]]
        matched = sum(1 for link in links if link in sure)
        return _Seen(links, matched, float(sum(weights[t, s] for s, t in within)), len(asked))

    def scores(self, places: Iterable[int] | None = None) -> list[HeadScores]:
        """Of every head in both readings, over all pairs or some of them; in the order of layers and heads."""
        chosen = list(range(len(self.gold)) if places is None else places)
        order = sorted(
            self._seen, key=lambda one: (one.layer, -1 if one.head is None else one.head, -ord(one.reading[0]))
        )
        return [self._score(which, chosen) for which in order]

    def _score(self, which: Which, places: Sequence[int]) -> HeadScores:
        seen = [self._seen[which][place] for place in places]
        found = score_parsed([one.links for one in seen], [self.gold[place] for place in places])
        asked = max(1, sum(one.asked for one in seen))
        return HeadScores(
            *which,
            aer=found.aer,
            precision=found.precision,
            recall=found.recall,
            match=sum(one.matched for one in seen) / asked,
            mass=sum(one.mass for one in seen) / asked,
        )

    def links(self, which: Which, places: Iterable[int]) -> list[frozenset[Link]]:
        """The word links that one head makes of some pairs."""
        return [self._seen[which][place].links for place in places]

    def choose(self) -> Chosen:
        """The head and reading with the lowest error on one half, and what it is worth on the other.

        The lowest of many is low by luck, too: only the other half says what to expect.
        """
        if len(self.gold) < 2:
            raise UsageError("a head is chosen on half of the pairs and reported on the rest: 2 or more are needed")
        best = min(self.scores(range(0, len(self.gold), 2)), key=lambda one: one.aer)
        which = Which(best.layer, best.head, best.reading)
        return Chosen(best, self._score(which, range(1, len(self.gold), 2)))


def diagonal_scores(pairs: Sequence[tuple[str, str]], gold: Sequence[str]) -> AlignmentScores:
    """Of links along the diagonal: what is reached by knowing nothing but lengths."""
    made = [frozenset(diagonal_links(len(source.split()), len(target.split()))) for source, target in pairs]
    return score_parsed(made, [parse_links(line) for line in gold])


def ceiling_scores(gold: Sequence[str]) -> AlignmentScores:
    """Of the best that one link for each target word could do: a sure one where there is one, else a possible one."""
    truths = [parse_links(line) for line in gold]
    made = []
    for truth in truths:
        best = {target: (source, target) for source, target in sorted(truth.possible, reverse=True)}
        best |= {target: (source, target) for source, target in sorted(truth.sure, reverse=True)}
        made.append(frozenset(best.values()))
    return score_parsed(made, truths)


def mean_facts(record: AttentionRecord, kind: str, layer: int, head: int) -> tuple[float, float]:
    """Entropy / ln n of the rows of one head, n all its columns, and their weight on `<eos>`, both on average."""
    weights = record.select(kind, layer, head)
    shares = weights / np.maximum(weights.sum(axis=-1, keepdims=True), TINY)
    entropy = -(shares * np.log(np.maximum(shares, TINY))).sum(axis=-1)
    columns = record.tokens_of(record.map_of(kind, layer).columns)
    ends = [place for place, token in enumerate(columns) if token == SPECIALS[EOS]]
    most = np.log(weights.shape[1]) if weights.shape[1] > 1 else 1.0
    return float(entropy.mean() / most), float(weights[:, ends].sum(axis=-1).mean())
