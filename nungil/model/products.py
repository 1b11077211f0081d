"""What products are computed in, where torch does not see to it itself or should not."""

import torch


def product_type(own: torch.dtype) -> torch.dtype:
    """bfloat16 where that was asked for (`nungil.training.precision.computing_in`), else the numbers' own type."""
    shortened = own == torch.float32 and torch.is_autocast_enabled("cpu")
    return torch.get_autocast_dtype("cpu") if shortened else own


def in_full() -> torch.autocast:
    """Within it nothing is shortened to bfloat16, not even what is no product: states are handed on step by step."""
    return torch.autocast("cpu", enabled=False)
