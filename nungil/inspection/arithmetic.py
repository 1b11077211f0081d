"""The arithmetic of attention in plain NumPy, each line written to a sheet.

It shares no code with `nungil.attention`: that is what makes the residual between the two worth printing.
"""

from collections.abc import Callable

import numpy as np

from nungil.errors import UsageError
from nungil.inspection.ledger import Array, Axis, LedgerStep, total, units
from nungil.inspection.numbers import BIASES, Numbers, Output

OVERFLOW = 500.0  # beyond ±700 exp is infinite or nothing in double precision


class Sheet:
    """Takes down steps, one after the other."""

    def __init__(self) -> None:
        self.steps: list[LedgerStep] = []
        self.head: int | None = None

    def write(self, name: str, formula: str, values: Array, *axes: Axis, total_of: str | None = None) -> Array:
        """Take one step down and hand its numbers on. Sides without an axis get one of units."""
        values = np.asarray(values, dtype=np.float64)
        if not np.isfinite(values).all():
            raise UsageError(
                f"{name}, {formula}, is not a finite number: these numbers are too large to calculate with"
            )
        sides = (*axes, *(units(size) for size in values.shape[len(axes) :]))
        self.steps.append(LedgerStep(name, formula, values, sides, self.head, total_of))
        return values


def work_out(numbers: Numbers) -> tuple[LedgerStep, ...]:
    """Every step from the query to the last softmax asked for."""
    with np.errstate(all="ignore"):  # the sheet refuses what is not finite, in a sentence
        return _work_out(numbers)


def _work_out(numbers: Numbers) -> tuple[LedgerStep, ...]:
    sheet = Sheet()
    query = np.asarray(numbers.query, dtype=np.float64)
    several = numbers.mechanism == "multi-head"
    context = _multi_head(sheet, numbers) if several else _single(sheet, numbers, query)
    if numbers.output is not None:
        _output(sheet, numbers.output, query, context)
    elif not several and numbers.values is None:  # a decoder state and what it read; a dictionary has no use for it
        sheet.write("concat", "[c; h_d]", np.concatenate([context, query]))
    return tuple(sheet.steps)


def _single(sheet: Sheet, numbers: Numbers, query: Array) -> Array:
    source, parameters = Axis("source", numbers.labels), _arrays(numbers)
    sheet.write("query", "h_d", query)
    keys = np.asarray(numbers.keys, dtype=np.float64)
    if numbers.mechanism == "local-p":
        centre = _predicted_centre(sheet, numbers, query, parameters)
    elif numbers.mechanism == "local-m":
        centre = float(
            sheet.write("centre", "p = min(t, S − 1)", np.asarray(min(numbers.position, _length(numbers) - 1)))
        )
    sheet.write("keys", "h_s", keys, source)
    scores = SCORES[numbers.compared](sheet, numbers, query, keys)
    open_ = _keep(sheet, numbers, source)
    if numbers.mechanism.startswith("local"):
        distance = np.arange(len(keys)) - centre
        open_ = open_ * sheet.write("window", "|s − p| ≤ D", np.abs(distance) <= numbers.reach, source)
    weights = _softmax(sheet, scores, open_, source, "weight")
    if numbers.mechanism == "local-p":
        bell = sheet.write(
            "bell", "b = exp(−(s − p)² / 2(D/2)²)", np.exp(-(distance**2) / (2 * (numbers.reach / 2) ** 2)), source
        )
        weights = sheet.write("local weight", "α′ = α·b", weights * bell, source)
        sheet.write("sum of local weight", "Σ", total(weights), total_of="local weight")
    values = np.asarray(numbers.what_is_read, dtype=np.float64)
    if numbers.values is not None:
        sheet.write("values", "v", values, source)
    product = ("α′·" if numbers.mechanism == "local-p" else "α·") + ("h_s" if numbers.values is None else "v")
    context = _weighted_sum(sheet, weights, values, source, product)
    _cool(sheet, numbers, scores, open_, values)
    return context


