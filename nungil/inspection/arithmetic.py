"""The arithmetic of attention in plain NumPy, each line written to a sheet.

It shares no code with `nungil.attention`: that is what makes the residual between the two worth printing.
"""

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from nungil.inspection.ledger import Array, Axis, LedgerStep, total
from nungil.inspection.numbers import BIASES, FeedForward, Numbers, Output
from nungil.inspection.sheet import Sheet
from nungil.inspection.worked.vectors import positions, write_norm


@dataclass(frozen=True)
class Act:
    """One act of attention: what asks, what is there, and what the mechanism has learned, by its symbols."""

    score: str
    query: Array
    keys: Array
    labels: tuple[str, ...]
    parameters: Mapping[str, Array]
    window: str = "none"
    reach: int = 2
    position: int = 0
    values: Array | None = None
    keep: Array | None = None
    coverage: Array | None = None
    asks: str = "h_d"  # the query's symbol

    @property
    def source(self) -> Axis:
        """The rows of its tables."""
        return Axis("source", self.labels)

    @property
    def length(self) -> int:
        """How many of the keys are of real tokens."""
        return len(self.keys) if self.keep is None else int(self.keep.sum())


class Looked(NamedTuple):
    """What an act comes to; `seen` is 1 where a key may be seen, else 0."""

    context: Array
    weights: Array
    scores: Array
    seen: Array


def work_out(numbers: Numbers) -> tuple[LedgerStep, ...]:
    """Every step from the query to the last softmax asked for."""
    with np.errstate(all="ignore"):  # the sheet refuses what is not finite, in a sentence
        return _work_out(numbers)


def _work_out(numbers: Numbers) -> tuple[LedgerStep, ...]:
    sheet = Sheet()
    query, keys = _placed(sheet, numbers)
    several = numbers.mechanism == "multi-head"
    context = (_multi_head if several else _single)(sheet, numbers, query, keys)
    if numbers.feed_forward is not None:
        _feed_forward(sheet, numbers.feed_forward, query, context)
    elif numbers.output is not None:
        _output(sheet, numbers.output, query, context)
    elif not several and numbers.values is None and not numbers.positions:
        # A decoder state and what it read; neither a dictionary nor a sentence that looks at itself joins them.
        sheet.write("concat", "[c; h_d]", np.concatenate([context, query]))
    return tuple(sheet.steps)


def _placed(sheet: Sheet, numbers: Numbers) -> tuple[Array, Array]:
    """Query and keys; where asked for, each with its positional encoding."""
    query, keys = np.asarray(numbers.query, dtype=np.float64), np.asarray(numbers.keys, dtype=np.float64)
    if not numbers.positions:
        return query, keys
    source = Axis("source", numbers.labels)
    sheet.write("embedding", "x", keys, source)
    where = sheet.write("position", "PE(p)", positions(len(keys), keys.shape[1]), source)
    placed = sheet.write("placed", "x + PE(p)", keys + where, source)
    sheet.write("embedding", "x", query)
    own = sheet.write("position", f"PE({numbers.position})", positions(1, len(query), numbers.position)[0])
    return sheet.write("placed", f"x + PE({numbers.position})", query + own), placed


