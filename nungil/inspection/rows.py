"""What can be done to a row of attention. Every change keeps the row's sum, and what may be seen stays what it was.

Each is a function of rows and of what may be seen of them (True: not hidden by padding, order or a window).
"""

from collections.abc import Callable, Sequence

import torch
from jaxtyping import Bool, Float
from torch import Generator, Tensor

# Sizes   *B batch, and heads if there are any   S source steps
Rows = Float[Tensor, "*B S"]
Seen = Bool[Tensor, "*B S"]
Rewrite = Callable[[Tensor, Tensor], Tensor]


def flattened(rows: Rows, seen: Seen) -> Rows:
    """The same weight for each that may be seen."""
    return _spread(rows.sum(dim=-1, keepdim=True), seen)


def forced(rows: Rows, places: Sequence[int]) -> Rows:
    """All the weight on these places, in equal parts."""
    return _spread(rows.sum(dim=-1, keepdim=True), _at(places, rows))


def moved(rows: Rows, places: Sequence[int], to: Sequence[int], share: float = 1.0) -> Rows:
    """The weight of some places, or a share of it, on others, in equal parts."""
    leaving = share * rows * _at(places, rows)
    return rows - leaving + _spread(leaving.sum(dim=-1, keepdim=True), _at(to, rows))


def replaced(rows: Rows, seen: Seen, weights: Sequence[float]) -> Rows:
    """Other weights, made to sum to what the row did; what may not be seen stays unseen."""
    wanted = torch.tensor(weights, dtype=rows.dtype) * seen
    total = wanted.sum(dim=-1, keepdim=True)
    even = _spread(rows.sum(dim=-1, keepdim=True), seen)
    return torch.where(total > 0, wanted * (rows.sum(dim=-1, keepdim=True) / torch.where(total > 0, total, 1.0)), even)


def zeroed(rows: Rows, seen: Seen, places: Sequence[int]) -> Rows:
    """Nothing on these places, and the others larger in proportion; in equal parts if nothing was on them."""
    gone = _at(places, rows)
    rest = rows.masked_fill(gone, 0.0)
    total, left = rows.sum(dim=-1, keepdim=True), rest.sum(dim=-1, keepdim=True)
    others = seen & ~gone
    others = torch.where(others.any(dim=-1, keepdim=True), others, ~gone & torch.ones_like(seen))
    return torch.where(left > 0, rest * (total / torch.where(left > 0, left, 1.0)), _spread(total, others))


def permuted(rows: Rows, seen: Seen, generator: Generator) -> Rows:
    """The same weights in another order, drawn for each row anew, among those that may be seen."""
    drawn = torch.rand(rows.shape, generator=generator).masked_fill(~seen, 2.0).argsort(dim=-1)
    places = (~seen).int().argsort(dim=-1, stable=True)  # what may be seen first, in its own order
    return torch.zeros_like(rows).scatter(-1, places, rows.gather(-1, drawn))


def drawn(rows: Rows, seen: Seen, generator: Generator) -> Rows:
    """Weights drawn from all that sum to the same, each as likely as another (Dirichlet's distribution of ones)."""
    shares = torch.empty(rows.shape, dtype=torch.float64).exponential_(generator=generator).to(rows.dtype) * seen
    return rows.sum(dim=-1, keepdim=True) * shares / shares.sum(dim=-1, keepdim=True)


def seeded(seed: int) -> Generator:
    """Randomness of its own, so that the same seed gives the same draws whatever else is drawn."""
    return Generator().manual_seed(seed)


def _spread(total: Float[Tensor, "*B 1"], chosen: Seen) -> Rows:
    return total * chosen / chosen.sum(dim=-1, keepdim=True)


def _at(places: Sequence[int], rows: Rows) -> Bool[Tensor, "*B S"]:
    chosen = torch.zeros_like(rows, dtype=torch.bool)
    chosen[..., list(places)] = True
    return chosen
