"""Sampling: draws tokens by their probability; used as the `choose` of greedy search."""

import torch
from jaxtyping import Float, Int
from torch import Tensor

from nungil.decoding.settings import SearchSettings


class Sampler:
    """Draws from the most probable tokens. The same seed and batch give the same draws."""

    def __init__(self, settings: SearchSettings, seed: int | None = None) -> None:
        self.settings = settings
        self._random = torch.Generator().manual_seed((settings.seed if seed is None else seed) % 2**63)

    def __call__(self, scores: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
        """One token of each row."""
        scaled = scores / self.settings.temperature
        if 0 < self.settings.top_k < scaled.shape[1]:
            least = scaled.topk(self.settings.top_k, dim=-1).values[:, -1:]
            scaled = scaled.masked_fill(scaled < least, -torch.inf)
        if self.settings.top_p < 1:
            scaled = nucleus(scaled, self.settings.top_p)
        return torch.multinomial(scaled.softmax(dim=-1), 1, generator=self._random)[:, 0]


def nucleus(scores: Float[Tensor, "B V"], share: float) -> Float[Tensor, "B V"]:
    """Hide all but the smallest set of tokens whose probabilities sum to this share. Holtzman et al. (2020)."""
    ordered, places = scores.sort(dim=-1, descending=True)
    before = ordered.softmax(dim=-1).cumsum(dim=-1) - ordered.softmax(dim=-1)
    ordered = ordered.masked_fill(before >= share, -torch.inf)
    return torch.empty_like(scores).scatter_(1, places, ordered)
