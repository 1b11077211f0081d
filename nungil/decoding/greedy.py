"""Greedy search: the most probable token, again and again."""

from typing import NamedTuple, TypeVar

import torch
from jaxtyping import Bool, Int
from torch import Tensor

from nungil.attention import Eye
from nungil.decoding.stepper import Stepper
from nungil.model.results import State
from nungil.text.tokenizers.base import EOS, PAD, SOS

S = TypeVar("S", bound=State)
NEVER = [PAD, SOS]  # no target holds them, so none is written


class Found(NamedTuple):
    """The ids of one sentence without marks, their log-probability with that of the end, and whether it ended."""

    ids: list[int]
    log_probability: float
    finished: bool


@torch.inference_mode()
def greedy(
    model: Stepper[S],
    source: Int[Tensor, "B S"],
    keep: Bool[Tensor, "B S"],
    limits: Int[Tensor, " B"],
    eye: Eye | None = None,
) -> list[Found]:
    """Translate a batch; each sentence ends at `<eos>`, or when it has as many tokens as its limit.

    Sentences that have ended leave the batch when they are half of it, unless an eye watches: to it, rows stay.
    """
    state = model.start(source, keep, eye)
    rows = torch.arange(len(source), device=source.device)
    last, running = torch.full_like(rows, SOS), torch.ones_like(rows, dtype=torch.bool)
    written = torch.full((len(rows), int(limits.max())), PAD, device=source.device)
    total = torch.zeros(len(rows), dtype=torch.float64, device=source.device)
    finished = torch.zeros_like(running)
    for length in range(written.shape[1] + 1):
        stepped = model.step(last, state, eye)
        state = stepped.state
        best, last = _most_probable(stepped.log_probs)
        ends, may = last == EOS, length < limits[rows]
        total[rows[running & (ends | may)]] += best[running & (ends | may)].double()
        finished[rows[running & ends]] = True
        running = running & ~ends & may
        if not bool(running.any()):
            break
        written[rows[running], length] = last[running]
        if eye is None and 2 * int(running.sum()) <= len(rows):
            state, rows, last = state.select(running.nonzero()[:, 0]), rows[running], last[running]
            running = torch.ones_like(rows, dtype=torch.bool)
    ids = ([token for token in row if token != PAD] for row in written.tolist())
    return [Found(*parts) for parts in zip(ids, total.tolist(), finished.tolist(), strict=True)]


def _most_probable(log_probs: Tensor) -> tuple[Tensor, Tensor]:
    allowed = log_probs.clone()
    allowed[:, NEVER] = -torch.inf
    best, token = allowed.max(dim=-1)
    return best, token
