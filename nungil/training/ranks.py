"""Ranks: the processes that train one model together. Each has a share of every batch; gradients are summed.

Why not DistributedDataParallel: it averages, but a loss per token of the whole batch needs a sum; every process must
run the model in every step, even one that has no row of a small batch; and it regroups gradients after the first step,
so that a resumed run of three processes would sum in another order. One all-reduce over all gradients has none of these
problems, and takes a fiftieth of a step.
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

MEETING = "NUNGIL_MEETING"  # names the file through which processes started by nungil meet; torchrun has its own way
PATIENT = timedelta(days=7)  # the first may validate for hours; a process that dies is noticed without a timeout

# The default arguments of this module keep the process group that exists when it is imported, which torch may do at any
# time. A group that is kept alive keeps its threads, and these abort the process when Python ends. So it is imported
# before there is a group.
HOLDS_ON = "torch.distributed.nn.functional"


@dataclass(frozen=True)
class Ranks:
    """This process among those that train together. The first leads: only it reports, validates and writes."""

    rank: int = 0
    world: int = 1
    here: int = 1  # processes on this machine

    @property
    def leads(self) -> bool:
        """Whether this is the first."""
        return self.rank == 0

    def add_gradients(self, parameters: Iterable[nn.Parameter]) -> None:
        """Give all processes the sum of their gradients. A missing gradient counts as zero."""
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
        """The maximum over all processes, so that all act on what one asks for. Waits for all of them."""
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
    """Whether the environment, set by torchrun or by `nungil --processes`, says that this process is one of several."""
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
