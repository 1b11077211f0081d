"""From a ledger to tables and lines of text, the same for terminal and Markdown. Knows no torch."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import groupby

import numpy as np

from nungil.inspection.ledger import Array, Ledger, LedgerStep
from nungil.inspection.stories import story_of
from nungil.inspection.words import Language, axis_of, name_of, sentence
from nungil.text.tokenizers.jamo import seen_jamo

SHOWN = 8  # the longest vector that is printed whole; a trained model's have hundreds, and JSON has them all
FIRST = 3  # numbers that are printed of a longer one
CANDIDATES = 10  # words that are printed of a vocabulary
Totals = dict[tuple[str | None, str | None, int | None, int | None], LedgerStep]  # by name, part, layer and head
# What makes one emoji of two, between two of them (or skin colours, or what asks for a picture): no sign of its own.
PICTURES = "\U0001f000-\U0001faff\u2190-\u2bff\ufe0f"
EMOJI_JOINED = re.compile(f"(?<=[{PICTURES}])\u200d(?=[{PICTURES}])")
ROUNDING = 1e-5  # more than this is not the rounding of numbers of 32 bits


@dataclass(frozen=True)
class Column:
    """One step over the rows of a table: heading, formula, a cell per row, and the total where there is one."""

    heading: str
    formula: str
    cells: tuple[str, ...]
    total: str = ""


@dataclass(frozen=True)
class Block:
    """A table (with rows) or, where no step has rows, lines: a column of one cell each.

    `title` and `story` open a part of a model, `name` one of its heads or layers. `steps` are the places of the steps
    in the ledger that it is made of, totals left out.
    """

    rows: str
    labels: tuple[str, ...]
    columns: tuple[Column, ...]
    title: str = ""
    story: str = ""
    name: str = ""
    steps: tuple[int, ...] = ()


def title_of(ledger: Ledger, language: Language = "en") -> str:
    """The first line of a page."""
    if not ledger.of_model:
        return sentence("title", language, mechanism=ledger.mechanism)
    facts = {name: visible(told) if isinstance(told, str) else told for name, told in ledger.numbers.items()}
    key = "read" if "word" in facts else "written" if "put_in" in facts else "labelled"
    return sentence(key, language, **facts)


def opening_of(ledger: Ledger) -> str:
    """The second line: a text, and what comes of it."""
    if not ledger.of_model or "text" not in ledger.numbers:
        return ""
    return f"{ledger.numbers['text']} → {ledger.numbers['target']}"


def lay_out(ledger: Ledger, language: Language = "en") -> list[Block]:
    """Steps over the same rows become the columns of one table; a total stands below what it is the sum of.

    The context vector, a total too, is named once more on a line of its own: it is what the look was for.
    """
    totals: Totals = {(step.total_of, *_place(step)): step for step in ledger.steps if step.total_of is not None}
    shown = [step for step in ledger.steps if step.total_of is None or step.name == "context"]
    blocks: list[Block] = []
    before: LedgerStep | None = None
    number = 0
    places = {id(step): place for place, step in enumerate(ledger.steps)}
    for _, group in groupby(shown, key=lambda step: (_rows_of(step), *_place(step))):
        steps = list(group)
        title, story, named = "", "", _named(steps[0], language)
        opens = before is None or _part(before) != _part(steps[0])
        if opens and steps[0].part is not None:
            number += 1
            title, story = _told(ledger, steps[0], language)
            title = f"{number}. {title}"
        if before is not None and not opens and _named(before, language) == named:
            named = ""
        block = _block((title, story, named), steps, totals, language)
        blocks.append(replace(block, steps=tuple(places[id(step)] for step in steps)))
        before = steps[0]
    return blocks


def verdict(ledger: Ledger, language: Language = "en") -> list[str]:
    """Where it looks, what comes of it, and how far the arithmetic is off the real module or model."""
    lines = list(_findings(ledger, language))
    residual = f"{ledger.residual:.1e}"
    if not ledger.of_model:
        return [*lines, sentence("residual", language, residual=residual, against=ledger.against)]
    if any(len(axis.labels) > SHOWN for step in ledger.steps for axis in step.axes if axis.name == "unit"):
        lines.append(sentence("long", language))
    lines.append(sentence("model residual", language, residual=residual))
    if ledger.residual > ROUNDING:
        double = ledger.numbers.get("residual_in_double", ledger.residual)
        lines.append(sentence("fault" if double > ROUNDING else "rounding", language, double=f"{double:.1e}"))
    return lines


def _findings(ledger: Ledger, language: Language) -> Iterator[str]:
    looks = [step for step in ledger.steps if step.name in ("weight", "local weight")]
    looks = [step for step in looks if ledger.kind in (None, step.part)]
    if looks and (ledger.of_model or looks[-1].head is None):
        token, weight = _largest(looks[-1])
        place = {"head": looks[-1].head, "layer": looks[-1].layer}
        key = "looks" if looks[-1].head is None else "head looks"
        yield sentence(key, language, token=token, weight=weight, **place)
    if "probability" in ledger:
        found = ledger.step("probability")
        word, probability = _largest(found)
        yield sentence("answers", language, word=word, probability=probability)
        chosen = ledger.numbers.get("chosen_id")
        if chosen is not None and int(np.argmax(found.values)) != chosen:
            own = found.values[chosen]
            rank = int((found.values > own).sum()) + 1
            name = visible(found.axes[0].labels[chosen])
            yield sentence("other", language, word=name, probability=f"{own:.4f}", rank=rank)


def visible(token: str) -> str:
    r"""A token as it can be printed on one line: a line break as \n, a terminal's escape as \x1b, a lone jamo as ㅏ."""
    shown = seen_jamo(token)
    if shown.isprintable():
        return shown
    joined = {found.start() for found in EMOJI_JOINED.finditer(shown)}
    return "".join(
        letter if letter.isprintable() or place in joined else repr(letter)[1:-1] for place, letter in enumerate(shown)
    )


