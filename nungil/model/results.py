"""What models return: encoded sentences, decoded features, one step of decoding, a classified text."""

from dataclasses import dataclass
from typing import Generic, NamedTuple, Protocol, TypeVar, runtime_checkable

from jaxtyping import Bool, Float, Int
from torch import Tensor

# Sizes   B batch   S source steps   T target steps   W width   F of a feature   V vocabulary   L layers   C classes

S = TypeVar("S", bound="State")  # not `Self`: the shape checks of the tests do not support it here


@runtime_checkable
class State(Protocol):
    """What a translator remembers between two steps of decoding."""

    def select(self: S, rows: Int[Tensor, " N"]) -> S:
        """The state of some sentences of the batch, in the order given."""
        ...

    def spread(self: S, beam: int) -> S:
        """The state of each sentence `beam` times, side by side. What concerns the source may be shared."""
        ...

    def regroup(self: S, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> S:
        """After `spread`: the state of some rows; of all sentences as before, or only of `sentences`."""
        ...


class Encoded(NamedTuple):
    """A batch of sentences after the encoder.

    `last` is the final state of each layer, both directions joined, or the mean of the states where there is none.
    `cell` is the same of an LSTM's memory cell.
    """

    states: Float[Tensor, "B S W"]
    keep: Bool[Tensor, "B S"]
    last: Float[Tensor, "L B W"]
    cell: Float[Tensor, "L B W"] | None = None


class Decoded(NamedTuple):
    """A feature per target step, which the output layer turns into scores, and the attention it was made with.

    `weights` are None without attention (plain), and with many heads (Transformers: use an eye).
    """

    features: Float[Tensor, "B T F"]
    weights: Float[Tensor, "B T S"] | None = None


@dataclass(frozen=True)  # the shape checks of the tests do not support generic NamedTuples
class Stepped(Generic[S]):
    """One step of decoding: a score for each next token, the new state, and attention weights as in `Decoded`."""

    logits: Float[Tensor, "B V"]
    state: S
    weights: Float[Tensor, "B S"] | None = None

    @property
    def log_probs(self) -> Float[Tensor, "B V"]:
        """The scores as log-probabilities, computed on demand: a search may need few of them."""
        return self.logits.log_softmax(dim=-1)


class Classified(NamedTuple):
    """A score per class, before softmax, and the weights of the pooling (None without attention).

    With n-grams, the scores are the mean of `deep`, from the encoder, and `wide`, from the n-grams.
    """

    logits: Float[Tensor, "B C"]
    weights: Float[Tensor, "B S"] | None = None
    deep: Float[Tensor, "B C"] | None = None
    wide: Float[Tensor, "B C"] | None = None
