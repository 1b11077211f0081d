"""A second reader: naive Bayes and logistic regression over hashed n-grams of tokens. Wang and Manning (2012), NBSVM.

An encoder knows order and context, a bag of n-grams rare phrases; they are wrong about different texts.
"""

from collections.abc import Iterable

import torch
from jaxtyping import Bool, Float, Int
from pydantic import Field
from torch import Tensor, nn
from torch.nn.functional import embedding

from nungil.settings import Settings

# Sizes   B batch   S source steps   N n-grams of a text   K buckets   C classes
MULTIPLIER, MODULUS = 1_000_003, 2**31 - 1  # of the hash; both are primes, and the products stay far below 2⁶³
STRIDE = 5.0  # scales the scores, and so the steps: an n-gram is rare, and has to learn faster than a matrix does
NOTHING = 1e-6  # the smallest length that features are divided by


class NgramSettings(Settings):
    """The hashed n-grams of a classifier."""

    longest: int = Field(3, ge=1, le=5, description="Tokens of the longest n-gram.")
    buckets: int = Field(2**20, ge=16, le=2**26, description="Places that n-grams are hashed to.")


class NgramReader(nn.Module):
    """A score per class: the sum over the distinct n-grams of a text, of every n up to the longest.

    The feature of an n-gram is its log-ratio for each class, counted once before training (`count`); its weight is
    learned. Before `count`, all features are 1. Hash collisions are not resolved.
    """

    def __init__(self, settings: NgramSettings, classes: int) -> None:
        super().__init__()
        self.settings = settings
        self.ratios = nn.Parameter(torch.empty(settings.buckets, classes), requires_grad=False)
        self.table = nn.Parameter(torch.empty(settings.buckets, classes))
        self.bias = nn.Parameter(torch.empty(classes))
        nn.init.ones_(self.ratios)
        nn.init.zeros_(self.table)
        nn.init.zeros_(self.bias)

    def forward(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"]) -> Float[Tensor, "B C"]:
        """Features, normalised to length 1 for each text and class, times their weights."""
        buckets, real = self._distinct(source, keep)
        features = embedding(buckets, self.ratios) * real[..., None]
        lengths = features.square().sum(dim=1).sqrt().clamp(min=NOTHING)
        return STRIDE * (features * embedding(buckets, self.table)).sum(dim=1) / lengths + self.bias

    @torch.no_grad()
    def count(self, texts: Iterable[tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"], Int[Tensor, " B"]]]) -> None:
        """The features: log p(n-gram | class) − log p(n-gram | any other class), with add-one smoothing."""
        counts = torch.zeros_like(self.ratios)
        for source, keep, label in texts:
            buckets, real = self._distinct(source, keep)
            places = (buckets * counts.shape[1] + label[:, None])[real]
            counts.view(-1).index_add_(0, places, torch.ones_like(places, dtype=counts.dtype))
        others = counts.sum(dim=1, keepdim=True) - counts
        self.ratios.copy_(_log_share(counts + 1) - _log_share(others + 1))

    def _distinct(
        self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"]
    ) -> tuple[Int[Tensor, "B N"], Bool[Tensor, "B N"]]:
        """The buckets of each text, sorted, and which of them are first occurrences."""
        buckets, real = self._hashed(source, keep)
        rising = buckets.masked_fill(~real, -1).sort(dim=1).values
        first = rising.diff(dim=1, prepend=rising.new_full((len(rising), 1), -1)) > 0
        return rising.clamp(min=0), first

    def _hashed(
        self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"]
    ) -> tuple[Int[Tensor, "B N"], Bool[Tensor, "B N"]]:
        """The bucket of each n-gram, one n after another, and which of them are real."""
        buckets, real = [], []
        grams = torch.zeros_like(source)
        for n in range(1, min(self.settings.longest, source.shape[1]) + 1):
            ends = source[:, n - 1 :]
            grams = (grams[:, : ends.shape[1]] * MULTIPLIER + ends + n) % MODULUS
            buckets.append(grams % self.settings.buckets)
            real.append(keep[:, n - 1 :])
        return torch.cat(buckets, dim=1), torch.cat(real, dim=1)


def _log_share(counts: Float[Tensor, "K C"]) -> Float[Tensor, "K C"]:
    """The logarithm of each count's share of its class."""
    return (counts / counts.sum(dim=0)).log()
