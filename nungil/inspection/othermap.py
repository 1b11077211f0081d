"""OtherMap: another map of a classifier, as different as can be found, that gives the same answer.

Jain and Wallace (2019), "adversarial attention": if there is one, the first map was not the only possible reason.
Wiegreffe and Pinter (2019) add what it does not show: the model would have to arrive at such weights. Here the encoder
is frozen and the weights of the pooling are searched directly, which is the easier of the two.
"""

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
from jaxtyping import Float
from torch import Tensor

from nungil.errors import UsageError
from nungil.inspection.example import Example
from nungil.inspection.picture import Picture
from nungil.inspection.watching import view_of, watch
from nungil.model.classifier import AttentionClassifier

# Sizes   R starts   S source steps   K width of a state   C classes
ALLOWED = 0.01  # of the probabilities' total variation: what still counts as the same answer
DIFFERENT = math.log(2) / 2  # of JSD, whose bound is ln 2: from here on a map is another one
STARTS, ROUNDS, SECONDS = 24, 300, 5.0
RATE, MEMORY, TINY = 0.2, (0.9, 0.999), 1e-8  # of Adam
PRICE = 50.0  # of what is beyond the allowed


@dataclass(frozen=True)
class OtherMap:
    """The model's own row, the most different one with the same answer, and how different both are."""

    label: str
    source_tokens: tuple[str, ...]
    own: tuple[float, ...]
    other: tuple[float, ...]
    jsd: float  # Jensen and Shannon's divergence of the two rows, in nats: at most ln 2 = 0.693
    tvd: float  # half the sum of all changes in probability
    allowed: float
    tried: int  # maps that were looked at

    @property
    def found(self) -> bool:
        """Whether it is a different map, and not the same one once more."""
        return self.jsd >= DIFFERENT

    @property
    def verdict(self) -> str:
        """In a sentence."""
        same = f"(JSD {self.jsd:.2f} of at most 0.69; probabilities move by {self.tvd:.3f})"
        if self.found:
            return f"A very different map gives the same answer {same}: this map is not the only reason there could be."
        return f"No very different map with the same answer was found among {self.tried:,} {same}."

    def picture(self) -> Picture:
        """Both rows."""
        notes = (f"Other map: {self.verdict}", "Reading: the one row is the whole text; the encoder is frozen.")
        rows = (f"{self.label}, own", f"{self.label}, other")
        return Picture(
            "another map, the same answer", rows, self.source_tokens, np.array([self.own, self.other]), notes
        )

    def to_json(self) -> dict[str, Any]:
        """Plain values."""
        return {**vars(self), "found": self.found, "verdict": self.verdict}


def search_other_map(example: Example, allowed: float = ALLOWED, seed: int = 1, seconds: float = SECONDS) -> OtherMap:
    """Climb from several places at once towards the most different map, pushed back where the answer moves.

    The starts are the even map, each single word, and draws by the seed. It ends after so many rounds, or seconds.
    """
    model = example.model
    if not isinstance(model, AttentionClassifier):
        raise UsageError("the search for another map is for classifiers; a translator's rows depend on each other")
    watcher = watch(example)
    view = view_of(watcher)
    own = watcher.weights(view.kind, view.layer)[0, 0].clone()
    with torch.no_grad():
        read = example.read()
        both = model.decide(read.encoded, read.ids)
        answer = both.logits[0].softmax(dim=-1)
    states, wide = read.encoded.states[0], both.wide
    logits = _starts(len(own), seed).to(own.dtype).requires_grad_()
    adam = _Adam(logits)
    best, found, tried, end = (0.0, 0.0), own, 0, time.monotonic() + seconds
    for _ in range(ROUNDS):
        rows = logits.softmax(dim=-1) * own.sum()
        moved = (_answers(model, rows @ states, wide) - answer).abs().sum(dim=-1) / 2
        apart = jensen_shannon(own, rows)
        tried += len(rows)
        fitting = torch.where(moved <= allowed, apart, -1.0).detach()
        place = int(fitting.argmax())
        if float(fitting[place]) > best[0]:
            best, found = (float(fitting[place]), float(moved.detach()[place])), rows[place].detach()
        if time.monotonic() > end:
            break
        loss = (PRICE * (moved - allowed / 2).clamp(min=0) - apart).sum()
        adam.step(*torch.autograd.grad(loss, logits))  # and nothing is left on the model
    return OtherMap(
        example.written_tokens[0],
        example.source_tokens,
        tuple(own.double().tolist()),
        tuple(found.double().tolist()),
        *best,
        allowed,
        tried,
    )


def _starts(size: int, seed: int) -> Float[Tensor, "R S"]:
    """The even map, as many single words as fit, and draws for the rest."""
    single = 4.0 * torch.eye(size)[: STARTS // 2]
    drawn = 2.0 * torch.randn(STARTS - 1 - len(single), size, generator=torch.Generator().manual_seed(seed))
    return torch.cat([torch.zeros(1, size), single, drawn])


def _answers(
    model: AttentionClassifier, contexts: Float[Tensor, "R K"], wide: Float[Tensor, "1 C"] | None
) -> Float[Tensor, "R C"]:
    """The probabilities after each of these looks; what n-grams say does not depend on them."""
    deep = model.judge(contexts)
    return (deep if wide is None else (deep + wide) / 2).softmax(dim=-1)


class _Adam:
    """Kingma and Ba (2015), of one tensor. At its first step torch's own loads a compiler, which takes seconds."""

    def __init__(self, tensor: Tensor) -> None:
        self.tensor, self.steps = tensor, 0
        self.mean, self.square = torch.zeros_like(tensor), torch.zeros_like(tensor)

    @torch.no_grad()
    def step(self, gradient: Tensor) -> None:
        """Against the gradient."""
        self.steps += 1
        self.mean.lerp_(gradient, 1 - MEMORY[0])
        self.square.lerp_(gradient.square(), 1 - MEMORY[1])
        mean, square = (
            one / (1 - kept**self.steps) for one, kept in zip((self.mean, self.square), MEMORY, strict=True)
        )
        self.tensor -= RATE * mean / (square.sqrt() + TINY)


def jensen_shannon(own: Float[Tensor, " S"], rows: Float[Tensor, "R S"]) -> Float[Tensor, " R"]:
    """The divergence of each row from the own one, both made to sum to 1; in nats, at most ln 2."""
    left, right = own / own.sum(), rows / rows.sum(dim=-1, keepdim=True)
    middle = (left + right) / 2
    return (_relative(left.expand_as(right), middle) + _relative(right, middle)) / 2


def _relative(one: Tensor, other: Tensor) -> Float[Tensor, " R"]:
    tiny = torch.finfo(one.dtype).tiny
    return (one * (one.clamp(min=tiny) / other.clamp(min=tiny)).log()).sum(dim=-1)
