"""Changing: the eye that rewrites rows of attention while a model runs, all of them or those of one step."""

from dataclasses import dataclass, field

import torch
from jaxtyping import Float
from torch import Tensor

from nungil.attention.eye import Eye, Look
from nungil.inspection.rows import Rewrite

# Sizes   B batch   *heads none or one axis   T target steps   S source steps


@dataclass(frozen=True)
class Where:
    """Which rows: of this kind of attention; of all layers, heads and steps that are not narrowed down."""

    kind: str
    layer: int | None = None
    head: int | None = None
    step: int | None = None  # from 0

    def holds(self, look: Look) -> bool:
        """Whether some of these rows may be in a look."""
        return look.kind == self.kind and self.layer in (None, look.layer)


@dataclass
class Changing:
    """Rewrites the rows that are asked for. Make a new one for each run of a model: it counts the steps it has seen.

    A decoder may run over all steps at once or one at a time; a beam reorders its rows, and is not for this eye.
    """

    rewrite: Rewrite
    where: Where
    _seen: dict[int, int] = field(default_factory=dict)

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """The weights to go on with."""
        if not self.where.holds(look):
            return look.weights
        steps = look.weights.shape[-2]
        first = self._seen.get(look.layer, 0)
        self._seen[look.layer] = first + steps
        if self.where.step is None:
            rows = slice(None)
        elif first <= self.where.step < first + steps:
            rows = slice(self.where.step - first, self.where.step - first + 1)
        else:
            return look.weights
        heads: slice | int = slice(None) if self.where.head is None or look.weights.dim() == 3 else self.where.head
        chosen = (..., rows, slice(None)) if look.weights.dim() == 3 else (slice(None), heads, rows)
        weights = look.weights.clone()
        weights[chosen] = self.rewrite(look.weights[chosen], torch.isfinite(look.scores)[chosen])
        return weights


@dataclass
class Several:
    """Some eyes, one after another: each sees what the one before it left."""

    eyes: tuple[Eye, ...]

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """What the last one leaves."""
        for eye in self.eyes:
            look = look._replace(weights=eye(look))
        return look.weights
