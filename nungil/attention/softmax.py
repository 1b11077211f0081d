"""Softmax as attention needs it: over rows that are often shorter than a register of the processor.

torch's own takes ten times as long over 15 numbers as over 16, and longer in bfloat16 than in single precision. So
short rows are filled up to a register with −∞, which gets nothing, and those of bfloat16 are computed in single
precision.
"""

import math

import torch
from jaxtyping import Float
from torch import Tensor
from torch.nn.functional import pad

SHORT = 16  # numbers of a register of 64 bytes
LONG = 64  # a row of so many in bfloat16 is not worth a copy in single precision


def softmax(scores: Float[Tensor, "*rows S"]) -> Float[Tensor, "*rows S"]:
    """exp(e − max) / Σ exp(e − max), over the last axis; −∞ gets exactly nothing."""
    S = scores.shape[-1]
    if scores.device.type != "cpu" or S >= LONG or _learns_in_full(scores):
        return scores.softmax(dim=-1)
    wide = scores.to(torch.promote_types(scores.dtype, torch.float32))
    filled = wide if S >= SHORT else pad(wide, (0, SHORT - S), value=-math.inf)
    return filled.softmax(dim=-1)[..., :S].to(scores.dtype)


def _learns_in_full(scores: Tensor) -> bool:
    """Whether this is for learning in single precision, where two processes learn what one does to the third digit.

    Filled rows round otherwise, and the gradient of a key's bias is nothing but what was rounded: AdamW makes it large.
    """
    return scores.requires_grad and scores.dtype != torch.bfloat16