def _single(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    act = Act(
        score=numbers.compared,
        query=query,
        keys=keys,
        labels=numbers.labels,
        parameters=_arrays(numbers),
        window=numbers.mechanism if numbers.mechanism.startswith("local") else "none",
        reach=numbers.reach,
        position=numbers.position,
        values=None if numbers.values is None else np.asarray(numbers.values, dtype=np.float64),
        keep=None if numbers.keep is None else np.asarray(numbers.keep, dtype=np.float64),
        coverage=None if numbers.coverage is None else np.asarray(numbers.coverage, dtype=np.float64),
    )
    looked = look(sheet, act)
    _cool(sheet, numbers, looked, act.keys if act.values is None else act.values)
    return looked.context


def look(sheet: Sheet, act: Act) -> Looked:
    """Every line of one act: scores, softmax in two steps, weighted sum."""
    sheet.write("query", act.asks, act.query)
    if act.score in ("additive", "coverage"):
        sheet.write("projected query", f"W {act.asks}", act.parameters["W"] @ act.query)
    centre = CENTRES[act.window](sheet, act)
    keys = sheet.write("keys", "h_s", act.keys, act.source)
    scores = SCORES[act.score](sheet, act)
    seen = np.ones(len(keys)) if act.keep is None else sheet.write("keep", "keep", act.keep, act.source)
    distance = np.arange(len(keys)) - centre
    if act.window != "none":
        seen = seen * sheet.write("window", "|s − p| ≤ D", np.abs(distance) <= act.reach, act.source)
    weights, symbol = sheet.softmax(scores, seen, act.source, "weight"), "α"
    if act.window == "local-p":
        bell = np.exp(-(distance**2) / (2 * (act.reach / 2) ** 2))
        bell = sheet.write("bell", "b = exp(−(s − p)² / 2(D/2)²)", bell, act.source)
        weights, symbol = sheet.write("local weight", "α′ = α·b", weights * bell, act.source), "α′"
        sheet.write("sum of local weight", "Σ", total(weights), total_of="local weight")
    if act.values is None:
        return Looked(sheet.weighted_sum(weights, keys, act.source, f"{symbol}·h_s"), weights, scores, seen)
    values = sheet.write("values", "v", act.values, act.source)
    return Looked(sheet.weighted_sum(weights, values, act.source, f"{symbol}·v"), weights, scores, seen)


def _dot(sheet: Sheet, act: Act) -> Array:
    return sheet.write("score", f"e = {act.asks} · h_s", act.keys @ act.query, act.source)


def _scaled_dot(sheet: Sheet, act: Act) -> Array:
    products = sheet.write("dot product", f"{act.asks} · h_s", act.keys @ act.query, act.source)
    return sheet.write("score", f"e = dot / √{len(act.query)}", products / np.sqrt(len(act.query)), act.source)


def _general(sheet: Sheet, act: Act) -> Array:
    bridged = sheet.write("projected keys", "W_a h_s", act.keys @ act.parameters["W_a"].T, act.source)
    return sheet.write("score", f"e = {act.asks} · W_a h_s", bridged @ act.query, act.source)


def _concat(sheet: Sheet, act: Act) -> Array:
    joined = np.concatenate([np.broadcast_to(act.query, (len(act.keys), len(act.query))), act.keys], axis=1)
    pair = f"[{act.asks}; h_s]"
    sheet.write("joined", pair, joined, act.source)
    inner = sheet.write("projected", f"W_a {pair}", joined @ act.parameters["W_a"].T, act.source)
    energy = sheet.write("tanh", "tanh(·)", np.tanh(inner), act.source)
    return sheet.write("score", "e = v_a · tanh", energy @ act.parameters["v_a"], act.source)


def _additive(sheet: Sheet, act: Act) -> Array:
    inner = act.parameters["W"] @ act.query
    inner = inner + sheet.write("projected keys", "U h_s", act.keys @ act.parameters["U"].T, act.source)
    terms = f"W {act.asks} + U h_s"
    if act.score == "coverage":
        covered = np.zeros(len(act.keys)) if act.coverage is None else act.coverage
        sheet.write("coverage", "k", covered, act.source)
        inner = inner + sheet.write("covered", "w_c k", np.outer(covered, act.parameters["w_c"]), act.source)
        terms += " + w_c k"
    energy = sheet.write("tanh", f"tanh({terms})", np.tanh(inner), act.source)
    return sheet.write("score", "e = v · tanh", energy @ act.parameters["v"], act.source)


def _location(sheet: Sheet, act: Act) -> Array:
    rows = act.parameters["W_a"][: len(act.keys)]
    return sheet.write("score", f"e = W_a {act.asks}", rows @ act.query, act.source)


SCORES: dict[str, Callable[[Sheet, Act], Array]] = {
    "dot": _dot,
    "scaled-dot": _scaled_dot,
    "general": _general,
    "concat": _concat,
    "additive": _additive,
    "coverage": _additive,
    "location": _location,
}


def _own_step(sheet: Sheet, act: Act) -> float:
    return float(sheet.write("centre", "p = min(t, S − 1)", np.asarray(min(act.position, act.length - 1))))


def _predicted(sheet: Sheet, act: Act) -> float:
    inner = np.tanh(act.parameters["W_p"] @ act.query)
    inner = sheet.write("centre, inside", f"tanh(W_p {act.asks})", inner)
    share = 1 / (1 + np.exp(-sheet.write("centre, outside", "v_p · tanh", act.parameters["v_p"] @ inner)))
    return float(sheet.write("centre", "p = S·σ(·)", act.length * share))


CENTRES: dict[str, Callable[[Sheet, Act], float]] = {
    "none": lambda *_: 0.0,
    "local-m": _own_step,
    "local-p": _predicted,
}


def _cool(sheet: Sheet, numbers: Numbers, looked: Looked, read: Array) -> None:
    """The same look with scores divided by ever lower temperatures: in the limit, a dictionary."""
    if not numbers.temperatures:
        return
    rows = Axis("temperature", tuple(f"{temperature:g}" for temperature in numbers.temperatures))
    divided = looked.scores[None] / np.asarray(numbers.temperatures)[:, None]
    divided = np.where(looked.seen > 0, divided, -np.inf)
    exponentials = np.exp(divided - divided.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    sheet.write("cooled weights", "softmax(e / τ)", weights, rows, Axis("source", numbers.labels))
    sheet.write("cooled context", "c", weights @ read, rows)


@dataclass(frozen=True)
class Projected:
    """What one head is given: query, keys and values, projected, and how that is written (`W_q q + b_q`)."""

    query: Array
    keys: Array
    values: Array
    rows: Axis
    seen: Array
    written: tuple[str, str, str]


def look_with_head(sheet: Sheet, head: Projected) -> Looked:
    """Every line of one head: scaled dot products, softmax in two steps, weighted sum."""
    query, keys, values = head.written
    width = len(head.query)
    sheet.write("projected query", f"Q = {query}", head.query)
    sheet.write("projected keys", f"K = {keys}", head.keys, head.rows)
    products = sheet.write("dot product", "Q · K", head.keys @ head.query, head.rows)
    scores = sheet.write("score", f"e = dot / √{width}", products / np.sqrt(width), head.rows)
    weights = sheet.softmax(scores, head.seen, head.rows, "weight")
    sheet.write("projected values", f"V = {values}", head.values, head.rows)
    return Looked(sheet.weighted_sum(weights, head.values, head.rows, "α·V"), weights, scores, head.seen)


def _multi_head(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    source, parameters = Axis("source", numbers.labels), _arrays(numbers)
    zero = np.zeros(len(query))
    plus = {name: f" + {name}" if name in parameters else "" for name in BIASES}
    query = sheet.write("query", "q", query)
    given = keys if numbers.values is None else np.asarray(numbers.values, dtype=np.float64)
    keys = sheet.write("keys", "k", keys, source)
    values = sheet.write("values", "v", given, source)
    seen = np.ones(len(keys))
    if numbers.keep is not None:
        seen = sheet.write("keep", "keep", np.asarray(numbers.keep, dtype=np.float64), source)
    projected_query = parameters["W_q"] @ query + parameters.get("b_q", zero)
    projected_keys = keys @ parameters["W_k"].T + parameters.get("b_k", zero)
    projected_values = values @ parameters["W_v"].T + parameters.get("b_v", zero)
    written = f"W_q q{plus['b_q']}", f"W_k k{plus['b_k']}", f"W_v v{plus['b_v']}"
    width, contexts = len(query) // numbers.heads, []
    for head in range(numbers.heads):
        part, sheet.head = slice(head * width, (head + 1) * width), head
        own = projected_query[part], projected_keys[:, part], projected_values[:, part]
        contexts.append(look_with_head(sheet, Projected(*own, source, seen, written)).context)
    sheet.head = None
    joined = sheet.write("joined heads", "[c₀; c₁; …]", np.concatenate(contexts))
    return sheet.write(
        "output", f"o = W_o [c₀; c₁; …]{plus['b_o']}", parameters["W_o"] @ joined + parameters.get("b_o", zero)
    )


def _feed_forward(sheet: Sheet, given: FeedForward, query: Array, looked: Array) -> None:
    """The rest of a block as in 2017: what was looked up is added to what asked, then W₂ relu(W₁ x + b₁) + b₂."""
    inner, outer = np.asarray(given.W_1, dtype=np.float64), np.asarray(given.W_2, dtype=np.float64)
    added = sheet.write("added", "x = q + o", query + looked)
    state = write_norm(sheet, None, added)
    bias = "" if given.b_1 is None else " + b₁"
    hidden = inner @ state + np.asarray(given.b_1 or [0.0] * len(inner))
    hidden = sheet.write("inner", f"f = relu(W₁ n{bias})", np.maximum(hidden, 0))
    bias = "" if given.b_2 is None else " + b₂"
    part = sheet.write("outer", f"g = W₂ f{bias}", outer @ hidden + np.asarray(given.b_2 or [0.0] * len(outer)))
    write_norm(sheet, None, sheet.write("added", "x′ = n + g", state + part), "x′", "n′")


def _output(sheet: Sheet, output: Output, query: Array, context: Array) -> None:
    state, symbol = context, "c"
    if output.reads == "both":
        state, symbol = sheet.write("concat", "[c; h_d]", np.concatenate([context, query])), "[c; h_d]"
    if output.W_c is not None:
        state = sheet.write("attentional state", f"h̃ = tanh(W_c {symbol})", np.tanh(np.asarray(output.W_c) @ state))
        symbol = "h̃"
    words = Axis("words", tuple(output.words or (str(place) for place in range(1, len(output.W_s) + 1))))
    logits = np.asarray(output.W_s) @ state + np.asarray(output.b_s or [0.0] * len(output.W_s))
    sheet.write("logit", f"z = W_s {symbol}" + (" + b_s" if output.b_s else ""), logits, words)
    sheet.softmax(logits, np.ones(len(logits)), words, "probability")


def _arrays(numbers: Numbers) -> dict[str, Array]:
    return {name: np.asarray(given, dtype=np.float64) for name, given in numbers.parameters.items()}
