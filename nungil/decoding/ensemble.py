"""Ensemble: several translators that search as one. At each step a token has the mean of their probabilities.

Models that began with other weights err in other places; where they are about as good, their mean errs less than each
of them. It costs as many times the work as there are models.
"""

import math
from collections.abc import Callable, Sequence
from typing import Any, NamedTuple

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from nungil.attention import Eye
from nungil.decoding.found import Found
from nungil.decoding.native import Ids, Native
from nungil.decoding.settings import SearchSettings
from nungil.decoding.stepper import Stepper
from nungil.errors import UsageError
from nungil.model.quick.build import Ready
from nungil.model.results import State, Stepped


class JointState(NamedTuple):
    """What each of them remembers."""

    members: tuple[State, ...]

    def select(self, rows: Int[Tensor, " N"]) -> "JointState":
        """The state of some sentences of the batch, in the order given."""
        return self._each(lambda state: state.select(rows))

    def spread(self, beam: int) -> "JointState":
        """The state of each sentence so many times, side by side."""
        return self._each(lambda state: state.spread(beam))

    def regroup(self, rows: Int[Tensor, " N"], sentences: Int[Tensor, " A"] | None = None) -> "JointState":
        """After `spread`: the state of some rows."""
        return self._each(lambda state: state.regroup(rows, sentences))

    def _each(self, change: Callable[[State], State]) -> "JointState":
        return JointState(tuple(map(change, self.members)))


class Joint:
    """A translator that is the mean of several, step by step."""

    def __init__(self, members: Sequence[Stepper[Any]]) -> None:
        self.members = tuple(members)

    def start(self, source: Int[Tensor, "B S"], keep: Bool[Tensor, "B S"], eye: Eye | None = None) -> JointState:
        """Each reads the source."""
        _refuse_to_be_watched(eye)
        return JointState(tuple(member.start(source, keep) for member in self.members))

    def step(self, last: Int[Tensor, " B"], state: JointState, eye: Eye | None = None) -> Stepped[JointState]:
        """The logarithm of the mean of their probabilities, which are as good as scores."""
        _refuse_to_be_watched(eye)
        stepped = [member.step(last, own) for member, own in zip(self.members, state.members, strict=True)]
        shares_MBV = torch.stack([one.log_probs for one in stepped])
        mean_BV = shares_MBV.logsumexp(dim=0).sub_(math.log(len(stepped)))
        return Stepped(mean_BV, JointState(tuple(one.state for one in stepped)))


class Ensemble:
    """nungil's own search over several models of the same tokens."""

    def __init__(self, models: Sequence[Stepper[Any]]) -> None:
        self._members = [(model, Ready(model)) for model in models]

    def search(
        self,
        sources: Sequence[Ids],
        longest: Sequence[int],
        settings: SearchSettings,
        prefixes: Sequence[Ids] | None = None,
    ) -> list[list[Found]]:
        """The best translations of each sentence, the best first, in the order of the sentences."""
        refuse_coverage(settings)
        tokens = settings.beam * sum(map(len, sources))
        made = [ready.made_for(settings.precision, tokens) for _, ready in self._members]
        members = [quick or model for quick, (model, _) in zip(made, self._members, strict=True)]
        left = settings.precision if settings.precision == "bf16" and None in made else "fp32"  # of whom it is not yet
        around = settings.model_copy(update={"precision": left})
        return Native(Joint(members)).search(sources, longest, around, prefixes)


def refuse_coverage(settings: SearchSettings) -> None:
    """It counts where a model looks, and several look in several places."""
    if settings.coverage_penalty:
        raise UsageError("a coverage penalty counts where one model looks; leave it out, or ask one model")


def _refuse_to_be_watched(eye: Eye | None) -> None:
    if eye is not None:
        raise UsageError("several models have no look in common; look at each of them by itself")
