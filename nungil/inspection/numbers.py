"""Numbers: one attention step as a user writes it down, for `nungil explain --numbers FILE.json`. Knows no torch."""

from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, get_args

from pydantic import AfterValidator, Field

from nungil.errors import ConfigError, UsageError, did_you_mean
from nungil.settings import Settings, build_settings, parse_json, read_text
from nungil.text.counts import counted

ScoreName = Literal["dot", "scaled-dot", "general", "concat", "additive", "location", "coverage"]
Mechanism = Literal[ScoreName, "local-m", "local-p", "multi-head"]
LARGEST = 1.7e308  # about the largest number of double precision
Number = Annotated[float, Field(strict=True)]  # 1 and 1.5, but neither true nor "1"
Vector = list[Number]
Matrix = list[Vector]


def _vector_or_matrix(rows: list[Any]) -> list[Any]:
    """A parameter: numbers, or rows of numbers."""
    cells = [cell for row in rows for cell in (row if isinstance(row, list) else [row])]
    if not cells or not all(type(cell) in (int, float) and -LARGEST <= cell <= LARGEST for cell in cells):
        raise ValueError("must be a list of finite numbers, or a list of such lists")
    if len({isinstance(row, list) for row in rows}) == 2:
        raise ValueError("mixes numbers and rows of numbers")
    return rows


Parameter = Annotated[list[Any], AfterValidator(_vector_or_matrix)]

# What each mechanism has learned, with its sides.  Q, K: width of query and key.  A, L: free, but one size throughout.
# `+` joins two sides; L must reach the last source step.
PARAMETERS: dict[str, dict[str, tuple[str, ...]]] = {
    "dot": {},
    "scaled-dot": {},
    "general": {"W_a": ("Q", "K")},
    "concat": {"W_a": ("A", "Q+K"), "v_a": ("A",)},
    "additive": {"W": ("A", "Q"), "U": ("A", "K"), "v": ("A",)},
    "location": {"W_a": ("L", "Q")},
    "coverage": {"W": ("A", "Q"), "U": ("A", "K"), "v": ("A",), "w_c": ("A",)},
    "local-m": {},
    "local-p": {"W_p": ("Q", "Q"), "v_p": ("Q",)},
    "multi-head": {"W_q": ("Q", "Q"), "W_k": ("Q", "Q"), "W_v": ("Q", "Q"), "W_o": ("Q", "Q")},
}
BIASES: dict[str, tuple[str, ...]] = {
    "b_q": ("Q",),
    "b_k": ("Q",),
    "b_v": ("Q",),
    "b_o": ("Q",),
}  # multi-head may have them
# Where a symbol of the formulas lives in the module.
PLACES: dict[str, dict[str, str]] = {
    "general": {"W_a": "bridge.weight"},
    "concat": {"W_a": "join.weight", "v_a": "vector.weight"},
    "additive": {"W": "query.weight", "U": "key.weight", "v": "vector.weight"},
    "location": {"W_a": "rows.weight"},
    "coverage": {"W": "query.weight", "U": "key.weight", "v": "vector.weight", "w_c": "cover.weight"},
    "local-p": {"W_p": "inner.weight", "v_p": "outer.weight"},
    "multi-head": {
        f"{letter}_{short}": f"{whole}.{kind}"
        for short, whole in (("q", "query"), ("k", "key"), ("v", "value"), ("o", "output"))
        for letter, kind in (("W", "weight"), ("b", "bias"))
    },
}
COLDEST = 1e-6
ONE_WIDTH = ("dot", "scaled-dot", "multi-head")  # query and keys of one width


class Output(Settings):
    """What follows the weighted sum: concat, a tanh layer where asked, logits, softmax."""

    W_c: Matrix | None = Field(
        None, description="tanh(W_c [c; h]); left out, the concat goes to the logits as in post 000."
    )
    W_s: Matrix = Field(description="One row per output word.")
    b_s: Vector | None = Field(None, description="One number per output word, added to the logits.")
    words: list[str] | None = Field(None, description="The output words (or labels); by default their numbers.")
    reads: Literal["both", "context"] = Field(
        "both", description="`context`: no concat, as a classifier that pools does."
    )


