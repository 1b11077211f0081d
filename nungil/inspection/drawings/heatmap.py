"""A picture in the terminal: coloured or shaded cells with their numbers in them, readable without colour. No torch."""

from collections.abc import Iterator, Sequence
from functools import cache
from typing import Any

import numpy as np
from rich.cells import cell_len, chop_cells, set_cell_size
from rich.color import Color, ColorSystem
from rich.console import Console
from rich.segment import Segment, Segments
from rich.style import Style
from rich.text import Text

from nungil.inspection.colours import INK, PAPER, colours_of, ink_on
from nungil.inspection.layout import visible
from nungil.inspection.picture import Picture
from nungil.inspection.record import Array, AttentionRecord

CELL = 4  # shade and number: ▒▒31
WIDEST_COLUMN = 8  # a longer token goes on in the next line of the heading, unless there is room for all of it
LONGEST_TOKEN = 24
BAR = 30
MARKED = 1.5  # times an even share: of two words one can have that, too
SHADES = ((75, "█"), (50, "▓"), (25, "▒"), (5, "░"), (0, " "))  # from how many hundredths
BLOCKS = "░ from 5, ▒ from 25, ▓ from 50, █ from 75; "
RAMP = 24  # cells of the colour scale
BOLD = Style(bold=True)
Rows = list[str]  # rows of cells as a terminal takes them: there may be hundreds of thousands of cells
COLOURED = {"truecolor": ColorSystem.TRUECOLOR, "256": ColorSystem.EIGHT_BIT}  # what can show a scale; 16 cannot


def print_map(
    record: AttentionRecord,
    console: Console,
    kind: str | None = None,
    layer: int | None = None,
    head: int | None = None,
) -> None:
    """Print one map (by default the main one, the mean over its heads) with how it is to be read."""
    print_picture(record.picture(kind, layer, head), console)


def print_picture(picture: Picture, console: Console) -> None:
    """Print a picture. What is wider than the console is cut into blocks of columns below each other.

    Cells have a coloured ground where the console can show one, and blocks of shade where it cannot or may not.
    """
    system = None if console.no_color else COLOURED.get(console.color_system or "")
    for part in _parts(picture, console.width, system):
        if isinstance(part, Text):
            part.rstrip()
            console.print(part, soft_wrap=bool(part.no_wrap))  # sentences wrap between words, tables never
        else:
            console.print(Segments([Segment("".join(f"{row}\n" for row in part))]), soft_wrap=True, end="")


def _parts(picture: Picture, width: int, system: ColorSystem | None) -> Iterator[Text | Rows]:
    yield Text(picture.title, style="bold")
    yield Text()
    rows, columns = ([_short(token) for token in side] for side in (picture.rows, picture.columns))
    if picture.bars:
        yield from _highlighted(columns, picture.cells[0])
        yield from _bars(columns, picture.cells[0])
    else:
        yield from _blocks(rows, columns, picture, width, system)
    yield Text()
    for note in picture.notes:
        yield Text(note)
    if picture.bars:
        yield Text("«…» has more than one and a half times an even share.")
    else:
        yield from _legend(picture, system is not None)


def unit_of(picture: Picture) -> float:
    """What the numbers in the cells are hundredths of: 1, unless all are very small or some are larger."""
    return 1.0 if 0.05 <= picture.high <= 1 else picture.high


def _legend(picture: Picture, coloured: bool) -> Iterator[Text]:
    unit = unit_of(picture)
    of = "" if unit == 1 else f" of {unit:.3g}"
    yield Text(f"Numbers: hundredths{of}; {'' if coloured else BLOCKS}· rounds to 0, blank is 0.")
    if coloured:
        low = -picture.high if picture.signed else 0.0
        line = Text(f"Colours: {low:.3g} ", no_wrap=True)
        for style in _grounds(np.linspace(low, picture.high, RAMP), picture):
            line.append(" ", style=style)
        line.append(f" {picture.high:.3g}")
        yield line


def _grounds(cells: Array, picture: Picture) -> list[Any]:
    """The ground of each cell, and ink that can be read on it, in lists as deep as the array."""
    colours = colours_of(cells, picture.high, picture.signed)
    _, first, which = np.unique(colours.astype(np.int64) @ (65536, 256, 1), return_index=True, return_inverse=True)
    kinds = colours.reshape(-1, 3)[first]
    styles = np.empty(len(kinds), dtype=object)
    styles[:] = [_ground(*colour, white) for colour, white in zip(kinds.tolist(), ink_on(kinds).tolist(), strict=True)]
    listed: list[Any] = styles[which.reshape(cells.shape)].tolist()
    return listed


@cache
def _ground(red: int, green: int, blue: int, light: bool) -> Style:
    return Style(color=Color.from_rgb(*(PAPER if light else INK)), bgcolor=Color.from_rgb(red, green, blue))


