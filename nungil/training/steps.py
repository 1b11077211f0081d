"""The training loop as an iterator: each step is one update, and the caller decides what happens in between."""

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
PATIENCE = 10  # updates in a row with a gradient that is not finite, after which training fails


class Group(NamedTuple, Generic[Batch]):
    """The batches of one update, and the place to go on from after it.

    With several processes, `batches` are those of this one, and everything else is of all.
    """

    batches: Sequence[Batch]
    predictions: int
    epoch: int
    after: Place
    rows: Sequence[Rows] = ()


class Step(NamedTuple):
    """One update that was made, or skipped because its gradient was not finite."""

    number: int
    epoch: int
    loss: float  # per prediction, without smoothing
    accuracy: float
    predictions: int
    gradient: float  # its norm before clipping
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
    shares: int = 1  # of a batch, each with a thread of its own


def train(
    model: nn.Module,
    groups: Iterable[Group[Batch]],
    loss_of: Callable[[Batch], Loss],
    optimizer: torch.optim.Optimizer,
    rules: Rules,
    done: int = 0,
) -> Iterator[Step]:
    """Endless updates, numbered from `done` + 1.

    The loss is summed over predictions and divided by those of the whole group, so dividing a batch into micro-batches,
    or among threads or processes, changes nothing. An update whose gradient is not finite is skipped; too many in a row
    are an error.
    """
    parameters = [parameter for parameter in model.parameters() if parameter.requires_grad]
    failed = 0
    with sharing(rules.shares) as shares:
        for number, group in enumerate(groups, done + 1):
            model.train()
            optimizer.zero_grad(set_to_none=True)
            losses: list[Loss] = []
            for place, batch in enumerate(group.batches):
                seed = seed_of(rules.seed, number, place, rules.ranks.rank)  # no random state needs to be kept
                losses += shares.learn(loss_of, batch, group.predictions, parameters, seed)
            rules.ranks.add_gradients(model.parameters())
            gradient = float(nn.utils.clip_grad_norm_(model.parameters(), rules.clip))
            rate = rules.rate_of(number)
            finite = gradient - gradient == 0
            if finite:
                _descend(optimizer, rate)
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


def _descend(optimizer: torch.optim.Optimizer, rate: float) -> None:
    """Change the weights, at this learning rate."""
    for part in optimizer.param_groups:
        part["lr"] = rate
    optimizer.step()