class FeedForward(Settings):
    """What follows attention in a block of a Transformer: a residual and a norm, two layers, a residual and a norm."""

    W_1: Matrix = Field(min_length=1, description="One row per number of the inner layer.")
    b_1: Vector | None = Field(None, description="One number per number of the inner layer.")
    W_2: Matrix = Field(min_length=1, description="Back to the width of the query.")
    b_2: Vector | None = Field(None, description="One number per number of the query.")


class Numbers(Settings):
    """One query, some keys, and whatever else the mechanism needs."""

    mechanism: Mechanism = Field("dot", description="How a key is compared with the query.")
    query: Vector = Field(min_length=1, description="The decoder state h_d.")
    keys: Matrix = Field(min_length=1, description="The encoder states h_s, one row per source token.")
    values: Matrix | None = Field(None, min_length=1, description="What is read; by default the keys.")
    tokens: list[str] | None = Field(None, description="Names of the keys; by default their numbers.")
    keep: list[bool] | None = Field(None, description="false hides a source token (padding, or a word still to come).")
    parameters: dict[str, Parameter] = Field({}, description="The mechanism's own matrices, by their symbols.")
    score: ScoreName = Field("dot", description="The score inside a local window.")
    reach: int = Field(2, ge=1, description="D of a local window.")
    position: int = Field(
        0,
        ge=0,
        le=1_000_000,
        description="The target step, counted from 0: local-m centres its window there, and `positions` places the "
        "query there.",
    )
    positions: bool = Field(
        False, description="Add the positional encoding of a Transformer to the query and to each key."
    )
    coverage: Vector | None = Field(None, description="The weight each source token has had so far; by default none.")
    heads: int = Field(1, ge=1, description="Heads of multi-head attention.")
    output: Output | None = Field(
        None, description="The output layers; left out, the ledger ends with the weighted sum."
    )
    feed_forward: FeedForward | None = Field(
        None, description="The rest of a Transformer's block; left out, the ledger ends with the output of the heads."
    )
    temperatures: Vector = Field(
        [], description="Show weights and answer once more with scores divided by each of these."
    )

    @property
    def compared(self) -> str:
        """The score in use: a window's own, or the mechanism itself."""
        return self.score if self.mechanism.startswith("local") else self.mechanism

    @property
    def what_is_read(self) -> Matrix:
        """The values: those given, or the keys."""
        return self.keys if self.values is None else self.values

    @property
    def labels(self) -> tuple[str, ...]:
        """The source tokens: those given, or numbers from 1."""
        return tuple(self.tokens or (str(place) for place in range(1, len(self.keys) + 1)))


def read_numbers(path: Path) -> Numbers:
    """Read and check a JSON file: numbers, or a whole ledger (`nungil explain --json`) whose numbers are taken."""
    loaded = parse_json(read_text(path), str(path))
    if isinstance(loaded, dict) and "residual" in loaded:
        loaded = loaded.get("numbers")
        if isinstance(loaded, dict) and "model" in loaded:
            raise UsageError(
                f"{path}: the ledger of a trained model, which holds no matrices to explain again; its page is printed "
                "by nungil explain DIR TEXT --step N"
            )
    return check_numbers(build_settings(loaded, Numbers, str(path)), str(path))


def check_numbers(numbers: Numbers, where: str) -> Numbers:
    """Refuse sizes that do not fit each other, all of them at once."""
    mistakes = list(_mistakes(numbers))
    if mistakes:
        raise ConfigError(where, mistakes)
    return numbers


def mechanism_named(name: str) -> Mechanism:
    """The mechanism of this name; forgiving about `scaled_dot` and capitals."""
    plain = name.strip().lower().replace("_", "-")
    for known in get_args(Mechanism):
        if known == plain:
            return known  # type: ignore[no-any-return]
    raise ConfigError("--score", [f"there is no mechanism {name!r}{did_you_mean(plain, get_args(Mechanism))}"])


