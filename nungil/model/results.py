"""What models give back: encoded sentences, decoded features, one step of decoding, a classified text."""

from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor

# Sizes   B batch   S source steps   T target steps   W width   F of a feature   V vocabulary   L layers   C classes

S = TypeVar("S", bound="State")  # not `Self`: the checks of the test run cannot follow it outside a decorated class


@runtime_checkable
class State(Protocol):
    """What a translator remembers between two steps of decoding."""

    def select(self: S, rows: Int[Tensor, " N"]) -> S:
        """The state of some sentences of the batch, in the order given."""
        ...

    def spread(self: S, beam: int) -> S:
        """The state of each sentence so many times, side by side. What is of the source may be shared by them."""
        ...

    def regroup(self: S, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> S:
        """After `spread`: the state of some rows. They are of the same sentences as before, or of those given."""
        ...


class Encoded(NamedTuple):
    """A batch of sentences as an encoder leaves it.

    `last` is the final state of each layer, both directions joined; encoders without one give the mean of the states.
    `cell` is the same of an LSTM's memory cell.
    """

    states: Float[Tensor, "B S W"]
    keep: Bool[Tensor, "B S"]
    last: Float[Tensor, "L B W"]
    cell: Float[Tensor, "L B W"] | None = None


class Decoded(NamedTuple):
    """A feature per target step, one linear layer before the vocabulary, and where it was read from.

    `weights` are None where nothing reads a source (plain) or where there are many (a Transformer; use an eye).
    """

    features: Float[Tensor, "B T F"]
    weights: Float[Tensor, "B T S"] | None = None


@dataclass(frozen=True)  # the checks of the test run know no generic NamedTuple
class Stepped(Generic[S]):
    """One step of decoding: a score for each next token, the state to go on from, where it looked."""

    logits: Float[Tensor, "B V"]
    state: S
    weights: Float[Tensor, "B S"] | None = None

    @property
    def log_probs(self) -> Float[Tensor, "B V"]:
        """The scores as log-probabilities. A search needs those of a few tokens only."""
        return self.logits.log_softmax(dim=-1)


class Classified(NamedTuple):
    """A score per class, before softmax, and where the pooling looked; None where it does not look.

    Where a reader of n-grams takes part, the scores are the mean of what the two say: `deep` and `wide`.
    """

    logits: Float[Tensor, "B C"]
    weights: Float[Tensor, "B S"] | None = None
    deep: Float[Tensor, "B C"] | None = None
    wide: Float[Tensor, "B C"] | None = None