def _weighted_sum(sheet: Sheet, weights: Array, values: Array, source: Axis, product: str) -> Array:
    weighted = sheet.write("weighted", product, weights[:, None] * values, source)
    return sheet.write("context", f"c = Σ {product}", total(weighted), total_of="weighted")


def _softmax(sheet: Sheet, scores: Array, open_: Array, rows: Axis, result: str) -> Array:
    """In two steps: exp makes every score positive and keeps their order, then they are divided by their sum."""
    symbol, name, share = ("e", "exp", "α") if result == "weight" else ("z", "exp logit", "p")
    largest = scores[open_ > 0].max()
    if abs(largest) > OVERFLOW:  # subtracting one number from all scores divides every exp alike, and changes no weight
        symbol = f"{symbol} − max {symbol}"
        scores = sheet.write("shifted", symbol, scores - largest, rows)
    exponentials = sheet.write(name, f"exp({symbol})", np.exp(np.where(open_ > 0, scores, -np.inf)), rows)
    whole = sheet.write(f"sum of {name}", f"Σ exp({symbol})", total(exponentials), total_of=name)
    shares = sheet.write(result, f"{share} = exp({symbol}) / Σ", exponentials / whole, rows)
    sheet.write(f"sum of {result}", "Σ", total(shares), total_of=result)
    return shares


