"""From scores to a context: softmax over the kept steps, then a weighted sum of the values.

There is one mask in the package, `keep`: True where there is a real token that may be seen, of shape (B, S) for all
target steps or (B, T, S) for each one separately.
"""

import math
from typing import NamedTuple

import torch
from jaxtyping import Bool, Float
from torch import Tensor

from nungil.attention.softmax import softmax
from nungil.errors import ShapeError

# Sizes   B batch   T target steps   S source steps   V width of a value
Keep = Bool[Tensor, "B S"] | Bool[Tensor, "B T S"]


class Attended(NamedTuple):
    """What was read, and where it was read from."""

    context: Float[Tensor, "B *heads T V"]
    weights: Float[Tensor, "B *heads T S"]


def attend(
    scores: Float[Tensor, "B *heads T S"], values: Float[Tensor, "B *heads S V"], keep: Keep | None = None
) -> Attended:
    """Turn scores into weights over the kept steps, and mix the values by them.

    A row with nothing to keep gives NaN. `Attention` and `MultiHeadAttention` refuse such rows; this function does not.
    """
    weights = weigh(scores, keep)
    return Attended(weights @ values, weights)


def weigh(scores: Float[Tensor, "B *heads T S"], keep: Keep | None = None) -> Float[Tensor, "B *heads T S"]:
    """Softmax over the kept source steps; hidden ones get a weight of exactly 0."""
    return softmax(hide(scores, keep))


def hide(scores: Float[Tensor, "B *heads T S"], keep: Keep | None = None) -> Float[Tensor, "B *heads T S"]:
    """The scores, −∞ where a step is hidden.

    −∞ is added rather than filled in, because a sum costs nothing in the backward pass.
    """
    return scores if keep is None else scores + hidden(keep, scores)


def hidden(keep: Keep, like: Tensor) -> Tensor:
    """0 where a step is kept and −∞ where it is hidden, in the shape and dtype of scores like these."""
    rows = keep[:, None, :] if keep.dim() == 2 else keep
    rows = rows[:, None] if like.dim() == 4 else rows
    return torch.zeros_like(rows, dtype=like.dtype).masked_fill_(~rows, -math.inf)


def causal_keep(T: int, S: int, device: torch.device | None = None) -> Bool[Tensor, "1 T S"]:
    """Query t sees keys up to t + S − T: aligned at the lower right, so that a single query sees all keys."""
    if T > S:
        raise ShapeError(f"causal attention needs at least as many keys as queries: queries {T}, keys {S}")
    return torch.ones(T, S, dtype=torch.bool, device=device).tril(diagonal=S - T)[None]


def check_keep(keep: Keep, keys: Tensor) -> None:
    """Refuse a mask of another type or shape than (B, S) or (B, T, S)."""
    if keep.dtype != torch.bool:
        raise ShapeError(f"keep must be of torch.bool, True where there is a real token, not {keep.dtype}")
    if keep.dim() not in (2, 3) or (keep.shape[0], keep.shape[-1]) != tuple(keys.shape[:2]):
        raise ShapeError(
            f"keep {tuple(keep.shape)} does not fit keys {tuple(keys.shape)}: it is (batch, source steps) or "
            "(batch, target steps, source steps)"
        )


def check_steps(keep: Keep | None, query: Tensor) -> None:
    """Refuse a (B, T, S) mask for another number of target steps than the query has."""
    if keep is not None and keep.dim() == 3 and keep.shape[1] != query.shape[1]:
        raise ShapeError(
            f"keep {tuple(keep.shape)} and query {tuple(query.shape)} have different numbers of target steps"
        )


def refuse_empty_rows(keep: Keep) -> None:
    """Refuse a row with nothing to keep: its softmax would be NaN, which would spread to the whole model."""
    if torch.compiler.is_compiling():  # a check of values would break the graph
        return
    kept = keep.any(dim=-1)
    if bool(kept.all()):
        return
    first = (~kept).nonzero()[0].tolist()
    step = f", target step {first[1]}" if len(first) == 2 else ""
    raise ShapeError(
        f"keep {tuple(keep.shape)} has a row with nothing to keep (sentence {first[0]}{step}, counted from 0): "
        "every source step is hidden, so there is nothing to attend to; leave empty sentences out of the batch"
    )