def _mistakes(numbers: Numbers) -> Iterator[str]:
    S, Q, K = len(numbers.keys), len(numbers.query), len(numbers.keys[0])
    yield from _ragged("keys", numbers.keys)
    yield from _ragged("values", numbers.values or [])
    for name, given in (("values", numbers.values), ("tokens", numbers.tokens), ("keep", numbers.keep)):
        if given is not None and len(given) != S:
            yield f"{name}: {len(given)} for {counted(S, 'key')}; each key needs one"
    if numbers.keep is not None and not any(numbers.keep):
        yield "keep: a row with nothing to keep; at least one source token must be true"
    if (
        numbers.keep is not None
        and numbers.mechanism.startswith("local")
        and numbers.keep != sorted(numbers.keep)[::-1]
    ):
        yield f"keep: {numbers.mechanism} needs its padding on the right only"
    if numbers.coverage is not None and len(numbers.coverage) != S:
        yield f"coverage: {len(numbers.coverage)} for {counted(S, 'key')}; each key needs one"
    if numbers.compared in ONE_WIDTH and Q != K:
        yield f"keys: of width {K}, but {numbers.compared} needs that of the query, {Q}; general takes two widths"
    if numbers.mechanism == "multi-head":
        yield from _multi_head_mistakes(numbers)
    if any(temperature < COLDEST for temperature in numbers.temperatures):
        yield f"temperatures: must be at least {COLDEST:g}; 0 itself is only their limit"
    if numbers.temperatures and numbers.mechanism in ("local-p", "multi-head"):
        yield f"temperatures: {numbers.mechanism} has none"
    yield from _pointless(numbers)
    yield from _parameter_mistakes(numbers)
    if numbers.feed_forward is not None and numbers.mechanism == "multi-head":
        yield from _feed_forward_mistakes(numbers.feed_forward, Q)
        if numbers.output is not None:
            yield "feed_forward: stands in place of output; leave one of them out"
    if numbers.output is not None:
        yield from _output_mistakes(numbers.output, Q, len(numbers.what_is_read[0]))


def _pointless(numbers: Numbers) -> Iterator[str]:
    """What the mechanism has no use for is a misunderstanding, not a detail to pass over."""
    users = {
        "score": ("local-m", "local-p"),
        "reach": ("local-m", "local-p"),
        "heads": ("multi-head",),
        "feed_forward": ("multi-head",),
    }
    for name, mechanisms in users.items():
        if name in numbers.model_fields_set and numbers.mechanism not in mechanisms:
            yield f"{name}: {numbers.mechanism} has none; it belongs to {' and '.join(mechanisms)}"
    if "position" in numbers.model_fields_set and numbers.mechanism != "local-m" and not numbers.positions:
        yield f"position: {numbers.mechanism} has none; it belongs to local-m, or to positions"
    if numbers.positions and numbers.values is not None:
        yield "values: with positions, the keys are what is read; leave the values out"
    if numbers.coverage is not None and numbers.compared != "coverage":
        yield f"coverage: {numbers.compared} does not read it; the mechanism coverage does"


def _ragged(name: str, rows: Matrix) -> Iterator[str]:
    if rows and not rows[0]:
        yield f"{name}: row 1 is empty"
    for place, row in enumerate(rows, start=1):
        if len(row) != len(rows[0]):
            yield f"{name}: row {place} has {counted(len(row), 'number')}, row 1 has {len(rows[0])}"


def _multi_head_mistakes(numbers: Numbers) -> Iterator[str]:
    width = len(numbers.query)
    if width % numbers.heads:
        yield f"heads: a width of {width} is not divisible by {numbers.heads} heads"
    if numbers.values is not None and any(len(row) != width for row in numbers.values):
        yield f"values: multi-head takes values as wide as the query, {width}"