def format_numbers(values: Array) -> list[str]:
    """As few decimals as all of them need, four at most; very large and very small ones with an exponent."""
    flat = [float(value) for value in np.ravel(values)]
    decimals = next((count for count in range(4) if all(abs(value - round(value, count)) < 1e-9 for value in flat)), 4)
    return [_format(value, decimals) for value in flat]


def _format(value: float, decimals: int) -> str:
    if value != 0 and (abs(value) >= 1e6 or abs(value) < 10**-decimals / 2):
        return f"{value:.2e}"
    return f"{value + 0.0:.{decimals}f}"  # + 0.0 turns −0 into 0


def _place(step: LedgerStep) -> tuple[str | None, int | None, int | None]:
    return step.part, step.layer, step.head


def _part(step: LedgerStep) -> tuple[str | None, int | None]:
    """What one title stands above: the layers of a cell are one part, those of a Transformer are parts of their own."""
    return step.part, None if step.part == "cell" else step.layer


def _named(step: LedgerStep, language: Language) -> str:
    """What stands above a block within a part: a head, or a layer of a cell that has several."""
    if step.head is not None:
        return sentence("head", language, head=step.head)
    return sentence("layer", language, layer=step.layer) if step.part == "cell" and step.layer is not None else ""


def _rows_of(step: LedgerStep) -> str:
    return step.axes[0].name if step.axes and step.axes[0].name != "unit" else ""


def _told(ledger: Ledger, step: LedgerStep, language: Language) -> tuple[str, str]:
    facts = {name: visible(told) if isinstance(told, str) else told for name, told in ledger.numbers.items()}
    return story_of(step.part or "", facts, language, step.layer)


def _block(
    opening: tuple[str, str, str],
    steps: Sequence[LedgerStep],
    totals: Totals,
    language: Language,
) -> Block:
    rows = _rows_of(steps[0])
    if not rows:
        columns = [
            Column(name_of(step.name, language), step.formula, (_vector(step.values, language),)) for step in steps
        ]
        return Block("", (), tuple(columns), *opening)
    labels = list(map(visible, steps[0].axes[0].labels))
    places = _candidates(steps) if rows in ("words", "labels") else list(range(len(labels)))
    columns = [
        column for step in steps for column in _columns(step, totals.get((step.name, *_place(step))), places, language)
    ]
    shown = [labels[place] for place in places]
    if len(places) < len(labels):
        shown.append(sentence("more", language, count=f"{len(labels) - len(places):,}"))
    return Block(axis_of(rows, language), tuple(shown), tuple(columns), *opening)


def _candidates(steps: Sequence[LedgerStep]) -> list[int]:
    """Of a few words all, in their order; of a vocabulary the most probable ones, the most probable first."""
    values = steps[-1].values
    if len(values) <= CANDIDATES:
        return list(range(len(values)))
    return [int(place) for place in np.argsort(-values, kind="stable")[:CANDIDATES]]


def _columns(step: LedgerStep, total: LedgerStep | None, places: Sequence[int], language: Language) -> list[Column]:
    """One column; but named numbers, such as the weights of several temperatures, get a column each."""
    heading = name_of(step.name, language)
    values, left = step.values[list(places)], len(step.values) - len(places)
    if len(step.axes) == 2 and step.axes[1].name != "unit":
        parts = zip(step.axes[1].labels, values.T, strict=True)
        named = f"{axis_of(step.axes[1].name, language)} " if step.axes[1].name in ("heads", "blocks") else ""
        return [Column(named + visible(label), step.formula, tuple(format_numbers(part))) for label, part in parts]
    if step.name in ("keep", "window"):
        return [Column(heading, step.formula, tuple("✓" if cell else "✗" for cell in values))]
    if total is None:
        return [Column(heading, step.formula, (*_cells(values), *[""] * (left > 0)))]
    rest = [np.delete(step.values, list(places), axis=0).sum(axis=0)[None]] if left else []
    *cells, below = _cells(np.concatenate([values, *rest, total.values[None]]))
    return [Column(heading, step.formula, tuple(cells), below)]


def _cells(values: Array) -> list[str]:
    """A cell per row, all with the same number of decimals; of long vectors the first numbers and the length."""
    if values.ndim == 1:
        return format_numbers(values)
    whole = values.shape[1] <= SHOWN
    width = values.shape[1] if whole else FIRST
    texts = format_numbers(values[:, :width])
    longest = max(len(text) for text in texts)
    rows = [
        "  ".join(text.rjust(longest) for text in texts[place : place + width]) for place in range(0, len(texts), width)
    ]
    if whole:
        return rows
    lengths = format_numbers(np.linalg.norm(values, axis=1))
    longest = max(map(len, lengths))
    return [f"{row} …  ‖{length.rjust(longest)}‖" for row, length in zip(rows, lengths, strict=True)]


def _vector(values: Array, language: Language) -> str:
    if values.ndim == 0:
        return format_numbers(values)[0]
    if len(values) <= SHOWN:
        return f"[{', '.join(format_numbers(values))}]"
    (length,) = format_numbers(np.asarray(np.linalg.norm(values)))
    more = sentence("numbers", language, count=len(values))
    return f"[{', '.join(format_numbers(values[:FIRST]))}, {more}]  ‖{length}‖"


def _largest(step: LedgerStep) -> tuple[str, str]:
    place = int(np.argmax(step.values))
    return visible(step.axes[0].labels[place]), f"{step.values[place]:.4f}"
