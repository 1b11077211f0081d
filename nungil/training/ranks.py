"""Ranks: the processes that train one model together. Each has a share of every batch; their gradients are added up.

Not DistributedDataParallel. It averages, where a loss per token of the whole batch needs a sum; every process must walk
through the model in every step, also one that has no row of a small batch; and after its first step it cuts gradients
into other pieces, so that three processes add up in another order after a resume. One sum over all gradients at once
has none of that, and takes a fiftieth of a step.
"""

import importlib
import os
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from datetime import timedelta

import torch
import torch.distributed as dist
from torch import Tensor, nn

from nungil.errors import LostError

MEETING = "NUNGIL_MEETING"  # the file where the processes that nungil starts find each other; torchrun has its own way
PATIENT = timedelta(days=7)  # others may validate for hours; one that dies is noticed at once, without any limit

# Its functions' default is the group that there is when it is imported, which torch does as it pleases. A group that is
# held on to keeps its threads, and one of them that meets the end of Python ends the process with SIGABRT.
HOLDS_ON = "torch.distributed.nn.functional"


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together. The first leads: it alone talks, validates and writes."""

    rank: int = 0
    world: int = 1
    here: int = 1  # how many of them share this machine

    @property
    def leads(self) -> bool:
        """Whether this is the first."""
        return self.rank == 0

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give all processes the sum of their gradients. One without a gradient adds nothing."""
        if self.world == 1:
            return
        learned = [parameter for parameter in parameters if parameter.requires_grad]
        flat = torch.cat([_gradient(parameter).flatten() for parameter in learned])
        self._together(flat)
        for parameter, part in zip(
            learned, torch.split(flat, [parameter.numel() for parameter in learned]), strict=True
        ):
            parameter.grad = part.view_as(parameter)

    def total(self, *numbers: float) -> tuple[float, ...]:
        """The sums over all processes."""
        return self._of_all(numbers, dist.ReduceOp.SUM)

    def most(self, *numbers: float) -> tuple[float, ...]:
        """The largest of all processes: what one of them asks for, all of them do. Nobody goes on before the last."""
        return self._of_all(numbers, dist.ReduceOp.MAX)

    def _of_all(self, numbers: tuple[float, ...], how: dist.ReduceOp.RedOpType) -> tuple[float, ...]:
        if self.world == 1:
            return numbers
        values = torch.tensor(numbers, dtype=torch.float64)
        self._together(values, how)
        return tuple(values.tolist())

    def _together(self, values: Tensor, how: dist.ReduceOp.RedOpType = dist.ReduceOp.SUM) -> None:
        try:
            dist.all_reduce(values, op=how)
        except RuntimeError:  # gloo has no error of its own
            raise LostError(f"process {self.rank} of {self.world} ends because another one did") from None


ALONE = Ranks()


def _gradient(parameter: nn.Parameter) -> Tensor:
    return torch.zeros_like(parameter) if parameter.grad is None else parameter.grad


def started_together() -> bool:
    """Whether this process is one of several: torchrun says so in the environment, and so does `nungil --processes`."""
    told = all(name in os.environ for name in ("RANK", "WORLD_SIZE"))
    return told and int(os.environ["WORLD_SIZE"]) > 1 and (MEETING in os.environ or "MASTER_ADDR" in os.environ)


@contextmanager
def joined() -> Iterator[Ranks]:
    """Meet the other processes, if there are any."""
    if not started_together():
        yield ALONE
        return
    importlib.import_module(HOLDS_ON)
    rank, world = int(os.environ["RANK"]), int(os.environ["WORLD_SIZE"])
    where = f"file://{os.environ[MEETING]}" if MEETING in os.environ else "env://"
    dist.init_process_group("gloo", init_method=where, rank=rank, world_size=world, timeout=PATIENT)
    try:
        yield Ranks(rank, world, int(os.environ.get("LOCAL_WORLD_SIZE", world)))
    finally:
        dist.destroy_process_group()
