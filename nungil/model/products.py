"""What products are computed in, where torch does not see to it itself or should not."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

Precision = Literal["fp32", "bf16"]
SearchPrecision = Literal["fp32", "bf16", "int8"]  # whole numbers are good enough to search with, not to learn with


def computing_in(precision: Precision) -> AbstractContextManager[object]:
    """Within it, products are of this precision."""
    return torch.autocast("cpu", dtype=torch.bfloat16) if precision == "bf16" else nullcontext()


def product_type(own: torch.dtype) -> torch.dtype:
    """bfloat16 where that was asked for (`computing_in`), else the numbers' own type."""
    shortened = own == torch.float32 and torch.is_autocast_enabled("cpu")
    return torch.get_autocast_dtype("cpu") if shortened else own


def in_full() -> torch.autocast:
    """Within it nothing is shortened to bfloat16, not even what is no product: states are handed on step by step."""
    return torch.autocast("cpu", enabled=False)
