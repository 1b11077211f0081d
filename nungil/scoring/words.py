"""From attention over pieces to links between words, which are separated by white space.

Sizes   T target pieces   S source pieces   V target words   U source words
"""

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nungil.errors import ShapeError, UsageError
from nungil.scoring.alignment import Link

Array = NDArray[np.float64]
Weights = NDArray[np.floating[Any]]
Keep = Sequence[bool] | NDArray[np.bool_]


def merge_to_words(
    weights: Weights, source_groups: Sequence[Sequence[int]], target_groups: Sequence[Sequence[int]]
) -> Array:
    """Weights (T, S) of pieces as weights (V, U) of words; a group has the places of the pieces of one word.

    The weight on a source word is the sum over its pieces, that of a target word the mean over its own (as Clark et
    al., 2019, do). Pieces in no group, such as `<eos>`, are left out, so a row may sum to less than 1. A word without
    pieces, in the truncated part of a text, has no weight, and so gets no link from `links_from_weights`.
    """
    checked_TS = _check(weights)
    sums_US = _membership("source", source_groups, checked_TS.shape[1])
    members_VT = _membership("target", target_groups, checked_TS.shape[0])
    means_VT = members_VT / np.maximum(members_VT.sum(axis=1, keepdims=True), 1)
    merged: Array = means_VT @ checked_TS @ sums_US.T
    return merged


def links_from_weights(
    weights: Weights, keep_source: Keep | None = None, keep_target: Keep | None = None
) -> list[Link]:
    """Link each row of weights (T, S), a target word, to the source word with the most weight; the first of equal ones.

    Rows and columns that are not kept are ignored, but counted. A row without weight has no link.
    """
    checked_TS = _check(weights)
    T, S = checked_TS.shape
    rows = np.flatnonzero(_keep("keep_target", keep_target, T))
    columns = np.flatnonzero(_keep("keep_source", keep_source, S))
    if not columns.size:
        return []
    kept = checked_TS[np.ix_(rows, columns)]
    best = kept.argmax(axis=1)
    looked = kept.max(axis=1) > 0
    return [(int(source), int(target)) for source, target in zip(columns[best][looked], rows[looked], strict=True)]


def _check(weights: Weights) -> Array:
    checked = np.asarray(weights, dtype=np.float64)
    if checked.ndim != 2:
        raise ShapeError(f"weights: of shape {checked.shape}; a matrix is needed, a row for each target word")
    bad = np.argwhere(~(np.isfinite(checked) & (checked >= 0)))
    if bad.size:
        row, column = bad[0]
        raise UsageError(f"weights: row {row}, column {column} is {checked[row, column]:g}; a weight is 0 or more")
    return checked


def _keep(name: str, keep: Keep | None, size: int) -> NDArray[np.bool_]:
    if keep is None:
        return np.ones(size, dtype=bool)
    if len(keep) != size:
        raise ShapeError(f"{name}: {len(keep)} for {size} in the weights; each needs one")
    return np.asarray(keep, dtype=bool)


def _membership(side: str, groups: Sequence[Sequence[int]], size: int) -> Array:
    """A row for each word, 1 where a piece is its own."""
    members = np.zeros((len(groups), size))
    for word, places in enumerate(groups):
        for place in places:
            if not 0 <= place < size:
                raise ShapeError(f"{side} word {word}: has piece {place}, but there are {size}, counted from 0")
            if members[:, place].any():
                raise UsageError(
                    f"{side} word {word}: piece {place} is already in a word; its weight would count twice"
                )
            members[word, place] = 1
    return members
