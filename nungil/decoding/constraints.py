"""What may be written next: no padding, not too short, not too long, no run of words twice, what is given first."""

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nungil.text.tokenizers.base import EOS, PAD, SOS

# Sizes   A sentences   N hypotheses, some for each sentence   t tokens written so far   P of a prefix   V vocabulary
NEVER = [PAD, SOS]  # no target holds them, so none is written


@dataclass(frozen=True)
class Constraints:
    """For a batch of sentences. A prefix that ends in `<eos>` is a whole translation."""

    longest: Int[Tensor, " A"]
    shortest: int = 0
    no_repeat: int = 0
    prefix: Int[Tensor, "A P"] | None = None  # padded on the right

    def hide(
        self, scores: Float[Tensor, "N V"], written: Int[Tensor, "N t"], sentences: Int[Tensor, " N"]
    ) -> Float[Tensor, "N V"]:
        """Set what may not come next to −∞, in place. `sentences` tells whose hypothesis each row is."""
        length = written.shape[1]
        scores[:, NEVER] = -torch.inf
        if length < self.shortest:
            scores[:, EOS] = -torch.inf
        if 0 < self.no_repeat <= length:
            rows, tokens = repeats(written, self.no_repeat)
            scores[rows, tokens] = -torch.inf
        if self.prefix is not None and length < self.prefix.shape[1]:
            _force(scores, self.prefix[sentences, length])
        return scores

    def select(self, sentences: Int[Tensor, " N"]) -> "Constraints":
        """Those of some sentences."""
        prefix = None if self.prefix is None else self.prefix[sentences]
        return Constraints(self.longest[sentences], self.shortest, self.no_repeat, prefix)


def repeats(written: Int[Tensor, "N t"], size: int) -> tuple[Int[Tensor, " R"], Int[Tensor, " R"]]:
    """The rows, and the tokens that would complete a run of this size which the row has already."""
    runs = written.unfold(1, size, 1)
    ending = written[:, written.shape[1] - size + 1 :]
    rows, places = (runs[..., :-1] == ending[:, None]).all(dim=-1).nonzero(as_tuple=True)
    return rows, runs[rows, places, -1]


def _force(scores: Tensor, tokens: Int[Tensor, " N"]) -> None:
    """Leave only this token, where there is one."""
    rows = (tokens != PAD).nonzero()[:, 0]
    kept = scores[rows, tokens[rows]]
    scores[rows] = -torch.inf
    scores[rows, tokens[rows]] = kept


def padded_prefix(rows: Sequence[Sequence[int]]) -> Int[Tensor, "A P"]:
    """Prefixes of unequal length as one tensor."""
    longest = max(map(len, rows))
    return torch.tensor([[*row, *[PAD] * (longest - len(row))] for row in rows], dtype=torch.int64)
