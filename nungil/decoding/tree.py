"""Trees: which tokens a beam search kept and which it pruned, recorded while it searches. Knows ids only."""

from collections.abc import Sequence
from typing import Literal, NamedTuple

from torch import Tensor

from nungil.text.tokenizers.base import EOS

Fate = Literal["kept", "pruned", "ended", "cut"]


class Node(NamedTuple):
    """One token after a hypothesis; `parent` is the place of that hypothesis in the tree, None at the root."""

    parent: int | None
    token: int
    log_probability: float
    fate: Fate
    score: float | None = None  # what the search ranks by, of a translation


class Considered(NamedTuple):
    """The candidates of one step (A, C), best first: their totals, parent hypotheses and tokens."""

    totals: Tensor
    parents: Tensor
    tokens: Tensor


class Trees:
    """A tree for each sentence of a batch."""

    def __init__(self, sentences: int, beam: int) -> None:
        self.nodes: list[list[Node]] = [[] for _ in range(sentences)]
        self.beam = beam
        self._standing: list[list[int | None]] = [[None] * beam for _ in range(sentences)]
        self._totals: list[list[float]] = [[0.0] * beam for _ in range(sentences)]

    def end(self, sentence: int, place: int, last: float | None, score: float) -> None:
        """End the hypothesis at this place: with `<eos>` of log-probability `last`, or cut off (None)."""
        standing, nodes = self._standing[sentence][place], self.nodes[sentence]
        if last is not None:
            nodes.append(Node(standing, EOS, last, "ended", score))
        elif standing is not None:
            nodes[standing] = nodes[standing]._replace(fate="cut", score=score)

    def grow(self, sentences: Sequence[int], considered: Considered, kept: Tensor) -> None:
        """One step: `kept` (A, K) are the places among those considered that the search keeps."""
        rows = zip(sentences, *(part.tolist() for part in considered), kept.tolist(), strict=True)
        for sentence, totals, parents, tokens, places in rows:
            self._grow(sentence, totals, list(zip(parents, tokens, strict=True)), places)

    def _grow(self, sentence: int, totals: list[float], chosen: list[tuple[int, int]], kept: list[int]) -> None:
        nodes, before, paid = self.nodes[sentence], self._standing[sentence], self._totals[sentence]
        standing: dict[int, int] = {}
        for place, (total, (parent, token)) in enumerate(zip(totals, chosen, strict=True)):
            if total == -float("inf") or (token == EOS and place < self.beam):  # `end` has added these
                continue
            goes_on = place in kept and token != EOS
            standing[place] = len(nodes)
            nodes.append(Node(before[parent], token, total - paid[parent], "kept" if goes_on else "pruned"))
        self._standing[sentence] = [standing.get(place) for place in kept]
        self._totals[sentence] = [totals[place] for place in kept]
