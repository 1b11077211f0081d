"""Stepper: all that a search needs from a model."""

from typing import Protocol, TypeVar, runtime_checkable

from jaxtyping import Bool, Int
from torch import Tensor

from nungil.attention import Eye
from nungil.model.quick.likeliest import Hide
from nungil.model.results import State, Stepped

S = TypeVar("S", bound=State)


class Stepper(Protocol[S]):
    """Reads a source once, then scores the next tokens one step at a time. Every translator is one."""

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> S:
        """The state before the first step."""
        ...

    def step(self, last: Int[Tensor, " B"], state: S, eye: Eye | None = None) -> Stepped[S]:
        """The scores of the tokens after the last one."""
        ...


@runtime_checkable
class Picker(Stepper[S], Protocol[S]):
    """A stepper that, if it `picks`, finds the most probable token without scoring all of them."""

    picks: bool

    def pick(self, last: Int[Tensor, " B"], state: S, hide: Hide) -> tuple[Int[Tensor, " B"], S]:
        """The most probable token after the last one, of those that are not hidden."""
        ...
