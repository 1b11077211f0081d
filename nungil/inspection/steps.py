"""Step: a token as it was written, with its probability and what could have stood in its place. No torch."""

from collections.abc import Callable, Sequence
from math import prod

from pydantic import ConfigDict, Field

from nungil.settings import Settings


class Candidate(Settings):
    """A token that could have come next."""

    model_config = ConfigDict(strict=True)

    token: str
    probability: float = Field(ge=0, le=1, allow_inf_nan=False)


class Step(Settings):
    """A token that was written, its probability after all that stands before it, and the most probable ones there."""

    model_config = ConfigDict(strict=True)

    token: str
    probability: float = Field(ge=0, le=1, allow_inf_nan=False)
    candidates: tuple[Candidate, ...] = Field((), strict=False)  # the most probable first; JSON has a list


def regrouped(
    steps: Sequence[Step],
    group: Callable[[Sequence[str]], list[list[int]]],
    name: Callable[[Sequence[str], Sequence[int]], str],
) -> tuple[Step, ...]:
    """Steps of words: the probabilities of their pieces multiplied. A word of several pieces was never a candidate."""
    tokens = [step.token for step in steps]
    words = []
    for places in group(tokens):
        parts = [steps[place] for place in places]
        candidates = parts[0].candidates if len(parts) == 1 else ()
        probability = prod(part.probability for part in parts)
        words.append(Step(token=name(tokens, places), probability=probability, candidates=candidates))
    return tuple(words)
