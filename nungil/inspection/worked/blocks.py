"""The blocks of a Transformer: heads, feed-forward, residuals and norms. Vaswani et al. (2017)."""

from dataclasses import dataclass

import numpy as np

from nungil.inspection.arithmetic import Projected, look_with_head
from nungil.inspection.ledger import Array, Axis
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.parameters import Parameters
from nungil.inspection.worked.vectors import norm, write_norm

# Sizes   T rows that ask   S rows that are seen   M width of the model   H heads


@dataclass(frozen=True)
class Shown:
    """What of a block is written down: one row of it, with one head in full."""

    sheet: Sheet
    row: int
    head: int


@dataclass(frozen=True)
class Looking:
    """One attention of a block, with the residual and the norm around it.

    `rows` names what is seen; `reads` is its symbol. With `causal`, a row sees itself and those before it.
    """

    weights: Parameters
    norm: Parameters
    heads: int
    before: bool
    rows: Axis
    causal: bool = False
    reads: str = "h_s"

    def run(self, states: Array, seen: Array | None = None, shown: Shown | None = None) -> tuple[Array, Array]:
        """The states after it, (T, M), and the weights, (H, T, S). Without `seen`, the rows look at each other."""
        asking = norm(self.norm, states) if self.before else states
        seen = asking if seen is None else seen
        query, keys, values = (
            self._cut(self.weights.linear(name, vectors))
            for name, vectors in (("query", asking), ("key", seen), ("value", seen))
        )
        scores = query @ keys.transpose(0, 2, 1) / np.sqrt(query.shape[-1])
        if self.causal:
            scores = np.where(np.tri(*scores.shape[1:], dtype=np.bool_), scores, -np.inf)
        exponentials = np.exp(scores - scores.max(axis=-1, keepdims=True))
        weights = exponentials / exponentials.sum(axis=-1, keepdims=True)
        joined = (weights @ values).transpose(1, 0, 2).reshape(len(states), -1)
        added = states + self.weights.linear("output", joined)
        after = added if self.before else norm(self.norm, added)
        if shown is not None:  # the row that is written down is the one that the model goes on with
            after[shown.row], weights[:, shown.row] = self._write(shown, states[shown.row], seen)
        return after, weights

    def _cut(self, projected: Array) -> Array:
        return projected.reshape(len(projected), self.heads, -1).transpose(1, 0, 2)

    def _write(self, shown: Shown, state: Array, seen: Array) -> tuple[Array, Array]:
        """Every line of one row: its state after the attention, (M), and the weights of every head, (H, S)."""
        sheet, asks = shown.sheet, "n" if self.before else "x"
        sheet.write("stream", "x", state)
        asking = write_norm(sheet, self.norm, state) if self.before else state
        reads = self.reads if self.reads == "h_s" else asks
        query = self.weights.linear("query", asking).reshape(self.heads, -1)
        keys, values = (self._cut(self.weights.linear(name, seen)) for name in ("key", "value"))
        written = f"W_q {asks} + b_q", f"W_k {reads} + b_k", f"W_v {reads} + b_v"
        looks = []
        for head in range(self.heads):
            page = sheet if head == shown.head else Sheet()
            page.head = head
            given = Projected(query[head], keys[head], values[head], self.rows, np.ones(len(seen)), written)
            looks.append(look_with_head(page, given))
        sheet.head = None
        weights = np.stack([looked.weights for looked in looks])
        if self.heads > 1:
            names = Axis("heads", tuple(map(str, range(self.heads))))
            sheet.write("weights of heads", "α", weights.T, self.rows, names)
        joined = sheet.write("joined heads", "[c₀; c₁; …]", np.concatenate([looked.context for looked in looks]))
        output = sheet.write("output", "o = W_o [c₀; c₁; …] + b_o", self.weights.linear("output", joined))
        return _add(sheet, self.norm, state, output, self.before), weights


@dataclass(frozen=True)
class Feeding:
    """The feed-forward layers of a block, W₂ relu(W₁ x + b₁) + b₂, with the residual and the norm around them."""

    weights: Parameters
    norm: Parameters
    before: bool

    def run(self, states: Array, shown: Shown | None = None) -> Array:
        """The states after them, (T, M)."""
        inner = np.maximum(self.weights.linear("inner", norm(self.norm, states) if self.before else states), 0)
        added = states + self.weights.linear("outer", inner)
        after = added if self.before else norm(self.norm, added)
        if shown is not None:
            after[shown.row] = self._write(shown.sheet, states[shown.row])
        return after

    def _write(self, sheet: Sheet, state: Array) -> Array:
        read, symbol = (write_norm(sheet, self.norm, state), "n") if self.before else (state, "x")
        inner = np.maximum(self.weights.linear("inner", read), 0)
        sheet.write("inner", f"f = relu(W₁ {symbol} + b₁)", inner)
        outer = sheet.write("outer", "o = W₂ f + b₂", self.weights.linear("outer", inner))
        return _add(sheet, self.norm, state, outer, self.before)


def _add(sheet: Sheet, weights: Parameters, state: Array, part: Array, before: bool) -> Array:
    """The residual; as in 2017, the norm comes after it."""
    added = sheet.write("added", "x′ = x + o", state + part)
    return added if before else write_norm(sheet, weights, added, "x′")
