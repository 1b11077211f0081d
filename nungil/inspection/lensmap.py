"""LensMap: what one lens shows of one example, with what it measures written on it. No torch."""

from dataclasses import dataclass, replace
from typing import Any

import numpy as np

from nungil.errors import ShapeError
from nungil.inspection.merging import RULE, merge, spell, words_of
from nungil.inspection.picture import Picture
from nungil.inspection.record import READING, UNMERGED, Array

POOLED = "the one row is the whole text"


@dataclass(frozen=True, eq=False)
class LensMap:
    """A number for each source token and each token that was written, (rows, columns)."""

    lens: str
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    values: Array
    measures: str  # in a sentence
    where: str = "the whole model"  # or which attention, layer and head
    signed: bool = False
    reading: str = READING
    merge: str = UNMERGED
    notes: tuple[str, ...] = ()
    output: str = ""  # what was written, as a text
    delta: float | None = None  # of integrated gradients: by how much their sum misses the change in output

    def __post_init__(self) -> None:
        values = np.array(self.values, dtype=np.float64)
        if values.shape != (len(self.rows), len(self.columns)):
            raise ShapeError(
                f"{self.lens}: values {values.shape} do not fit {len(self.rows)} rows and {len(self.columns)} columns"
            )
        values.flags.writeable = False
        object.__setattr__(self, "values", values)

    def merged(self) -> "LensMap":
        """Pieces merged to words: columns summed, rows averaged, as in a record."""
        if self.merge == RULE:
            return self
        rows, columns = words_of(self.rows), words_of(self.columns)
        return replace(
            self,
            rows=tuple(spell(self.rows, word) for word in rows),
            columns=tuple(spell(self.columns, word) for word in columns),
            values=merge(self.values, rows, columns),
            merge=RULE,
        )

    def picture(self) -> Picture:
        """For any drawing."""
        notes = (f"Lens: {self.measures}.", f"Reading: {self.reading}.", f"Merging: {self.merge}.", *self.notes)
        title = f"{self.lens} · {self.where}"
        bars = self.reading == POOLED
        return Picture(title, self.rows, self.columns, np.asarray(self.values), notes, self.signed, bars)

    def to_json(self) -> dict[str, Any]:
        """Plain values, every digit of them."""
        return {
            "lens": self.lens,
            "measures": self.measures,
            "where": self.where,
            "signed": self.signed,
            "reading": self.reading,
            "merge": self.merge,
            "notes": list(self.notes),
            "output": self.output,
            "delta": self.delta,
            "rows": list(self.rows),
            "columns": list(self.columns),
            "values": self.values.tolist(),
        }
