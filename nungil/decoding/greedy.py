"""Search with one hypothesis per sentence: each token is the most probable one (greedy search), or drawn."""

import math
from collections.abc import Callable
from functools import partial
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from nungil.attention import Eye
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.stepper import Picker, Stepper
from nungil.decoding.top import log_probabilities_, top
from nungil.model.quick.likeliest import Hide
from nungil.model.results import State
from nungil.text.tokenizers.base import EOS, PAD, SOS

S = TypeVar("S", bound=State)
ROOM = 64  # tokens of room at first
Choose = Callable[[Float[Tensor, "B V"]], Int[Tensor, " B"]]
# From the last tokens to the next ones, their log-probabilities (None if not wanted), and the new state.
Next = Callable[[Int[Tensor, " B"], S, Hide], tuple[Int[Tensor, " B"], Float[Tensor, " B"] | None, S]]


def most_probable(scores: Float[Tensor, "B V"]) -> Int[Tensor, " B"]:
    """The largest of each row."""
    return top(scores, 1)[1][:, 0]


@torch.inference_mode()
def greedy(
    model: Stepper[S],
    source: Int[Tensor, "B S"],
    keep: Bool[Tensor, "B S"],
    constraints: Constraints,
    choose: Choose = most_probable,
    eye: Eye | None = None,
    scores: bool = True,
) -> list[Found]:
    """Translate a batch; each sentence ends at `<eos>`, or is cut off when it is as long as it may be.

    Sentences that have ended leave the batch once they are a quarter of it, unless there is an eye, which needs all
    rows. Without `scores`, log-probabilities are not computed: a `Picker` is then faster.
    """
    follow = _picking(model) if not scores and choose is most_probable and eye is None else None
    follow = follow or _choosing(model, choose, eye, scores)
    state = model.start(source, keep, eye)
    rows = torch.arange(len(source))
    last, running = torch.full_like(rows, SOS), torch.ones_like(rows, dtype=torch.bool)
    most = int(constraints.longest.max())
    written = torch.full((len(rows), min(most + 1, ROOM)), PAD)
    paid = torch.zeros(written.shape, dtype=torch.float64)
    for length in range(most + 1):
        if length == written.shape[1]:  # grow as needed: few sentences become as long as they may be
            written, paid = pad(written, (0, length), value=PAD), pad(paid, (0, length))
        hide = partial(constraints.hide, written=written[rows, :length], sentences=rows)
        last, costs, state = follow(last, state, hide)
        ends, may = last == EOS, length < constraints.longest[rows]
        taken = running & (ends | may)
        written[rows[taken], length] = last[taken]
        if costs is not None:
            paid[rows[taken], length] = costs[taken].double()
        running = running & ~ends & may
        if not bool(running.any()):
            break
        if eye is None and 4 * int(running.sum()) <= 3 * len(rows):
            state, rows, last = state.select(running.nonzero()[:, 0]), rows[running], last[running]
            running = torch.ones_like(rows, dtype=torch.bool)
    return [_found(*parts, scores) for parts in zip(written.tolist(), paid.tolist(), strict=True)]


def _picking(model: Stepper[S]) -> Next[S] | None:
    """A step by a model that picks the most probable token itself; None if this model cannot."""
    if not isinstance(model, Picker) or not model.picks:
        return None

    def follow(last: Tensor, state: S, hide: Hide) -> tuple[Tensor, None, S]:
        tokens, after = model.pick(last, state, hide)
        return tokens, None, after

    return follow


def _choosing(model: Stepper[S], choose: Choose, eye: Eye | None, scores: bool) -> Next[S]:
    """A step that chooses by the scores of all tokens."""

    def follow(last: Tensor, state: S, hide: Hide) -> tuple[Tensor, Tensor | None, S]:
        stepped = model.step(last, state, eye)
        if not scores:
            return choose(hide(stepped.logits)), None, stepped.state
        told = hide(log_probabilities_(stepped.logits))
        tokens = choose(told)
        return tokens, told.gather(1, tokens[:, None])[:, 0], stepped.state

    return follow


def _found(written: list[int], paid: list[float], scores: bool) -> Found:
    finished = EOS in written
    tokens = written.index(EOS) + 1 if finished else written.index(PAD) if PAD in written else len(written)
    ids, log_probabilities = written[: tokens - finished], paid[:tokens]
    if not scores:
        return Found(ids, [], finished, math.nan, math.nan)
    return Found(ids, log_probabilities, finished, sum(log_probabilities) / max(1, tokens))
