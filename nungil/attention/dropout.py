"""Dropout whose masks are cheap. Srivastava et al. (2014).

On a processor, torch draws each number of a mask by itself, and that took a tenth of a training step. Here one number
is drawn from torch's generator, so that whoever seeds torch has seeded this; a fast generator makes the mask from it,
four numbers of 16 bits at a time.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

LEVELS = 2**16  # a mask is as exact as this: 0.1 is 0.100006


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
        dropped: Tensor = _Masked.apply(numbers, cheap_mask(numbers, self.share))  # type: ignore[no-untyped-call]
        return dropped

    def extra_repr(self) -> str:
        """The share, when the model is printed."""
        return f"share={self.share}"


def cheap_mask(like: Tensor, share: float) -> Tensor:
    """1 / kept where a number stays and 0 where it goes; `kept` is the share that stays, rounded as masks are."""
    limit = round(share * LEVELS)
    seed = int(torch.randint(2**63 - 1, ()))
    count = like.numel()
    words = np.random.Generator(np.random.SFC64(seed)).integers(0, 2**64, (count + 3) // 4, dtype=np.uint64)
    draws = torch.from_numpy(words.view(np.int16)[:count]).view(like.shape)
    mask = torch.empty(like.shape, dtype=like.dtype)
    torch.ge(draws, limit - LEVELS // 2, out=mask)
    return mask.mul_(LEVELS / (LEVELS - limit))


class _Masked(torch.autograd.Function):
    """A product whose second factor needs no gradient, and so no bookkeeping."""

    @staticmethod
    def forward(ctx: Any, numbers: Tensor, mask: Tensor) -> Tensor:
        ctx.save_for_backward(mask)
        return numbers * mask

    @staticmethod
    @once_differentiable
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        (mask,) = ctx.saved_tensors
        return gradient * mask, None
