"""Picture: a matrix with words along its sides, and what is said beside it: all that a drawing needs. No torch."""

from dataclasses import dataclass, replace
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from nungil.errors import ShapeError, UsageError
from nungil.inspection.merging import merge, spell, words_of

JOINED = "words: columns summed over their pieces"


@dataclass(frozen=True, eq=False)
class Picture:
    """Rows look, columns are looked at. `signed` cells are drawn around 0: lenses and differences have both signs.

    `notes` stand below every drawing, a line each: how a row is read, how pieces were merged, how far to trust it.
    `bars` is for one row over a whole text, as a classifier has it: a terminal and a page then draw bars, word by word.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: NDArray[np.float64]  # (rows, columns)
    notes: tuple[str, ...] = ()
    signed: bool = False
    bars: bool = False

    def __post_init__(self) -> None:
        expected = len(self.rows), len(self.columns)
        if self.cells.shape != expected:
            raise ShapeError(
                f"{self.title}: cells {self.cells.shape} do not fit {expected[0]} rows and {expected[1]} columns"
            )
        wrong = np.argwhere(~np.isfinite(self.cells))
        if len(wrong):
            row, column = (int(one) for one in wrong[0])
            raise UsageError(
                f"{self.title}: the cell of row {row}, column {column} (from 0) is {self.cells[row, column]}; "
                "only numbers can be drawn"
            )
        if self.bars and len(self.rows) != 1:
            raise ShapeError(f"{self.title}: bars are for one row, not for {len(self.rows)}")

    def joined(self) -> "Picture":
        """The same with the pieces in its columns joined to words, and their numbers added up."""
        words = words_of(self.columns)
        columns = tuple(spell(self.columns, word) for word in words)
        cells = merge(self.cells, [[row] for row in range(len(self.rows))], words)
        return replace(self, columns=columns, cells=cells, notes=(*self.notes, f"Merging: {JOINED}."))

    @cached_property
    def high(self) -> float:
        """The number at the end of the colour scale: 1 where the largest is near it, else the next round one.

        A signed scale goes from minus that to plus that.
        """
        largest = float(abs(self.cells).max(initial=0.0))
        if largest == 0.0 or (not self.signed and 0.5 <= largest <= 1 + 1e-3):
            return 1.0
        power = 10.0 ** np.floor(np.log10(largest))
        return float(next(step * power for step in (1, 2, 5, 10) if largest <= step * power * (1 + 1e-9)))
