"""AdamW: which parameters decay, and its settings."""

import torch
from pydantic import Field
from torch import nn

from nungil.settings import Settings


class OptimizerSettings(Settings):
    """AdamW. Loshchilov and Hutter (2019)."""

    beta1: float = Field(0.9, ge=0, lt=1, description="Decay of the average of gradients.")
    beta2: float = Field(0.98, ge=0, lt=1, description="Decay of the average of their squares.")
    epsilon: float = Field(1e-9, gt=0, le=1, description="Added to a denominator, so that it is never zero.")
    weight_decay: float = Field(0.01, ge=0, le=1, description="Weight decay of matrices.")
    clip: float = Field(1.0, gt=0, le=1e6, description="Largest norm of a gradient; larger ones are scaled down.")


def make_optimizer(model: nn.Module, settings: OptimizerSettings) -> torch.optim.AdamW:
    """AdamW with weight decay for matrices, but not for biases and norms."""
    matrices = [parameter for parameter in model.parameters() if parameter.dim() > 1]
    vectors = [parameter for parameter in model.parameters() if parameter.dim() <= 1]
    groups = [
        {"params": matrices, "weight_decay": settings.weight_decay},
        {"params": vectors, "weight_decay": 0.0},
    ]
    return torch.optim.AdamW(
        [group for group in groups if group["params"]],
        lr=0.0,
        betas=(settings.beta1, settings.beta2),
        eps=settings.epsilon,
        fused=True,
    )
