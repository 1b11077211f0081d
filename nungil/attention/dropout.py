"""Dropout with fast masks. Srivastava et al. (2014).

On a CPU torch draws each number of a mask separately, which took a tenth of a training step. Here torch's generator
only draws a seed, so that seeding torch still determines the mask; a fast generator then draws a byte per number. The
mask is kept as bytes and multiplied with the bits of the numbers as integers, which is vectorised, as a product of
mixed types is not.
"""

from typing import Any

import numpy as np
import torch
from torch import Tensor, nn
from torch.autograd.function import once_differentiable

from nungil.attention.draws import generator

LEVELS = 256  # values of a random byte
ROW = 1_024  # numbers with a threshold of their own, repeated in every row
BITS = {2: torch.int16, 4: torch.int32, 8: torch.int64}  # integers by their size in bytes


class Dropout(nn.Module):
    """In training, zero a share of the numbers and scale up the others; else do nothing."""

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
    """Bytes: 1 where a number is kept, 0 where it is dropped.

    The share is rarely a multiple of 1/256. So thresholds are rounded up or down at random, which drops each number
    with exactly the probability asked for.
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
    """The product with a mask, which needs no gradient."""

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
    """numbers × mask × scale, where mask × number is computed on the bits of the number.

    Written over the copy of the mask: reading and writing at addresses a multiple of 4,096 bytes apart, as newly
    allocated memory often is, would be slow.
    """
    bits = BITS[numbers.element_size()]
    return mask.to(bits).mul_(numbers.view(bits)).view(numbers.dtype).mul_(scale)
