"""Coverage: attention that takes into account what it has already read. See et al. (2017), section 2.3.

Coverage is explicit: the caller passes the sum of all weights so far, and adds the new ones to it,
`coverage + weights.sum(dim=1)`. The module keeps no state.
"""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nungil.attention.energy import tanh_energy
from nungil.attention.scores import Additive, Memory
from nungil.errors import ShapeError

# Sizes   B batch   T target steps   S source steps   Q width of a query   K width of a key   A attention width


class Coverage(Additive):
    """vᵀ tanh(W s + U h + w_c c), c the weight each source step has had so far. See et al. (2017), eq. 11."""

    needs_coverage = True

    def __init__(self, query_size: int, key_size: int, size: int) -> None:
        super().__init__(query_size, key_size, size)
        self.cover = nn.Linear(1, size, bias=False)

    def forward(
        self,
        query: Float[Tensor, "B T Q"],
        keys: Float[Tensor, "B S K"] | Memory,
        position: int = 0,  # noqa: ARG002
        coverage: Float[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B T S"]:
        """Scores of the next step. Each of several queries is scored as the next step; `Attention` loops over steps."""
        memory = self.recall(query, keys)
        if coverage is None:
            coverage = no_coverage(memory)
        if coverage.shape != memory.keys.shape[:2]:
            raise ShapeError(f"coverage {tuple(coverage.shape)} does not fit keys {tuple(memory.keys.shape)}")
        cover = coverage, self.cover.weight[:, 0]
        return tanh_energy(self.query(query), memory.projected, self.vector.weight[0], cover)


def no_coverage(memory: Memory) -> Float[Tensor, "B S"]:
    """The coverage before the first step: zeros."""
    return torch.zeros_like(memory.keys[..., 0])


def coverage_loss(
    weights: Float[Tensor, "B T S"], coverage: Float[Tensor, "B S"] | None = None
) -> Float[Tensor, "B T"]:
    """Σᵢ min(aᵢᵗ, cᵢᵗ) for each step: how much is read again. See et al. (2017), eq. 12."""
    before = weights.cumsum(dim=1) - weights
    if coverage is not None:
        before = before + coverage[:, None]
    return torch.minimum(weights, before).sum(dim=-1)
