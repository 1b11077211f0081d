"""Rank correlation, Kendall's τ-b: do two rows put the same words first? No torch, no SciPy."""

import math
from collections.abc import Iterable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from nungil.errors import ShapeError


def kendall(one: ArrayLike, other: ArrayLike) -> float | None:
    """τ-b of Kendall (1945): 1 in the same order, −1 in the opposite one, ties made allowance for.

    None where it means nothing: of a row without two different numbers, or with one that is no number.
    """
    left, right = np.asarray(one, dtype=np.float64), np.asarray(other, dtype=np.float64)
    if left.ndim != 1 or left.shape != right.shape:
        raise ShapeError(f"Kendall's τ compares two rows of one length, not {left.shape} and {right.shape}")
    if not (np.isfinite(left).all() and np.isfinite(right).all()):
        return None
    signs_left, signs_right = _signs(left), _signs(right)
    untied = np.count_nonzero(signs_left), np.count_nonzero(signs_right)
    if 0 in untied:
        return None
    agreeing = int(np.sum(signs_left * signs_right, dtype=np.int64))  # more pairs in the same order than in the other
    return agreeing / math.sqrt(untied[0]) / math.sqrt(untied[1])


def _signs(row: NDArray[np.float64]) -> NDArray[np.int8]:
    """Of each number against each other: 1 larger, −1 smaller, 0 the same. Each pair is there twice."""
    return np.sign(row[:, None] - row).astype(np.int8)


def mean_of(numbers: Iterable[float | None]) -> float | None:
    """The mean of those that mean something; None if none does."""
    known = [number for number in numbers if number is not None]
    return math.fsum(known) / len(known) if known else None


def percentile_of(number: float, others: Iterable[float], same: float = 0.0) -> float:
    """The share of others that are smaller, in hundredths; one that is equal, up to `same`, counts for half."""
    listed = np.asarray(list(others), dtype=np.float64)
    smaller, equal = np.count_nonzero(listed < number - same), np.count_nonzero(np.abs(listed - number) <= same)
    return float(100 * (smaller + equal / 2) / len(listed))
