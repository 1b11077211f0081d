"""Attention: a score, softmax and the weighted sum, as one module."""

import torch
from jaxtyping import Float
from torch import Tensor, nn

from nungil.attention.attend import Attended, Keep, check_steps, refuse_empty_rows
from nungil.attention.coverage import no_coverage
from nungil.attention.eye import Eye, Look
from nungil.attention.scores import Memory, Score
from nungil.errors import ShapeError, UsageError

# Sizes   B batch   T target steps   S source steps   Q width of a query   K width of a key   V width of a value


class Attention(nn.Module):
    """Attention with any score. `kind` and `layer` tell eyes which attention of a model this is."""

    def __init__(self, score: Score, kind: str = "cross", layer: int = 0) -> None:
        super().__init__()
        if not isinstance(score, Score):
            raise UsageError(f"Attention needs a score, such as Dot() or General(7, 11), not {score!r}")
        self.score, self.kind, self.layer = score, kind, layer

    def prepare(self, keys: Float[Tensor, "B S K"], keep: Keep | None = None) -> Memory:
        """What can be computed once per sentence. Refuses rows with nothing to keep."""
        memory = self.score.prepare(keys, keep)
        if keep is not None:
            refuse_empty_rows(keep)
        return memory

    def forward(
        self,
        query: Float[Tensor, "B T Q"],
        keys: Float[Tensor, "B S K"] | Memory,
        values: Float[Tensor, "B S V"] | None = None,
        keep: Keep | None = None,
        *,
        position: int = 0,
        coverage: Float[Tensor, "B S"] | None = None,
        eye: Eye | None = None,
    ) -> Attended:
        """The values (by default the keys), weighted by the score. A prepared memory already contains `keep`."""
        if isinstance(keys, Memory) and keep is not None:
            raise UsageError("a prepared memory has its own keep; pass keep to prepare()")
        memory = keys if isinstance(keys, Memory) else self.prepare(keys, keep)
        check_steps(memory.keep, query)
        values = memory.keys if values is None else values
        if values.shape[:2] != memory.keys.shape[:2]:
            raise ShapeError(f"each key needs one value: keys {tuple(memory.keys.shape)}, values {tuple(values.shape)}")
        if self.score.needs_coverage and query.shape[1] > 1:
            return self._walk(query, memory, values, position, coverage, eye)
        scores, weights = self.score.weigh(query, memory, position, coverage)
        if eye is not None:
            weights = eye(Look(self.kind, self.layer, query, memory.keys, values, scores, weights, memory.keep))
        return Attended(weights.to(values.dtype) @ values, weights)

    def _walk(
        self,
        query: Tensor,
        memory: Memory,
        values: Tensor,
        position: int,
        coverage: Tensor | None,
        eye: Eye | None,
    ) -> Attended:
        """Step by step, because coverage depends on the weights of earlier steps."""
        coverage = no_coverage(memory) if coverage is None else coverage
        steps: list[Attended] = []
        for t in range(query.shape[1]):
            here = (
                memory
                if memory.keep is None or memory.keep.dim() == 2
                else memory._replace(keep=memory.keep[:, t, None])
            )
            step: Attended = self(query[:, t, None], here, values, position=position + t, coverage=coverage, eye=eye)
            coverage = coverage + step.weights[:, 0]
            steps.append(step)
        return Attended(torch.cat([s.context for s in steps], dim=1), torch.cat([s.weights for s in steps], dim=1))
