"""Dropout whose masks are cheap. Srivastava et al. (2014).

On a processor, torch draws each number of a mask by itself, and that took a tenth of a training step. Here one number
is drawn by torch, so that whoever seeds torch has seeded this; a fast generator makes the mask from it, a byte for each
number. A mask is kept as bytes, and multiplies the bits of a number rather than the number: whole numbers of one size
are multiplied many at a time, where a mixed product converts them one by one.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nungil.attention.draws import generator

LEVELS = 256  # of a byte that is drawn
ROW = 1_024  # numbers that have a limit each
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # whole numbers by their size in bytes


class Dropout(nn.Module):
    """While training, zero a share of the numbers and scale the others up; afterwards, nothing."""

    def __init__(self, share: float) -> None:
        super().__init__()
        self.share = share

    def forward(self, numbers: Tensor) -> Tensor:
        """The numbers, some of them zero."""
        if not self.training or self.share == 0.0:
            return numbers
        if numbers.device.type != "cpu" or torch.compiler.is_compiling():
            return nn.functional.dropout(numbers, self.share)
        mask, scale = cheap_mask(numbers.shape, self.share), 1 / (1 - self.share)
        dropped: Tensor = _Masked.apply(numbers, mask, scale)  # type: ignore[no-untyped-call]
        return dropped

    def extra_repr(self) -> str:
        """The share, when the model is printed."""
        return f"share={self.share}"


def cheap_mask(shape: torch.Size, share: float) -> Tensor:
    """Bytes: 1 where a number stays, and 0 where it goes.

    A share is rarely so many of 256. Limits are rounded up or down by chance, so that each number goes with just the
    probability that was asked for.
    """
    count = shape.numel()
    rows = -(-count // ROW)
    seed = int(torch.randint(2**63 - 1, (), generator=generator()))
    words = np.random.SFC64(seed).random_raw(rows * ROW // 8)
    draws = torch.from_numpy(words.view(np.int8)).view(rows, ROW)
    limits = (share * LEVELS + torch.rand(ROW, generator=generator())).floor_() - LEVELS // 2
    mask = torch.empty_like(draws)
    torch.ge(draws, limits.clamp_(max=LEVELS // 2 - 1).to(torch.int8), out=mask)
    return mask.view(-1)[:count].view(shape)


class _Masked(torch.autograd.Function):
    """A product whose second factor needs no gradient, and so no bookkeeping."""

    @staticmethod
    def forward(ctx: Any, numbers: Tensor, mask: Tensor, scale: float) -> Tensor:
        ctx.save_for_backward(mask)
        ctx.scale = scale
        return _times(numbers, mask, scale)

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None, None]:
        (mask,) = ctx.saved_tensors
        return _times(gradient, mask, ctx.scale), None, None


def _times(numbers: Tensor, mask: Tensor, scale: float) -> Tensor:
    """numbers × mask × scale: all bits of a number stay, or none does.

    In the place of the mask's copy: a processor is slow to read and write at places a multiple of 4,096 bytes apart, as
    those of new memory often are.
    """
    bits = BITS[numbers.element_size()]
    return mask.to(bits).mul_(numbers.view(bits)).view(numbers.dtype).mul_(scale)
