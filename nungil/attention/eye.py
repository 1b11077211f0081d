"""Eye: whatever watches attention, and may change it, while a model runs.

Every forward takes `eye: Eye | None`. Where a model attends it shows the eye a `Look` and goes on with the weights that
come back. Recording, explaining and intervening are all eyes; without one there is nothing to pay.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor

# Sizes   B batch   *heads none or one axis   T target steps   S source steps   Q, K, V width of query, key, value


class Look(NamedTuple):
    """One act of attention: who asked, what was there, how much was taken of each. A hidden step has a score of −∞."""

    kind: str
    layer: int
    query: Float[Tensor, "B *heads T Q"]
    keys: Float[Tensor, "B *heads S K"]
    values: Float[Tensor, "B *heads S V"]
    scores: Float[Tensor, "B *heads T S"]
    weights: Float[Tensor, "B *heads T S"]
    keep: Bool[Tensor, "B S"] | Bool[Tensor, "B T S"] | None = None


@runtime_checkable
class Eye(Protocol):
    """Sees a look and returns the weights to go on with: the look's own, or others in their place."""

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """Look, and return weights of the same shape."""
        ...