def _parameter_mistakes(numbers: Numbers) -> Iterator[str]:
    needed = {**PARAMETERS[numbers.compared], **PARAMETERS[numbers.mechanism]}
    allowed = {**needed, **(BIASES if numbers.mechanism == "multi-head" else {})}
    for name in numbers.parameters:
        if name not in allowed:
            hint = did_you_mean(name, allowed) if allowed else "; it has no parameters"
            yield f"[parameters] {name}: {numbers.mechanism} has no such parameter{hint}"
    for name, sides in needed.items():
        if name not in numbers.parameters:
            yield f"[parameters] {name}: is missing; {numbers.mechanism} needs it, {' × '.join(sides)}"
    sizes = {"Q": len(numbers.query), "K": len(numbers.keys[0]), "S": len(numbers.keys)}
    for name, sides in allowed.items():
        if name in numbers.parameters:
            yield from _side_mistakes(f"[parameters] {name}", numbers.parameters[name], sides, sizes)


def _side_mistakes(label: str, given: Matrix | Vector, sides: tuple[str, ...], sizes: dict[str, int]) -> Iterator[str]:
    """Compare a matrix with the sides it should have; a free side takes the first size it meets."""
    found = _shape(given)
    if found is None:
        yield f"{label}: rows of different lengths"
        return
    if len(found) != len(sides):
        yield f"{label}: a {('number', 'vector', 'matrix')[len(found)]} where {' × '.join(sides)} is needed"
        return
    for side, size in zip(sides, found, strict=True):
        if side in ("A", "L") and side not in sizes:
            sizes[side] = size
        expected = sum(sizes[part] for part in side.split("+"))
        if size != expected:
            yield f"{label}: is {' × '.join(map(str, found))}, but {' × '.join(sides)} needs {side} = {expected}"
        if side == "L" and size < sizes["S"]:
            yield f"{label}: has {size} rows for {sizes['S']} source tokens"


def _shape(given: Matrix | Vector) -> tuple[int, ...] | None:
    widths = {len(row) for row in given if isinstance(row, list)}
    if not widths:
        return (len(given),)
    return (len(given), widths.pop()) if len(widths) == 1 else None


def _feed_forward_mistakes(given: FeedForward, width: int) -> Iterator[str]:
    if width < 2:
        yield "feed_forward: needs a query of 2 numbers or more; the norm of one number is always 0"
    inner = len(given.W_1)
    for name, rows, size, across in (("W_1", given.W_1, inner, width), ("W_2", given.W_2, width, inner)):
        yield from (f"[feed_forward] {line}" for line in _ragged(name, rows))
        if (len(rows), len(rows[0])) != (size, across):
            yield f"[feed_forward] {name}: is {len(rows)} × {len(rows[0])}, but needs {size} × {across}"
    for name, bias, size in (("b_1", given.b_1, inner), ("b_2", given.b_2, width)):
        if bias is not None and len(bias) != size:
            yield f"[feed_forward] {name}: {counted(len(bias), 'number')}, but {size} are needed"


def _output_mistakes(output: Output, query_width: int, context_width: int) -> Iterator[str]:
    joined = context_width + (query_width if output.reads == "both" else 0)
    hidden = joined
    yield from (f"[output] {line}" for line in _ragged("W_c", output.W_c or []))
    yield from (f"[output] {line}" for line in _ragged("W_s", output.W_s))
    if output.W_c is not None:
        if not output.W_c or len(output.W_c[0]) != joined:
            yield f"[output] W_c: needs rows of {joined} numbers, the width of what it reads"
        hidden = len(output.W_c)
    if not output.W_s or len(output.W_s[0]) != hidden:
        yield f"[output] W_s: needs rows of {hidden} numbers, the width of what it reads"
    for name, given in (("b_s", output.b_s), ("words", output.words)):
        if given is not None and len(given) != len(output.W_s):
            yield f"[output] {name}: {len(given)} for {len(output.W_s)} rows of W_s"
