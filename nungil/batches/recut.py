"""Recut: the rows of a store, their words cut otherwise in every epoch. A pure function of (seed, epoch, row)."""

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
    """How the sides of a store are cut anew. What would become longer than `longest` keeps the cut that is stored."""

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
    """One side in one epoch. A row that was asked for is remembered: it is counted, and then made a batch of."""

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
    """What batches are made of, in place of a store."""

    columns: Mapping[str, Column | RecutColumn]
