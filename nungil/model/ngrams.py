"""Hashed n-grams of tokens: what a bag of words knows, beside what an encoder knows. Joulin et al. (2016), fastText."""

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn

from nungil.settings import Settings

# Sizes   B batch   S source steps   N n-grams of a sentence   W width
MULTIPLIER = 1_000_003  # an odd prime; the products stay far below 2⁶³


class NgramSettings(Settings):
    """The hashed n-grams of a classifier."""

    longest: int = Field(2, ge=1, le=5, description="Tokens of the longest n-gram.")
    buckets: int = Field(100_000, ge=16, le=10_000_000, description="Vectors that n-grams are hashed to.")
    width: int = Field(32, ge=1, le=1_024, description="Width of a vector.")


class HashedNgrams(nn.Module):
    """The mean of a learned vector per n-gram, of every n up to the longest. Rare collisions are borne."""

    def __init__(self, settings: NgramSettings) -> None:
        super().__init__()
        self.settings = settings
        self.table = nn.Embedding(settings.buckets, settings.width)
        nn.init.normal_(self.table.weight, std=settings.width**-0.5)

    def forward(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"]) -> Float[Tensor, "B W"]:
        """The mean over the n-grams that hold no padding."""
        buckets, real = self._hashed(source, keep)
        vectors: Tensor = self.table(buckets) * real[..., None]
        return vectors.sum(dim=1) / real.sum(dim=1, keepdim=True)

    def _hashed(
        self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"]
    ) -> tuple[Int[Tensor, "B N"], Bool[Tensor, "B N"]]:
        """The bucket of each n-gram, one n after another, and which of them are real."""
        buckets, real = [], []
        grams = torch.zeros_like(source)
        for n in range(1, min(self.settings.longest, source.shape[1]) + 1):
            ends = source[:, n - 1 :]
            grams = (grams[:, : ends.shape[1]] * MULTIPLIER + ends + n) % (2**31 - 1)
            buckets.append(grams % self.settings.buckets)
            real.append(keep[:, n - 1 :])
        return torch.cat(buckets, dim=1), torch.cat(real, dim=1)
