"""Softmax for attention, whose rows are often shorter than a vector register.

On a CPU, torch's own takes ten times as long over 15 numbers as over 16, and longer in bfloat16 than in float32. So
short rows are padded to a register with −∞, which gets a weight of 0, and bfloat16 rows are computed in float32.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

SHORT = 16  # numbers of a register of 64 bytes
LONG = 64  # numbers of a row from which torch's own is as good


def softmax(scores: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows S"]:
    """exp(e − max) / Σ exp(e − max), over the last axis; −∞ gets exactly 0."""
    S = scores.shape[-1]
    if scores.device.type != "cpu" or S >= LONG or _learns_in_full(scores):
        return scores.softmax(dim=-1)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    filled = wide if S >= SHORT else pad(wide, (0, SHORT - S), value=-math.inf)
    return filled.softmax(dim=-1)[..., :S].to(scores.dtype)


def _learns_in_full(scores: Tensor) -> bool:
    """Whether this is training in float32, where padding is avoided because it changes the rounding.

    The gradient of a key's bias is zero but for rounding, and AdamW scales it up: training in two processes would
    differ visibly from training in one.
    """
    return scores.requires_grad and scores.dtype != torch.bfloat16
