"""From a ledger to tables and lines of text, the same for terminal and Markdown. Knows no torch."""

from collections.abc import Sequence
from dataclasses import dataclass
from itertools import groupby

import numpy as np

from nungil.inspection.ledger import Array, Ledger, LedgerStep
from nungil.inspection.words import Language, axis_of, name_of, sentence

SHOWN = 16  # numbers of a vector that are printed; a trained model's have hundreds, and JSON has them all


@dataclass(frozen=True)
class Column:
    """One step over the rows of a table: heading, formula, a cell per row, and the total where there is one."""

    heading: str
    formula: str
    cells: tuple[str, ...]
    total: str = ""


@dataclass(frozen=True)
class Block:
    """A table (with rows) or, where no step has rows, lines: a column of one cell each."""

    title: str
    rows: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]


def lay_out(ledger: Ledger, language: Language = "en") -> list[Block]:
    """Steps over the same rows become the columns of one table; a total stands below what it is the sum of.

    The context vector, a total too, is named once more on a line of its own: it is what the look was for.
    """
    totals = {(step.total_of, step.head): step for step in ledger.steps if step.total_of is not None}
    shown = [step for step in ledger.steps if step.total_of is None or step.name == "context"]
    blocks, last_head = [], None
    for (rows, head), group in groupby(shown, key=lambda step: (_rows_of(step), step.head)):
        title = sentence("head", language, head=head) if head is not None and head != last_head else ""
        blocks.append(_block(title, rows, list(group), totals, language))
        last_head = head
    return blocks


def verdict(ledger: Ledger, language: Language = "en") -> list[str]:
    """Where it looks, what comes of it, and how far the arithmetic is off the real module."""
    lines = []
    weights = next((step for step in reversed(ledger.steps) if step.name in ("weight", "local weight")), None)
    if weights is not None and weights.head is None:
        token, weight = _largest(weights)
        lines.append(sentence("looks", language, token=token, weight=weight))
    if "probability" in ledger:
        word, probability = _largest(ledger.step("probability"))
        lines.append(sentence("answers", language, word=word, probability=probability))
    residual = f"{ledger.residual:.1e}"
    return [*lines, sentence("residual", language, residual=residual, against=ledger.against)]


def visible(token: str) -> str:
    r"""A token as it can be printed on one line: a line break as \n, a terminal's escape as \x1b."""
    return "".join(character if character.isprintable() else repr(character)[1:-1] for character in token)


def format_numbers(values: Array) -> list[str]:
    """As few decimals as all of them need, four at most; very large and very small ones with an exponent."""
    flat = [float(value) for value in np.ravel(values)]
    decimals = next((count for count in range(4) if all(abs(value - round(value, count)) < 1e-9 for value in flat)), 4)
    return [_format(value, decimals) for value in flat]


def _format(value: float, decimals: int) -> str:
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 10**-decimals / 2):
        return f"{value:.2e}"
    return f"{value + 0.0:.{decimals}f}"  # + 0.0 turns −0 into 0


def _rows_of(step: LedgerStep) -> str:
    return step.axes[0].name if step.axes and step.axes[0].name != "unit" else ""


def _block(
    title: str,
    rows: str,
    steps: Sequence[LedgerStep],
    totals: dict[tuple[str, int | None], LedgerStep],
    language: Language,
) -> Block:
    if not rows:
        columns = [Column(name_of(step.name, language), step.formula, (_vector(step.values),)) for step in steps]
        return Block(title, "", (), tuple(columns))
    columns = [column for step in steps for column in _columns(step, totals.get((step.name, step.head)), language)]
    return Block(title, axis_of(rows, language), tuple(map(visible, steps[0].axes[0].labels)), tuple(columns))


def _columns(step: LedgerStep, total: LedgerStep | None, language: Language) -> list[Column]:
    """One column; but named numbers, such as the weights of several temperatures, get a column each."""
    heading = name_of(step.name, language)
    if len(step.axes) == 2 and step.axes[1].name != "unit":
        parts = zip(step.axes[1].labels, step.values.T, strict=True)
        return [Column(visible(label), step.formula, tuple(format_numbers(column))) for label, column in parts]
    if step.name in ("keep", "window"):
        return [Column(heading, step.formula, tuple("✓" if cell else "✗" for cell in step.values))]
    if total is None:
        return [Column(heading, step.formula, tuple(_cells(step.values)))]
    *cells, below = _cells(np.concatenate([step.values, total.values[None]]))
    return [Column(heading, step.formula, tuple(cells), below)]


def _cells(values: Array) -> list[str]:
    """A cell per row, all with the same number of decimals."""
    if values.ndim == 1:
        return format_numbers(values)
    texts = format_numbers(values[:, :SHOWN])
    width, longest = min(values.shape[1], SHOWN), max(len(text) for text in texts)
    rows = [texts[place : place + width] for place in range(0, len(texts), width)]
    more = f" … of {values.shape[1]}" if values.shape[1] > SHOWN else ""
    return ["  ".join(text.rjust(longest) for text in row) + more for row in rows]


def _vector(values: Array) -> str:
    if values.ndim == 0:
        return format_numbers(values)[0]
    texts = format_numbers(values[:SHOWN])
    return f"[{', '.join(texts)}{f', … of {len(values)}' if len(values) > SHOWN else ''}]"


def _largest(step: LedgerStep) -> tuple[str, str]:
    place = int(np.argmax(step.values))
    return visible(step.axes[0].labels[place]), f"{step.values[place]:.4f}"
