"""Sheet: arithmetic as it is written down, one line below the other. Knows no torch."""

import numpy as np

from nungil.errors import UsageError
from nungil.inspection.ledger import Array, Axis, LedgerStep, total, units

OVERFLOW = 500.0  # beyond ±700 exp is infinite or nothing in double precision


class Sheet:
    """Takes down steps, one after the other; `part`, `layer` and `head` say where in a model they belong."""

    def __init__(self) -> None:
        self.steps: list[LedgerStep] = []
        self.part: str | None = None
        self.layer: int | None = None
        self.head: int | None = None

    def open(self, part: str, layer: int | None = None) -> None:
        """What follows belongs to this part of a model."""
        self.part, self.layer, self.head = part, layer, None

    def write(self, name: str, formula: str, values: Array, *axes: Axis, total_of: str | None = None) -> Array:
        """Take one step down and hand its numbers on. Sides without an axis get one of units."""
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise UsageError(
                f"{name}, {formula}, is not a finite number: these numbers are too large to calculate with"
            )
        sides = (*axes, *(units(size) for size in values.shape[len(axes) :]))
        self.steps.append(LedgerStep(name, formula, values, sides, self.head, total_of, self.part, self.layer))
        return values

    def softmax(self, scores: Array, open_: Array, rows: Axis, result: str) -> Array:
        """In two steps: exp makes every score positive and keeps their order, then they are divided by their sum."""
        symbol, name, share = ("e", "exp", "α") if result == "weight" else ("z", "exp logit", "p")
        largest = scores[open_ > 0].max()
        if abs(largest) > OVERFLOW:  # subtracting one number from all divides every exp alike, and changes no weight
            symbol = f"{symbol} − max {symbol}"
            scores = self.write("shifted", symbol, scores - largest, rows)
        exponentials = self.write(name, f"exp({symbol})", np.exp(np.where(open_ > 0, scores, -np.inf)), rows)
        whole = self.write(f"sum of {name}", f"Σ exp({symbol})", total(exponentials), total_of=name)
        shares = self.write(result, f"{share} = exp({symbol}) / Σ", exponentials / whole, rows)
        self.write(f"sum of {result}", "Σ", total(shares), total_of=result)
        return shares

    def weighted_sum(self, weights: Array, values: Array, rows: Axis, product: str) -> Array:
        """Each value times its weight, and the sum of them: the context vector."""
        weighted = self.write("weighted", product, weights[:, None] * values, rows)
        return self.write("context", f"c = Σ {product}", total(weighted), total_of="weighted")
