"""Difference: two maps of two texts that share most of their words, one minus the other. No torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher
from typing import Any

import numpy as np

from nungil.inspection.lensmap import POOLED, LensMap
from nungil.inspection.picture import Picture
from nungil.inspection.record import Array

SMALL = 0.005  # a share of the largest value that is no difference worth drawing
Pairing = list[tuple[int | None, int | None]]  # places before and after; None where there is none


@dataclass(frozen=True, eq=False)
class Difference:
    """The map after an edit minus the map before it, on words of both texts laid side by side."""

    before: LensMap
    after: LensMap
    edits: tuple[str, ...] = ()
    origins: tuple[int | None, ...] = ()  # the column before of each column after, where it is known
    probabilities: tuple[float, float] | None = None  # of the whole output before, and of that after

    @property
    def differs(self) -> bool:
        """Whether another output is written."""
        return self.before.output != self.after.output

    def lines(self) -> tuple[str, ...]:
        """Both outputs, and how probable the model finds each."""
        what = "Label" if self.before.reading == POOLED else "Output"
        before, after = ("", "") if self.probabilities is None else (f" (p {p:.3f})" for p in self.probabilities)
        return (f"{what} before: {self.before.output}{before}", f"{what} after:  {self.after.output}{after}")

    def cells(self) -> Array:
        """After minus before, exactly, (rows, columns) of both."""
        rows, columns = self._rows(), self._columns()
        after = _laid(self.after.values, [after for _, after in rows], [after for _, after in columns])
        return after - _laid(self.before.values, [before for before, _ in rows], [before for before, _ in columns])

    def picture(self) -> Picture:
        """Signed: above 0 is looked at more than before. What is next to nothing is drawn as nothing."""
        rows, columns, cells = self._rows(), self._columns(), self.cells()
        largest = max(abs(self.before.values).max(), abs(self.after.values).max())
        notes = (
            f"Edited: {'; '.join(self.edits)}." if self.edits else "Two texts.",
            f"Lens: {self.before.measures}; after minus before.",
            f"Reading: {self.before.reading}. Merging: {self.before.merge}.",
            "Words: a→b was replaced, −a is gone, +b is new; one that is not there counts as 0.",
            f"Differences of less than {SMALL * largest:.2g} are left out.",
        )
        return Picture(
            f"difference · {self.before.lens} · {self.before.where}",
            labels(rows, self.before.rows, self.after.rows),
            labels(columns, self.before.columns, self.after.columns),
            np.where(abs(cells) < SMALL * largest, 0.0, cells),
            notes,
            signed=True,
        )

    def _rows(self) -> Pairing:
        return paired(self.before.rows, self.after.rows)

    def _columns(self) -> Pairing:
        """As the edits have it; where pieces were merged since, by the words that stayed."""
        if len(self.origins) != len(self.after.columns):
            return paired(self.before.columns, self.after.columns)
        return traced(self.origins, len(self.before.columns))

    def to_json(self) -> dict[str, Any]:
        """Plain values: both maps, and their difference."""
        drawn = self.picture()
        return {
            "edits": list(self.edits),
            "probabilities": None if self.probabilities is None else list(self.probabilities),
            "before": self.before.to_json(),
            "after": self.after.to_json(),
            "rows": list(drawn.rows),
            "columns": list(drawn.columns),
            "difference": self.cells().tolist(),
        }


def paired(before: Sequence[str], after: Sequence[str]) -> Pairing:
    """Words that stayed are paired; between them, replaced ones by their order, and the rest stand alone."""
    pairs: Pairing = []
    for what, first, last, start, end in SequenceMatcher(None, before, after, autojunk=False).get_opcodes():
        shared = min(last - first, end - start) if what in ("equal", "replace") else 0
        pairs += [(first + number, start + number) for number in range(shared)]
        pairs += [(place, None) for place in range(first + shared, last)]
        pairs += [(None, place) for place in range(start + shared, end)]
    return pairs


def traced(origins: Sequence[int | None], size: int) -> Pairing:
    """The same where it is known which of `size` words each one was; those that are gone stand where they stood."""
    pairs: Pairing = []
    first = 0
    for after, before in enumerate(origins):
        if before is not None:
            pairs += [(gone, None) for gone in range(first, before)]
            first = before + 1
        pairs.append((before, after))
    return [*pairs, *((gone, None) for gone in range(first, size))]


def labels(pairs: Pairing, before: Sequence[str], after: Sequence[str]) -> tuple[str, ...]:
    """`snow`, `snow→rain`, `−snow`, `+rain`."""
    return tuple(_label(None if i is None else before[i], None if j is None else after[j]) for i, j in pairs)


def _label(before: str | None, after: str | None) -> str:
    if before is None:
        return f"+{after}"
    if after is None:
        return f"−{before}"
    return before if before == after else f"{before}→{after}"


def _laid(values: Array, rows: list[int | None], columns: list[int | None]) -> Array:
    """The values where their words are, 0 elsewhere."""
    laid = np.zeros((len(rows), len(columns)))
    kept_rows = [place for place, row in enumerate(rows) if row is not None]
    kept_columns = [place for place, column in enumerate(columns) if column is not None]
    inner = values[np.ix_([r for r in rows if r is not None], [c for c in columns if c is not None])]
    laid[np.ix_(kept_rows, kept_columns)] = inner
    return laid