def _blocks(
    rows: list[str], columns: list[str], picture: Picture, width: int, system: ColorSystem | None
) -> Iterator[Text | Rows]:
    """As few blocks of columns as the console is wide for, below each other and about equally wide."""
    labels = max(cell_len(row) for row in rows)
    widths = _widths(columns, width - labels)
    room, blocks = width - labels, _cut_up(widths, width - labels)
    while len(blocks) > 1 and room > 0 and len(evener := _cut_up(widths, room)) == len(blocks):
        room, blocks = room - 1, evener
    hundredths = np.rint(100 * picture.cells / unit_of(picture)).astype(np.int64).tolist()
    sides = [hundredths, (picture.cells == 0).tolist()]
    if system is not None:
        sides += [(abs(picture.cells) == abs(picture.cells).max(axis=1, keepdims=True)).tolist()]
        sides += [_grounds(picture.cells, picture)]
    named = [_right(row, labels) for row in rows]
    for block in blocks:
        if block.start:
            yield Text()
        yield from _heading(columns[block], widths[block], labels)
        cut = [[line[block] for line in side] for side in sides]
        if system is None:
            yield [_shaded(name, cut[0][row], cut[1][row], widths[block]) for row, name in enumerate(named)]
        else:
            yield [_painted(name, [side[row] for side in cut], widths[block], system) for row, name in enumerate(named)]


def _widths(columns: Sequence[str], room: int) -> list[int]:
    """As wide as the tokens, where that takes no more blocks; else long ones are broken into even lines."""
    lengths = [max(CELL, cell_len(column)) for column in columns]
    broken = [_even_width(column, WIDEST_COLUMN) for column in columns]
    whole = max(lengths) < room and len(_cut_up(lengths, room)) == len(_cut_up(broken, room))
    return lengths if whole else broken


def _even_width(column: str, widest: int) -> int:
    """The least width that breaks a token into no more lines than the widest would."""
    lines = len(chop_cells(column, widest))
    return next(width for width in range(CELL, widest + 1) if len(chop_cells(column, width)) <= lines)


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


def _painted(label: str, sides: list[list[Any]], widths: list[int], system: ColorSystem) -> str:
    """A label and its cells: hundredths, whether it is 0, whether it is the largest of its row (bold), its ground."""
    cells = zip(*sides, widths, strict=True)
    return f"{label} " + " ".join([_paint(*cell, system) for cell in cells])


@cache
def _paint(number: int, nothing: bool, bold: bool, ground: Style, width: int, system: ColorSystem) -> str:
    text = _cell(number, nothing)[1].rjust(width - 1).ljust(width)
    return (ground + BOLD if bold else ground).render(text, color_system=system)


def _shaded(label: str, hundredths: list[int], nothing: list[bool], widths: list[int]) -> str:
    """The same without colours: blocks before the numbers."""
    texts = [label]
    for number, none, width in zip(hundredths, nothing, widths, strict=True):
        texts.append(" " * (1 + width - CELL) + "".join(_cell(number, none)))
    return "".join(texts).rstrip()


@cache
def _cell(hundredths: int, nothing: bool) -> tuple[str, str]:
    """Shade and text of a number, together of the width of a cell; a negative one has its minus."""
    shade = next(sign for least, sign in SHADES if abs(hundredths) >= least)
    text = str(hundredths or ("" if nothing else "·")).rjust(2)
    return shade * (CELL - len(text)), text


def _highlighted(tokens: Sequence[str], weights: Array) -> Iterator[Text]:
    """The text, with the words that were looked at most in «…»."""
    line, even = Text(), float(abs(weights).sum()) / len(tokens)
    for token, weight in zip(tokens, weights.tolist(), strict=True):
        line.append(" " if line else "")
        most = abs(weight) > MARKED * even
        line.append(f"«{token}»" if most else token, style="bold blue" if most else "")
    yield line
    yield Text()


def _bars(tokens: Sequence[str], weights: Array) -> Iterator[Text]:
    labels, largest = max(cell_len(token) for token in tokens), float(abs(weights).max()) or 1.0
    numbers = [f"{weight:.3f}" for weight in weights.tolist()]
    width = max(map(len, numbers))
    for token, number, weight in zip(tokens, numbers, weights.tolist(), strict=True):
        line = Text(f"{_right(token, labels)}  {number.rjust(width)}  ")
        sign = "█" if weight >= 0 else "░"
        line.append(sign * round(BAR * abs(weight) / largest), style="blue" if weight >= 0 else "red")
        yield line


def _short(token: str) -> str:
    """A token on one line, cut where it is too long to be read in a table."""
    shown = visible(token)
    return shown if cell_len(shown) <= LONGEST_TOKEN else set_cell_size(shown, LONGEST_TOKEN - 1).rstrip() + "…"


def _right(text: str, width: int) -> str:
    return " " * (width - cell_len(text)) + text
