"""A map in the terminal: shaded cells with their numbers in them, readable without colour. No torch."""

from collections.abc import Iterator, Sequence

from rich.cells import cell_len, chop_cells, set_cell_size
from rich.console import Console
from rich.text import Text

from nungil.inspection.layout import visible
from nungil.inspection.record import Array, AttentionMap, AttentionRecord

CELL = 4  # shade and number: ▒▒31
WIDEST_COLUMN = 8  # a longer token goes on in the next line of the heading
LONGEST_TOKEN = 24
BAR = 30
SHADES = ((75, "█"), (50, "▓"), (25, "▒"), (5, "░"), (0, " "))  # from how many hundredths
LEGEND = "hundredths; ░ from 5, ▒ from 25, ▓ from 50, █ from 75; · rounds to 0, blank is 0"


def print_map(
    record: AttentionRecord,
    console: Console,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> None:
    """Print one map (by default the main one, the mean over its heads) with how it is to be read.

    What is wider than the console is cut into blocks of columns below each other.
    """
    one, weights = record.map_of(kind, layer), record.select(kind, layer, head)
    for line in _lines(record, one, weights, head, console.width):
        line.rstrip()
        console.print(line, soft_wrap=bool(line.no_wrap))  # sentences wrap between words, tables never


def describe_map(one: AttentionMap, head: int | None) -> str:
    """Which map it is: `cross attention · layer 0 · mean over 8 heads`. One without heads says nothing of them."""
    which = f"head {head}" if head is not None else f"mean over {one.heads} heads"
    return f"{one.kind} attention · layer {one.layer}" + (f" · {which}" if one.heads > 1 else "")


def describe_sums(weights: Array) -> str:
    """`each row sums to 1`, or the truth."""
    sums = weights.sum(axis=-1)
    if abs(sums - 1).max() < 5e-3:
        return "each row sums to 1"
    low, high = f"{sums.min():.2f}", f"{sums.max():.2f}"
    return f"rows do not sum to 1, but to {low if low == high else f'{low} … {high}'}"


def _lines(record: AttentionRecord, one: AttentionMap, weights: Array, head: int | None, width: int) -> Iterator[Text]:
    yield Text(describe_map(one, head), style="bold")
    yield Text()
    rows, columns = ([_short(token) for token in record.tokens_of(side)] for side in (one.rows, one.columns))
    if one.kind == "pooling":
        yield from _highlighted(columns, weights[0])
        yield from _bars(columns, weights[0])
    else:
        yield from _blocks(rows, columns, weights, width)
    yield Text()
    yield Text(f"Reading: {record.reading_of(one)}; {describe_sums(weights)}.")
    yield Text(f"Merging: {record.merge}.")
    yield Text("«…» has more than twice an even share." if one.kind == "pooling" else f"Numbers: {LEGEND}.")


def _blocks(rows: list[str], columns: list[str], weights: Array, width: int) -> Iterator[Text]:
    """As few blocks of columns as the console is wide for, below each other and about equally wide."""
    labels = max(cell_len(row) for row in rows)
    widths = [min(max(CELL, cell_len(column)), WIDEST_COLUMN) for column in columns]
    room, blocks = width - labels, _cut_up(widths, width - labels)
    while len(blocks) > 1 and room > 0 and len(evener := _cut_up(widths, room)) == len(blocks):
        room, blocks = room - 1, evener
    for block in blocks:
        if block.start:
            yield Text()
        yield from _heading(columns[block], widths[block], labels)
        for row, line in zip(rows, weights, strict=True):
            yield _row(row, line[block], widths[block], labels, float(line.max()))


def _cut_up(widths: Sequence[int], room: int) -> list[slice]:
    """Columns that stand beside each other, each with a space before it; a column wider than the room stands alone."""
    blocks, first, used = [], 0, 0
    for place, width in enumerate(widths):
        if place > first and used + 1 + width > room:
            blocks.append(slice(first, place))
            first, used = place, 0
        used += 1 + width
    return [*blocks, slice(first, len(widths))]


def _heading(columns: Sequence[str], widths: Sequence[int], labels: int) -> Iterator[Text]:
    """The tokens above their columns, long ones on several lines that end right above the cells."""
    chopped = [chop_cells(column, width) or [""] for column, width in zip(columns, widths, strict=True)]
    height = max(len(lines) for lines in chopped)
    for level in range(height):
        line = Text(" " * labels, no_wrap=True)
        for lines, width in zip(chopped, widths, strict=True):
            text = lines[level - height + len(lines)] if level >= height - len(lines) else ""
            line.append(" " + _right(text, width), style="cyan")
        yield line


def _row(label: str, weights: Array, widths: Sequence[int], labels: int, largest: float) -> Text:
    line = Text(_right(label, labels), no_wrap=True)
    for weight, width in zip(weights.tolist(), widths, strict=True):
        line.append(" " * (1 + width - CELL))
        shade, number = _cell(weight)
        line.append(shade, style="blue")
        line.append(number, style="bold" if weight == largest else "")
    return line


def _cell(weight: float) -> tuple[str, str]:
    """Shade and number of a weight, together of the width of a cell."""
    hundredths = round(100 * weight)
    shade = next(sign for least, sign in SHADES if hundredths >= least)
    number = str(hundredths or ("·" if weight else "")).rjust(2)
    return shade * (CELL - len(number)), number


def _highlighted(tokens: Sequence[str], weights: Array) -> Iterator[Text]:
    """The text, with the words that were looked at most in «…»."""
    line, even = Text(), float(weights.sum()) / len(tokens)
    for token, weight in zip(tokens, weights.tolist(), strict=True):
        line.append(" " if line else "")
        line.append(f"«{token}»" if weight > 2 * even else token, style="bold blue" if weight > 2 * even else "")
    yield line
    yield Text()


def _bars(tokens: Sequence[str], weights: Array) -> Iterator[Text]:
    labels, largest = max(cell_len(token) for token in tokens), float(weights.max()) or 1.0
    for token, weight in zip(tokens, weights.tolist(), strict=True):
        line = Text(f"{_right(token, labels)}  {weight:.3f}  ")
        line.append("█" * round(BAR * weight / largest), style="blue")
        yield line


def _short(token: str) -> str:
    """A token on one line, cut where it is too long to be read in a table."""
    shown = visible(token)
    return shown if cell_len(shown) <= LONGEST_TOKEN else set_cell_size(shown, LONGEST_TOKEN - 1).rstrip() + "…"


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
