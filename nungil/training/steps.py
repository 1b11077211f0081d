"""The training loop as an iterator: a step is one update, and whoever asks for steps decides what to do in between."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Generic, NamedTuple, TypeVar

import torch
from torch import nn

from nungil.batches.chance import seed_of
from nungil.batches.order import Rows
from nungil.errors import DivergedError
from nungil.training.course import Place
from nungil.training.losses import Loss
from nungil.training.ranks import ALONE, Ranks
from nungil.training.shares import sharing

Batch = TypeVar("Batch")
PATIENCE = 10  # updates in a row whose gradient is not finite before a run is given up


class Group(NamedTuple, Generic[Batch]):
    """The batches of one update, and the place to go on from after it.

    Where several processes train together, `batches` are those of this one, the rest is of all.
    """

    batches: Sequence[Batch]
    predictions: int
    epoch: int
    after: Place
    rows: Sequence[Rows] = ()


class Step(NamedTuple):
    """One update, as it was made."""

    number: int
    epoch: int
    loss: float  # per prediction, without smoothing
    accuracy: float
    predictions: int
    gradient: float  # its length before clipping
    rate: float
    after: Place
    skipped: bool = False
    rows: Sequence[Rows] = ()


@dataclass(frozen=True)
class Rules:
    """What a step needs to know besides its batches."""

    rate_of: Callable[[int], float]
    clip: float
    seed: int
    ranks: Ranks = ALONE
    shares: int = 1  # of each batch, that are learned from at the same time


def train(
    model: nn.Module,
    groups: Iterable[Group[Batch]],
    loss_of: Callable[[Batch], Loss],
    optimizer: torch.optim.Optimizer,
    rules: Rules,
    done: int = 0,
) -> Iterator[Step]:
    """Updates without end, numbered from `done` + 1.

    The loss is summed over predictions and divided by those of the whole group, so that cutting a batch into
    micro-batches, or among threads or processes, changes nothing. A gradient that is not finite makes no update; too
    many in a row end the run.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    failed = 0
    with sharing(rules.shares) as shares:
        for number, group in enumerate(groups, done + 1):
            model.train()
            optimizer.zero_grad(set_to_none=True)
            losses = [
                loss
                for place, batch in enumerate(group.batches)
                for loss in shares.learn(
                    loss_of, batch, group.predictions, parameters, seed_of(rules.seed, number, place, rules.ranks.rank)
                )
            ]
            rules.ranks.add_gradients(model.parameters())
            gradient = float(nn.utils.clip_grad_norm_(model.parameters(), rules.clip))
            rate = rules.rate_of(number)
            finite = gradient - gradient == 0
            if finite:
                for part in optimizer.param_groups:
                    part["lr"] = rate
                optimizer.step()
            failed = 0 if finite else failed + 1
            loss, right = rules.ranks.total(sum(loss.plain for loss in losses), sum(loss.right for loss in losses))
            yield Step(
                number,
                group.epoch,
                loss / group.predictions,
                right / group.predictions,
                group.predictions,
                gradient,
                rate,
                group.after,
                not finite,
                group.rows,
            )
            if failed == PATIENCE:
                raise DivergedError(
                    f"training diverged: the gradient was not finite in {PATIENCE} updates in a row, up to {number}; "
                    "lower the learning rate (--set training.schedule.rate=…) or warm up longer"
                )