def _dot(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    return sheet.write("score", "e = h_d · h_s", keys @ query, Axis("source", numbers.labels))


def _scaled_dot(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    source = Axis("source", numbers.labels)
    products = sheet.write("dot product", "h_d · h_s", keys @ query, source)
    return sheet.write("score", f"e = dot / √{len(query)}", products / np.sqrt(len(query)), source)


def _general(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    source = Axis("source", numbers.labels)
    bridged = sheet.write("projected keys", "W_a h_s", keys @ _arrays(numbers)["W_a"].T, source)
    return sheet.write("score", "e = h_d · W_a h_s", bridged @ query, source)


def _concat(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    source, parameters = Axis("source", numbers.labels), _arrays(numbers)
    joined = np.concatenate([np.broadcast_to(query, (len(keys), len(query))), keys], axis=1)
    sheet.write("joined", "[h_d; h_s]", joined, source)
    inner = sheet.write("projected", "W_a [h_d; h_s]", joined @ parameters["W_a"].T, source)
    energy = sheet.write("tanh", "tanh(·)", np.tanh(inner), source)
    return sheet.write("score", "e = v_a · tanh", energy @ parameters["v_a"], source)


def _additive(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    source, parameters = Axis("source", numbers.labels), _arrays(numbers)
    inner = sheet.write("projected query", "W h_d", np.tile(parameters["W"] @ query, (len(keys), 1)), source)
    inner = inner + sheet.write("projected keys", "U h_s", keys @ parameters["U"].T, source)
    if numbers.compared == "coverage":
        covered = np.asarray(numbers.coverage or [0.0] * len(keys))
        sheet.write("coverage", "k", covered, source)
        inner = inner + sheet.write("covered", "w_c k", np.outer(covered, parameters["w_c"]), source)
    terms = "W h_d + U h_s" + (" + w_c k" if numbers.compared == "coverage" else "")
    energy = sheet.write("tanh", f"tanh({terms})", np.tanh(inner), source)
    return sheet.write("score", "e = v · tanh", energy @ parameters["v"], source)


def _location(sheet: Sheet, numbers: Numbers, query: Array, keys: Array) -> Array:
    rows = _arrays(numbers)["W_a"][: len(keys)]
    return sheet.write("score", "e = W_a h_d", rows @ query, Axis("source", numbers.labels))


SCORES: dict[str, Callable[[Sheet, Numbers, Array, Array], Array]] = {
    "dot": _dot,
    "scaled-dot": _scaled_dot,
    "general": _general,
    "concat": _concat,
    "additive": _additive,
    "coverage": _additive,
    "location": _location,
}


def _predicted_centre(sheet: Sheet, numbers: Numbers, query: Array, parameters: dict[str, Array]) -> float:
    inner = sheet.write("centre, inside", "tanh(W_p h_d)", np.tanh(parameters["W_p"] @ query))
    share = 1 / (1 + np.exp(-sheet.write("centre, outside", "v_p · tanh", parameters["v_p"] @ inner)))
    return float(sheet.write("centre", "p = S·σ(·)", _length(numbers) * share))


def _keep(sheet: Sheet, numbers: Numbers, source: Axis) -> Array:
    if numbers.keep is None:
        return np.ones(len(numbers.keys))
    return sheet.write("keep", "keep", np.asarray(numbers.keep, dtype=np.float64), source)


def _length(numbers: Numbers) -> int:
    return len(numbers.keys) if numbers.keep is None else sum(numbers.keep)


def _cool(sheet: Sheet, numbers: Numbers, scores: Array, open_: Array, values: Array) -> None:
    """The same look with scores divided by ever lower temperatures: in the limit, a dictionary."""
    if not numbers.temperatures:
        return
    rows = Axis("temperature", tuple(f"{temperature:g}" for temperature in numbers.temperatures))
    divided = scores[None] / np.asarray(numbers.temperatures)[:, None]
    divided = np.where(open_ > 0, divided, -np.inf)
    exponentials = np.exp(divided - divided.max(axis=1, keepdims=True))
    weights = exponentials / exponentials.sum(axis=1, keepdims=True)
    sheet.write("cooled weights", "softmax(e / τ)", weights, rows, Axis("source", numbers.labels))
    sheet.write("cooled context", "c", weights @ values, rows)


def _multi_head(sheet: Sheet, numbers: Numbers) -> Array:
    source, parameters = Axis("source", numbers.labels), _arrays(numbers)
    zero = np.zeros(len(numbers.query))
    plus = {name: f" + {name}" if name in parameters else "" for name in BIASES}
    query = sheet.write("query", "q", np.asarray(numbers.query))
    keys = sheet.write("keys", "k", np.asarray(numbers.keys, dtype=np.float64), source)
    values = sheet.write("values", "v", np.asarray(numbers.what_is_read, dtype=np.float64), source)
    open_ = _keep(sheet, numbers, source)
    projected_query = parameters["W_q"] @ query + parameters.get("b_q", zero)
    projected_keys = keys @ parameters["W_k"].T + parameters.get("b_k", zero)
    projected_values = values @ parameters["W_v"].T + parameters.get("b_v", zero)
    width, contexts = len(query) // numbers.heads, []
    for head in range(numbers.heads):
        part, sheet.head = slice(head * width, (head + 1) * width), head + 1
        small = sheet.write("projected query", f"Q = W_q q{plus['b_q']}", projected_query[part])
        against = sheet.write("projected keys", f"K = W_k k{plus['b_k']}", projected_keys[:, part], source)
        products = sheet.write("dot product", "Q · K", against @ small, source)
        scores = sheet.write("score", f"e = dot / √{width}", products / np.sqrt(width), source)
        weights = _softmax(sheet, scores, open_, source, "weight")
        read = sheet.write("projected values", f"V = W_v v{plus['b_v']}", projected_values[:, part], source)
        contexts.append(_weighted_sum(sheet, weights, read, source, "α·V"))
    sheet.head = None
    joined = sheet.write("joined heads", "[c₁; c₂; …]", np.concatenate(contexts))
    return sheet.write(
        "output", f"W_o [c₁; c₂; …]{plus['b_o']}", parameters["W_o"] @ joined + parameters.get("b_o", zero)
    )


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
    _softmax(sheet, logits, np.ones(len(logits)), words, "probability")


def _arrays(numbers: Numbers) -> dict[str, Array]:
    return {name: np.asarray(given, dtype=np.float64) for name, given in numbers.parameters.items()}
