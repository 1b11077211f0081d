"""Other segmentations of the same words, drawn anew in every epoch (subword regularisation). Kudo (2018).

A model that has seen `snow|ball` and `s|now|ball` knows more about a rare word than one that has only seen `snowball`.
No piece crosses a space, so words are segmented separately, and the segmentations of each are computed only once.
"""

from bisect import bisect
from collections.abc import Sequence
from itertools import accumulate
from math import exp
from random import Random
from typing import NamedTuple

from nungil.text.tokenizers.base import Tokenizer
from nungil.text.tokenizers.pieces import SPACE, PieceTokenizer

MOST = 16  # most likely segmentations of a word to draw from; Kudo uses 8 and 64
REMEMBERED = 20_000  # words whose segmentations are cached: about 30 MB

Word = tuple[int, ...]


class _Cuts(NamedTuple):
    """The segmentations of one word, and their cumulative probabilities."""

    pieces: list[Word]
    chances: list[float]


class OtherCuts:
    """Draws segmentations with P ∝ p^evenness, where p is that of the unigram model; 0 makes all equally likely."""

    def __init__(self, tokenizer: PieceTokenizer, evenness: float) -> None:
        self._tokenizer, self._evenness = tokenizer, evenness
        self._begins = [piece.startswith(SPACE) for piece in tokenizer.vocabulary]
        self._known: dict[Word, _Cuts] = {}

    def draw(self, ids: Sequence[int], seed: int) -> list[int]:
        """The same text, with a segmentation of each word drawn by the seed."""
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


def other_cuts(source: Tokenizer, target: Tokenizer, evenness: float) -> dict[str, OtherCuts]:
    """Those of each side that has pieces."""
    sides = {"source": source, "target": target}
    return {name: OtherCuts(one, evenness) for name, one in sides.items() if isinstance(one, PieceTokenizer)}
