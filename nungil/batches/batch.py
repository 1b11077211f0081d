"""Batch: rows of a store as padded tensors, with the marks that models expect."""

from collections.abc import Iterable, Iterator
from typing import Literal, NamedTuple, TypeAlias

import numpy as np
import torch
from jaxtyping import Bool, Int
from numpy.typing import NDArray
from torch import Tensor

from nungil.batches.order import Rows
from nungil.batches.recut import RecutColumn, RecutRows
from nungil.batches.store import Column, Store
from nungil.errors import CorpusError
from nungil.text.tokenizers.base import EOS, PAD, SOS

# Sizes   B batch   S source steps   T target steps
Marks = Literal["both", "eos", "none"]
_MARKS: dict[str, tuple[list[int], list[int]]] = {"both": ([SOS], [EOS]), "eos": ([], [EOS]), "none": ([], [])}


Stored: TypeAlias = Store | RecutRows


class PairBatch(NamedTuple):
    """Sentences and their translations.

    The decoder reads `<sos> 나는 눈을` and is to write `나는 눈을 <eos>`: position t reads only what stands
    before the word it predicts.
    """

    source: Int[Tensor, "B S"]
    source_keep: Bool[Tensor, "B S"]
    target_in: Int[Tensor, "B T"]
    target_out: Int[Tensor, "B T"]
    target_keep: Bool[Tensor, "B T"]


class LabelledBatch(NamedTuple):
    """Texts and their labels."""

    source: Int[Tensor, "B S"]
    source_keep: Bool[Tensor, "B S"]
    label: Int[Tensor, " B"]


def marked_lengths(lengths: Rows, marks: Marks) -> Rows:
    """The lengths of rows with their marks."""
    return lengths + sum(map(len, _MARKS[marks]))


def pair_batch(store: Stored, rows: Rows, marks: Marks = "both") -> PairBatch:
    """These rows of a store of pairs."""
    source, source_keep = pad([_marked(store.columns["source"], row, marks) for row in rows])
    target = [store.columns["target"].row(int(row)) for row in rows]
    target_in, target_keep = pad([np.concatenate([[SOS], ids]) for ids in target])
    target_out, _ = pad([np.concatenate([ids, [EOS]]) for ids in target])
    return PairBatch(source, source_keep, target_in, target_out, target_keep)


def pair_batches(store: Store, batches: Iterable[Rows], marks: Marks = "both") -> Iterator[PairBatch]:
    """A batch for each group of rows, in memory that does not grow with the store."""
    for rows in batches:
        yield pair_batch(store, rows, marks)
        store.release()  # rows are scattered: a few batches touch every page of the store


def labelled_batch(store: Stored, rows: Rows, marks: Marks = "none") -> LabelledBatch:
    """These rows of a store of labelled texts."""
    source, source_keep = pad([_marked(store.columns["source"], row, marks) for row in rows])
    label = store.columns["label"].ids[np.asarray(rows)].astype(np.int64)
    return LabelledBatch(source, source_keep, torch.from_numpy(label))


def pad(rows: list[NDArray[np.int64]]) -> tuple[Int[Tensor, "B S"], Bool[Tensor, "B S"]]:
    """Rows padded on the right to one length, and where there is a real token."""
    lengths = np.array([len(row) for row in rows])
    if not len(lengths) or lengths.min() == 0:
        raise CorpusError("an empty sentence cannot be attended to; leave it out of the batch")
    keep = np.arange(lengths.max())[None] < lengths[:, None]
    ids = np.full(keep.shape, PAD, dtype=np.int64)
    ids[keep] = np.concatenate(rows)
    return torch.from_numpy(ids), torch.from_numpy(keep)


def surround(ids: list[int], marks: Marks) -> list[int]:
    """Ids with the marks of a source around them."""
    before, after = _MARKS[marks]
    return [*before, *ids, *after]


def _marked(column: Column | RecutColumn, row: int, marks: Marks) -> NDArray[np.int64]:
    before, after = _MARKS[marks]
    return np.concatenate([before, column.row(int(row)), after]).astype(np.int64)
