"""Eye: an observer of attention, which may also change it, while a model runs.

Every forward takes `eye: Eye | None`. Wherever a model attends it calls the eye with a `Look`, and uses the weights
that the eye returns. Recording, explaining and intervening are done by eyes; without one there is no overhead.
"""

from typing import NamedTuple, Protocol, runtime_checkable

from jaxtyping import Bool, Float
from torch import Tensor

# Sizes   B batch   *heads none or one axis   T target steps   S source steps   Q, K, V width of query, key, value


class Look(NamedTuple):
    """The inputs and results of one attention step. A hidden source step has a score of −∞."""

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
    """Called with each look; returns the weights to use: the look's own or others."""

    def __call__(self, look: Look) -> Float[Tensor, "B *heads T S"]:
        """Return weights of the same shape."""
        ...
