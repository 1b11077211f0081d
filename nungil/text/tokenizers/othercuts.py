"""Other cuts of the same words: what a model sees of them differs from epoch to epoch. Kudo (2018).

A model that has met `snow|ball` and `s|now|ball` knows more of a rare word than one that has only ever met `snowball`.
No piece crosses a space, so every word is cut anew by itself, and its cuts need to be worked out only once.
"""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from math import exp
from random import Random
from typing import NamedTuple

from nungil.text.tokenizers.pieces import SPACE, PieceTokenizer

MOST = 16  # the likeliest cuts of a word, of which one is drawn; Kudo has 8 and 64
REMEMBERED = 20_000  # words whose cuts are kept: some 30 MB

Word = tuple[int, ...]


class _Cuts(NamedTuple):
    """The cuts of one word, and the chance of each and those before it."""

    pieces: list[Word]
    chances: list[float]


class OtherCuts:
    """Draws cuts of words: P(cut) ∝ p(cut)^evenness, where p is the unigram model's. 1: as it says; 0: all alike."""

    def __init__(self, tokenizer: PieceTokenizer, evenness: float) -> None:
        self._tokenizer, self._evenness = tokenizer, evenness
        self._begins = [piece.startswith(SPACE) for piece in tokenizer.vocabulary]
        self._known: dict[Word, _Cuts] = {}

    def draw(self, ids: Sequence[int], seed: int) -> list[int]:
        """The same text, each of its words in a cut that the seed decides."""
        chance = Random(seed).random
        found: list[int] = []
        for word in self._words(ids):
            cuts = self._known.get(word) or self._learn(word)
            found += cuts.pieces[min(bisect(cuts.chances, chance()), len(cuts.pieces) - 1)]
        return found

    def _words(self, ids: Sequence[int]) -> list[Word]:
        starts = [place for place, one in enumerate(ids) if self._begins[one]]
        if not starts or starts[0]:
            starts.insert(0, 0)
        return [tuple(ids[start:end]) for start, end in zip(starts, [*starts[1:], len(ids)], strict=True)]

    def _learn(self, word: Word) -> _Cuts:
        if len(self._known) >= REMEMBERED:
            self._known.clear()
        scored = self._tokenizer.cuts(word, MOST)
        highest = max(score for _, score in scored)
        weights = [exp(self._evenness * (score - highest)) for _, score in scored]
        total = sum(weights)
        cuts = _Cuts([pieces for pieces, _ in scored], [sum_ / total for sum_ in accumulate(weights)])
        self._known[word] = cuts
        return cuts
