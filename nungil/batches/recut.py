"""Recut: the rows of a store, segmented differently in every epoch. A pure function of (seed, epoch, row)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from nungil.batches.chance import seed_of
from nungil.batches.store import Column, Store
from nungil.text.tokenizers.othercuts import OtherCuts


@dataclass(frozen=True)
class Recut:
    """How the sides of a store are segmented anew. A row that would exceed `longest` keeps its stored segmentation."""

    cuts: Mapping[str, OtherCuts]
    seed: int
    longest: int

    def of(self, store: Store, epoch: int) -> "RecutRows":
        """The rows of one epoch, for the batches of one update."""
        places = enumerate(store.columns.items())
        return RecutRows({name: self._column(place, name, column, epoch) for place, (name, column) in places})

    def _column(self, place: int, name: str, column: Column, epoch: int) -> "Column | RecutColumn":
        if name not in self.cuts:
            return column
        return RecutColumn(column, self.cuts[name], seed_of(self.seed, epoch, place), self.longest)


@dataclass(frozen=True)
class RecutColumn:
    """One side in one epoch. Rows are cached: each is asked for twice, for its length and for its batch."""

    column: Column
    cuts: OtherCuts
    seed: int
    longest: int
    _known: dict[int, NDArray[Any]] = field(default_factory=dict)

    @property
    def ids(self) -> NDArray[Any]:
        """All ids as they are stored."""
        return self.column.ids

    def row(self, number: int) -> NDArray[Any]:
        """The ids of one row."""
        if number not in self._known:
            stored = self.column.row(number)
            drawn = self.cuts.draw(stored.tolist(), seed_of(self.seed, number))
            self._known[number] = np.array(drawn) if len(drawn) <= self.longest else np.array(stored)
        return self._known[number]


@dataclass(frozen=True)
class RecutRows:
    """Stands in for a store where batches are made."""

    columns: Mapping[str, Column | RecutColumn]
