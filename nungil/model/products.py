"""The precision of matrix products: fp32, or bfloat16 through autocast."""

from contextlib import AbstractContextManager, nullcontext
from typing import Literal

import torch

Precision = Literal["fp32", "bf16"]
SearchPrecision = Literal["fp32", "bf16", "int8"]  # int8 is good enough for searching, not for training


def computing_in(precision: Precision, shared: bool = False) -> AbstractContextManager[object]:
    """A context in which matrix products have this precision; `shared` if other threads train the same weights.

    torch keeps one cache of shortened weights for all threads, and the first thread to leave its context empties it. A
    weight that is used at every step would then be shortened once or several times, and its gradient summed in bfloat16
    or in single precision, as it happens. So threads that share weights do without.
    """
    if precision == "fp32":
        return nullcontext()
    return torch.autocast("cpu", dtype=torch.bfloat16, cache_enabled=not shared)


def product_type(own: torch.dtype) -> torch.dtype:
    """bfloat16 inside `computing_in("bf16")`, else the given type."""
    shortened = own == torch.float32 and torch.is_autocast_enabled("cpu")
    return torch.get_autocast_dtype("cpu") if shortened else own


def in_full() -> torch.autocast:
    """A context without autocast: recurrent states, for example, must not be rounded at every step."""
    return torch.autocast("cpu", enabled=False)
