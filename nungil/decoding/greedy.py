"""One hypothesis for each sentence: at every step the most probable token (greedy search), or one that is drawn."""

from collections.abc import Callable
from typing import TypeVar

import torch
from jaxtyping import Bool, Float, Int
from torch import Tensor
from torch.nn.functional import pad

from nungil.attention import Eye
from nungil.decoding.constraints import Constraints
from nungil.decoding.found import Found
from nungil.decoding.stepper import Stepper
from nungil.decoding.top import log_probabilities_, top
from nungil.model.results import State
from nungil.text.tokenizers.base import EOS, PAD, SOS

S = TypeVar("S", bound=State)
ROOM = 64  # tokens that there is room for at first
Choose = Callable[[Float[Tensor, "B V"]], Int[Tensor, " B"]]


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
) -> list[Found]:
    """Translate a batch; each sentence ends at `<eos>`, or when it has as many tokens as it may have.

    Sentences that have ended leave the batch when they are a quarter of it, unless an eye watches: to it, rows stay.
    """
    state = model.start(source, keep, eye)
    rows = torch.arange(len(source))
    last, running = torch.full_like(rows, SOS), torch.ones_like(rows, dtype=torch.bool)
    most = int(constraints.longest.max())
    written = torch.full((len(rows), min(most + 1, ROOM)), PAD)
    paid = torch.zeros(written.shape, dtype=torch.float64)
    for length in range(most + 1):
        if length == written.shape[1]:  # few sentences are as long as they may be: room grows with what is written
            written, paid = pad(written, (0, length), value=PAD), pad(paid, (0, length))
        stepped = model.step(last, state, eye)
        state = stepped.state
        scores = constraints.hide(log_probabilities_(stepped.logits), written[rows, :length], rows)
        last = choose(scores)
        cost = scores.gather(1, last[:, None])[:, 0]
        ends, may = last == EOS, length < constraints.longest[rows]
        taken = running & (ends | may)
        written[rows[taken], length] = last[taken]
        paid[rows[taken], length] = cost[taken].double()
        running = running & ~ends & may
        if not bool(running.any()):
            break
        if eye is None and 4 * int(running.sum()) <= 3 * len(rows):
            state, rows, last = state.select(running.nonzero()[:, 0]), rows[running], last[running]
            running = torch.ones_like(rows, dtype=torch.bool)
    return [_found(*parts) for parts in zip(written.tolist(), paid.tolist(), strict=True)]


def _found(written: list[int], paid: list[float]) -> Found:
    finished = EOS in written
    tokens = written.index(EOS) + 1 if finished else written.index(PAD) if PAD in written else len(written)
    ids, log_probabilities = written[: tokens - finished], paid[:tokens]
    return Found(ids, log_probabilities, finished, sum(log_probabilities) / max(1, tokens))
