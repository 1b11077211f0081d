"""Embeddings and sinusoidal positions."""

import math

import torch
from jaxtyping import Float, Int
from torch import Tensor, nn

from nungil.attention.dropout import Dropout

# Sizes   B batch   S steps   V vocabulary   E width of an embedding


class Embedding(nn.Module):
    """A vector per token, with dropout; it is multiplied by √E when it is read (Vaswani 2017, section 3.4).

    The table is initialised small, as a tied output matrix needs, yet the encoder receives vectors of about unit scale.
    Recurrent layers learn much sooner from these, too (docs/results.md).
    """

    def __init__(self, vocabulary: int, width: int, dropout: float = 0.0, scaled: bool = True) -> None:
        super().__init__()
        self.table = nn.Embedding(vocabulary, width)
        nn.init.normal_(self.table.weight, std=width**-0.5)
        self.scale = math.sqrt(width) if scaled else 1.0
        self.dropout = Dropout(dropout)

    @property
    def width(self) -> int:
        """The width of a vector."""
        return self.table.embedding_dim

    def forward(self, ids: Int[Tensor, "B S"]) -> Float[Tensor, "B S E"]:
        """The vectors of some tokens."""
        vectors: Tensor = self.dropout(self._as_read(self.table(ids)))
        return vectors

    def every(self) -> Float[Tensor, "V E"]:
        """The vectors of all tokens, scaled as `forward` scales them, without dropout or gradient."""
        return self._as_read(self.table.weight.detach())

    def _as_read(self, vectors: Tensor) -> Tensor:
        return vectors if self.scale == 1.0 else vectors * self.scale


def sinusoids(first: int, count: int, width: int, like: Tensor) -> Float[Tensor, "S E"]:
    """PE(p, 2i) = sin(p / 10000^{2i/d}), PE(p, 2i+1) = cos of the same, for so many positions from the first.

    Vaswani et al. (2017), section 3.5. Computed where it is needed: there is no longest sentence.
    """
    position = torch.arange(first, first + count, device=like.device, dtype=torch.float64)[:, None]
    rate = 10_000.0 ** -(torch.arange(0, width, 2, device=like.device, dtype=torch.float64) / width)
    waves = torch.stack([torch.sin(position * rate), torch.cos(position * rate)], dim=-1)
    return waves.flatten(1)[:, :width].to(like.dtype)
