"""Windows: local attention, which looks only near one place. Luong et al. (2015), section 3.2.

A window wraps any score. Local-m centres it on the query's own step; local-p predicts the centre, and weights decrease
around it.
"""

from abc import abstractmethod

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nungil.attention.attend import Keep, hidden, hide
from nungil.attention.scores import Memory, Score, Weighed, source_lengths
from nungil.attention.softmax import softmax
from nungil.errors import UsageError

# Sizes   B batch   T target steps   S source steps   Q width of a query   K width of a key


class Window(Score):
    """A score that is −∞ outside [centre − reach, centre + reach]."""

    def __init__(self, score: Score, reach: int, query_size: int | None = None) -> None:
        super().__init__(query_size if query_size is not None else score.query_size, score.key_size, reach=reach)
        self.score, self.reach = score, reach
        self.needs_coverage = score.needs_coverage  # type: ignore[misc]  # the same as the wrapped score

    @abstractmethod
    def centre(self, query: Float[Tensor, "B T Q"], memory: Memory, position: int) -> Float[Tensor, "B T"]:
        """The centre of each query's window, in source steps."""

    def compare(self, query: Float[Tensor, "B T Q"], memory: Memory) -> Float[Tensor, "B T S"]:
        """The wrapped score, without the window."""
        return self.score.compare(query, memory)

    def prepare(self, keys: Float[Tensor, "B S K"], keep: Keep | None = None) -> Memory:
        """The wrapped score's memory. Padding must stand on the right, or a window could contain only padding."""
        memory = self.score.prepare(keys, keep)
        if keep is not None and not bool((keep[..., 1:] <= keep[..., :-1]).all()):
            raise UsageError(
                f"{self._name()} needs padding on the right only: keep hides a step before one that it keeps"
            )
        return memory

    def forward(
        self,
        query: Float[Tensor, "B T Q"],
        keys: Float[Tensor, "B S K"] | Memory,
        position: int = 0,
        coverage: Float[Tensor, "B S"] | None = None,
    ) -> Float[Tensor, "B T S"]:
        """The wrapped score inside the window, −∞ outside."""
        memory = self.recall(query, keys)
        return self._framed(query, memory, self.centre(query, memory, position), position, coverage)

    def _framed(
        self, query: Tensor, memory: Memory, centre_BT: Tensor, position: int, coverage: Tensor | None
    ) -> Float[Tensor, "B T S"]:
        scores: Tensor = self.score(query, memory, position, coverage)
        return scores + hidden(self._distance(centre_BT, memory).abs() <= self.reach, scores)

    def _distance(self, centre_BT: Tensor, memory: Memory) -> Float[Tensor, "B T S"]:
        steps = torch.arange(memory.keys.shape[1], device=centre_BT.device, dtype=centre_BT.dtype)
        return steps - centre_BT[..., None]


class LocalM(Window):
    """Monotonic: the window of step t is [t − D, t + D], with the centre at most at the last real source step."""

    def centre(self, query: Float[Tensor, "B T Q"], memory: Memory, position: int) -> Float[Tensor, "B T"]:
        """The query's own step, clamped to the sentence."""
        if position < 0:
            raise UsageError(f"LocalM: position counts from 0; it cannot be {position}")
        steps = torch.arange(position, position + query.shape[1], device=query.device)
        return torch.minimum(steps[None], source_lengths(memory) - 1).to(_exact(query))


class LocalP(Window):
    """Predictive: the centre is pₜ = S·σ(vₚᵀ tanh(Wₚ hₜ)), and the weights are multiplied by a Gaussian around it.

    The Gaussian is exp(−(s − pₜ)² / 2σ²) with σ = D/2. The weights are not normalised again (eq. 9 and 10).
    """

    def __init__(self, score: Score, query_size: int, reach: int) -> None:
        super().__init__(score, reach, query_size)
        self.inner = nn.Linear(query_size, query_size, bias=False)
        self.outer = nn.Linear(query_size, 1, bias=False)

    def centre(self, query: Float[Tensor, "B T Q"], memory: Memory, position: int) -> Float[Tensor, "B T"]:  # noqa: ARG002
        """A place in the sentence, predicted from the query (eq. 9)."""
        share: Tensor = self.outer(torch.tanh(self.inner(query))).squeeze(-1)
        return source_lengths(memory) * torch.sigmoid(share.to(_exact(query)))

    def weigh(
        self,
        query: Float[Tensor, "B T Q"],
        memory: Memory,
        position: int = 0,
        coverage: Float[Tensor, "B S"] | None = None,
    ) -> Weighed:
        """Softmax inside the window, times the Gaussian (eq. 10)."""
        memory = self.recall(query, memory)
        centre = self.centre(query, memory, position)
        scores = hide(self._framed(query, memory, centre, position, coverage), memory.keep)
        bell = torch.exp(-self._distance(centre, memory).square() / (2 * (self.reach / 2) ** 2))
        return Weighed(scores, softmax(scores) * bell.to(scores.dtype))


def _exact(query: Tensor) -> torch.dtype:
    """At least float32: bfloat16 cannot count source steps beyond 256."""
    return torch.promote_types(query.dtype, torch.float32)
