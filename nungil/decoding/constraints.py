"""Which tokens may come next: limits of length, no repeated n-grams, a given prefix, never padding."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nungil.text.tokenizers.base import EOS, PAD, SOS

# Sizes   A sentences   N hypotheses, some for each sentence   t tokens written so far   P of a prefix   V vocabulary
NEVER = [PAD, SOS]  # no target contains these


@dataclass(frozen=True)
class Constraints:
    """The rules for a batch. A prefix overrides all others; one that ends in `<eos>` is the whole translation."""

    longest: Int[Tensor, " A"]
    shortest: int = 0
    no_repeat: int = 0
    prefix: Int[Tensor, "A P"] | None = None  # padded on the right

    def hide(
        self, scores: Float[Tensor, "N V"], written: Int[Tensor, "N t"], sentences: Int[Tensor, " N"]
    ) -> Float[Tensor, "N V"]:
        """Set the scores of tokens that may not come next to −∞, in place. `sentences` is the sentence of each row."""
        length = written.shape[1]
        early, again = length < self.shortest, 0 < self.no_repeat <= length
        forced = self._forced(scores, length, sentences)  # reads scores that are hidden below
        end = scores[:, EOS].clone() if early and again else None
        for token in NEVER:
            scores[:, token] = -torch.inf
        if early:
            scores[:, EOS] = -torch.inf
        if again:
            rows, tokens = repeats(written, self.no_repeat)
            scores[rows, tokens] = -torch.inf
        if end is not None:  # where every token would be a repetition, `<eos>` is allowed
            scores[:, EOS] = torch.where(scores.amax(dim=1) == -torch.inf, end, -torch.inf)
        if forced is not None:
            rows, tokens, costs = forced
            scores[rows] = -torch.inf
            scores[rows, tokens] = costs
        return scores

    def _forced(self, scores: Tensor, length: int, sentences: Tensor) -> tuple[Tensor, Tensor, Tensor] | None:
        """The rows whose next token is given, that token, and what it costs."""
        if self.prefix is None or length >= self.prefix.shape[1]:
            return None
        tokens = self.prefix[sentences, length]
        rows = (tokens != PAD).nonzero()[:, 0]
        return rows, tokens[rows], scores[rows, tokens[rows]]

    def select(self, sentences: Int[Tensor, " N"]) -> "Constraints":
        """The rules for some sentences."""
        prefix = None if self.prefix is None else self.prefix[sentences]
        return Constraints(self.longest[sentences], self.shortest, self.no_repeat, prefix)


def repeats(written: Int[Tensor, "N t"], size: int) -> tuple[Int[Tensor, " R"], Int[Tensor, " R"]]:
    """The rows, and the tokens that would repeat an n-gram of this size in them."""
    runs = written.unfold(1, size, 1)
    ending = written[:, written.shape[1] - size + 1 :]
    rows, places = (runs[..., :-1] == ending[:, None]).all(dim=-1).nonzero(as_tuple=True)
    return rows, runs[rows, places, -1]


def padded_prefix(rows: Sequence[Sequence[int]]) -> Int[Tensor, "A P"]:
    """Prefixes of unequal length as one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.int64)
