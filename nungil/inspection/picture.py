"""Picture: a matrix with words along its sides, and what is said beside it: all that a drawing needs. No torch."""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from nungil.errors import ShapeError


@dataclass(frozen=True, eq=False)
class Picture:
    """Rows look, columns are looked at. `signed` cells are drawn around 0: lenses and differences have both signs.

    `notes` stand below every drawing, a line each: how a row is read, how pieces were merged, how far to trust it.
    """

    title: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    cells: NDArray[np.float64]  # (rows, columns)
    notes: tuple[str, ...] = ()
    signed: bool = False

    def __post_init__(self) -> None:
        expected = len(self.rows), len(self.columns)
        if self.cells.shape != expected:
            raise ShapeError(
                f"{self.title}: cells {self.cells.shape} do not fit {expected[0]} rows and {expected[1]} columns"
            )
