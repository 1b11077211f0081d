"""Joint: an ensemble of translators. At each step, the probability of a token is the mean over the members.

Models trained from other initial weights make other mistakes; if they are about equally good, their mean makes fewer.
The cost is that of all members.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from nungil.attention import Eye
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.errors import UsageError
from nungil.model.results import State, Stepped


class JointState(NamedTuple):
    """The state of each member."""

    members: tuple[State, ...]

    def select(self, rows: Int[Tensor, " N"]) -> "JointState":
        """The state of some sentences of the batch, in the order given."""
        return self._each(lambda state: state.select(rows))

    def spread(self, beam: int) -> "JointState":
        """The state of each sentence `beam` times, side by side."""
        return self._each(lambda state: state.spread(beam))

    def regroup(self, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> "JointState":
        """After `spread`: the state of some rows."""
        return self._each(lambda state: state.regroup(rows, sentences))

    def _each(self, change: Callable[[State], State]) -> "JointState":
        return JointState(tuple(map(change, self.members)))


class Joint:
    """A `Stepper` over several others."""

    def __init__(self, members: Sequence[Stepper[Any]]) -> None:
        self.members = tuple(members)

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> JointState:
        """Every member reads the source."""
        _refuse_to_be_watched(eye)
        return JointState(tuple(member.start(source, keep) for member in self.members))

    def step(self, last: Int[Tensor, " B"], state: JointState, eye: Eye | None = None) -> Stepped[JointState]:
        """The logarithm of the mean of their probabilities, as scores."""
        _refuse_to_be_watched(eye)
        stepped = [member.step(last, own) for member, own in zip(self.members, state.members, strict=True)]
        shares_MBV = torch.stack([one.log_probs for one in stepped])
        mean_BV = shares_MBV.logsumexp(dim=0).sub_(math.log(len(stepped)))
        return Stepped(mean_BV, JointState(tuple(one.state for one in stepped)))


def refuse_coverage(settings: SearchSettings) -> None:
    """Refuse a coverage penalty: it sums one model's attention, and each member has its own."""
    if settings.coverage_penalty:
        raise UsageError("a coverage penalty counts where one model looks; leave it out, or ask one model")


def _refuse_to_be_watched(eye: Eye | None) -> None:
    if eye is not None:
        raise UsageError("several models have no look in common; look at each of them by itself")
