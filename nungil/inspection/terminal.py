"""A ledger in the terminal: tables cut to the window's width, so that no number is ever shortened."""

from collections.abc import Iterator
from dataclasses import replace

from rich.cells import cell_len
from rich.console import Console
from rich.text import Text

from nungil.inspection.layout import Block, Column, lay_out, opening_of, title_of, verdict, visible
from nungil.inspection.ledger import Ledger
from nungil.inspection.words import Language, sentence

GAP = "   "
READABLE = 100  # columns of running text, where a window has more
INDENT = 4


def print_ledger(ledger: Ledger, console: Console, language: Language = "en", story: str = "") -> None:
    """Title, story, tables, verdict. Every token is printed as text, never read as markup."""
    for line in _lines(ledger, console, language, story or visible(opening_of(ledger))):
        line.rstrip()
        console.print(line, soft_wrap=True)


def _lines(ledger: Ledger, console: Console, language: Language, story: str) -> Iterator[Text]:
    yield Text(title_of(ledger, language), style="bold")
    if story:
        yield Text(story)
    for block in lay_out(ledger, language):
        yield Text()
        if block.title:
            yield Text(block.title, style="bold")
            yield from Text(block.story, style="dim").wrap(console, min(console.width, READABLE))
            yield Text()
        if block.name:
            yield Text(block.name, style="bold")
        yield from _tables(block, console.width, sentence("sum", language)) if block.rows else _vectors(block, console)
    yield Text()
    for line in verdict(ledger, language):
        yield from Text(line).wrap(console, console.width) if ledger.of_model else [Text(line)]


def _vectors(block: Block, console: Console) -> Iterator[Text]:
    """A line for each vector; where a formula leaves no room for its numbers, they stand below it."""
    names, numbers = (
        max(map(cell_len, texts))
        for texts in zip(*((column.heading, column.cells[0]) for column in block.columns), strict=True)
    )
    room = console.width - names - numbers - 2 * len(GAP)
    formulas = [cell_len(column.formula) for column in block.columns]
    formula = max((length for length in formulas if length <= room), default=0)
    indent = names + len(GAP) + formula + len(GAP) if formula else INDENT
    for column, length in zip(block.columns, formulas, strict=True):
        line = Text.assemble(_left(column.heading, names), GAP, (column.formula, "cyan"))
        if length <= formula:
            yield line.append(" " * (formula - length) + GAP + column.cells[0])
        else:
            yield line
            yield Text(" " * indent + column.cells[0])


def _tables(block: Block, width: int, sign: str) -> Iterator[Text]:
    """One table, or several below each other where the window is too narrow for all columns."""
    labels = max(cell_len(label) for label in (block.rows, sign, *block.labels))
    columns = list(block.columns)
    while columns:
        count, used = 1, labels + len(GAP) + _width(columns[0])
        while count < len(columns) and (used := used + len(GAP) + _width(columns[count])) <= width:
            count += 1
        yield from _table(replace(block, columns=tuple(columns[:count])), labels, sign)
        columns = columns[count:]
        if columns:
            yield Text()


def _table(block: Block, labels: int, sign: str) -> Iterator[Text]:
    widths = [_width(column) for column in block.columns]
    yield _row("", [column.heading for column in block.columns], labels, widths)
    yield _row(block.rows, [column.formula for column in block.columns], labels, widths, style="cyan")
    yield Text("─" * (labels + sum(widths) + len(GAP) * len(widths)))
    for place, label in enumerate(block.labels):
        yield _row(label, [column.cells[place] for column in block.columns], labels, widths)
    if any(column.total for column in block.columns):
        yield _row(sign, [column.total for column in block.columns], labels, widths, style="bold")


def _row(label: str, cells: list[str], labels: int, widths: list[int], style: str = "") -> Text:
    line = Text(_left(label, labels))
    for cell, width in zip(cells, widths, strict=True):
        line.append(GAP + " " * (width - cell_len(cell)))
        line.append(cell, style=style)
    return line


def _width(column: Column) -> int:
    return max(cell_len(text) for text in (column.heading, column.formula, column.total, *column.cells))


def _left(text: str, width: int) -> str:
    return text + " " * (width - cell_len(text))
