"""Shares: the rows of a batch are divided among threads that compute gradients at the same time.

An update is some thousand operations, most of them small. Threads that split every operation wait for each other after
each; with half of the rows each, they wait once, for the sum of their gradients.
"""

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from threading import Barrier
from typing import Any

import torch
from torch import Tensor, nn

from nungil.attention.draws import own_draws
from nungil.batches.chance import seed_of
from nungil.training.losses import Loss

MOST = 2  # more have not been measured
WORTH_IT = 30e9  # multiplications in a forward pass; with fewer, the threads mostly wait for Python's lock

LossOf = Callable[[Any], Loss]
Learned = tuple[Loss, Sequence[Tensor | None]]


def shares_of(threads: int, parameters: int, positions: int) -> int:
    """How many shares to make of a batch of so many positions. The run's threads are divided evenly among them."""
    return MOST if threads % MOST == 0 and parameters * positions >= WORTH_IT else 1


class Shares:
    """Computes gradients: in this thread, or in those of a pool, each from a share of the rows."""

    def __init__(self, count: int, pool: ThreadPoolExecutor | None = None) -> None:
        self.count, self.pool = count, pool

    def learn(
        self, loss_of: LossOf, batch: Any, predictions: int, parameters: Sequence[nn.Parameter], seed: int
    ) -> list[Loss]:
        """Add the gradient of the loss per prediction to that of the parameters. Returns the loss of each share.

        All randomness comes from the seed, and gradients are added in the order of the shares, whichever finishes
        first, so the result is the same in every run, to the last bit.
        """
        if self.pool is None:
            torch.manual_seed(seed)
            loss = loss_of(batch)
            (loss.total / predictions).backward()  # type: ignore[no-untyped-call]
            return [loss]

        def learn_from(number: int, share: Any) -> Learned:
            with own_draws(seed_of(seed, number)):
                loss = loss_of(share)
                total = loss.total / predictions
                if number > 0:
                    return loss, torch.autograd.grad(total, parameters, allow_unused=True)
                total.backward()  # type: ignore[no-untyped-call]
                return loss, ()

        shares = dealt(batch, self.count)
        learned = list(self.pool.map(learn_from, range(len(shares)), shares))
        for _, gradients in learned[1:]:
            _add(parameters, gradients)
        return [loss for loss, _ in learned]


@contextmanager
def sharing(count: int) -> Iterator[Shares]:
    """Start a thread for each share, and divide torch's threads among them."""
    if count == 1:
        yield Shares(1)
        return
    threads, started = torch.get_num_threads(), Barrier(count)

    def begin() -> None:
        torch.get_num_threads()  # a thread that has not asked would take over the main thread's number later
        torch.set_num_threads(max(1, threads // count))
        started.wait()

    with ThreadPoolExecutor(count, "share", begin) as pool:
        try:
            list(pool.map(abs, range(count)))  # all have started when this returns
        except BaseException:
            started.abort()  # those that started would wait for ever for one that could not
            raise
        torch.set_num_threads(threads)
        yield Shares(count, pool)


def dealt(batch: Any, count: int) -> list[Any]:
    """Deal out rows in turn, so that every share has long and short ones. No share is empty."""
    return [
        type(batch)(*(side[number::count].contiguous() for side in batch))
        for number in range(min(count, len(batch[0])))
    ]


def _add(parameters: Sequence[nn.Parameter], gradients: Sequence[Tensor | None]) -> None:
    for parameter, gradient in zip(parameters, gradients, strict=True):
        if gradient is not None:
            parameter.grad = gradient.clone() if parameter.grad is None else parameter.grad.add_(gradient)
