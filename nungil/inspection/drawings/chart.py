"""From a picture to a drawing: cells with their numbers, words along the sides, a colour scale, notes. No torch."""

from collections.abc import Iterator, Sequence
from math import cos, radians, sin

import numpy as np

from nungil.inspection.colours import INK, PAPER, Colour, colours_of, ink_on
from nungil.inspection.drawings.drawing import Array, Cells, Drawing, Rule, Text, shortened, width_of, wrapped
from nungil.inspection.picture import Picture

LETTERS, TITLE, NOTE, NUMBER = 10.0, 12.0, 9.0, 8.5  # sizes of letters
SOFT: Colour = (84, 98, 112)
MARGIN, GAP = 14.0, 6.0
ROOMY, SMALLEST = (38.0, 26.0), 4.0  # a cell at most, at least
LEGIBLE = (26.0, 14.0)  # a cell that has room for its number
WIDEST = 900.0  # the matrix, while its cells can be made smaller
LINE = 11.0  # labels stand no closer than this
LONGEST_LABEL = 150.0
APART = 5.0  # two labels beside each other
SLOPE = 60.0  # of turned labels, in degrees
NARROWEST = 400.0  # the drawing: notes need room
BAR = (12.0, 24)  # the colour scale: its width, and in how many steps it is drawn
MINUS = 0.1  # from this part of the scale on, what is below 0 is marked, because in grey it could be above


def chart(picture: Picture) -> Drawing:
    """The picture as a figure. Labels that do not fit above their columns are turned; too many are thinned out."""
    across, down = _cell_size(picture)
    R, C = picture.cells.shape
    left = MARGIN + max(_label_width(row) for row in picture.rows) + GAP
    head, turned = _heading(picture.columns, across)
    top = MARGIN + TITLE + 2 * GAP + head
    matrix = Cells(
        left, top, (across, down), picture.cells, picture.high, picture.signed, picture.rows, picture.columns, "map"
    )
    overhang = max(_reach(picture.columns, across) if turned else 0.0, 2 * GAP)
    scale, ticks = colour_scale(left + C * across + overhang, top, min(max(R * down, 70.0), 220.0), picture)
    width = max(scale.x + 60.0, NARROWEST, 2 * MARGIN + width_of(picture.title, TITLE))
    bottom = max(top + R * down, scale.y + scale.size[1] * len(scale.values)) + 2 * GAP
    unit = unit_in(picture.high) if _has_numbers(matrix) else 1.0
    said = picture.notes if unit == 1 else (*picture.notes, f"Numbers in the cells: × {unit:g}.")
    notes = list(below(said, bottom, width))
    labels = [*_row_labels(matrix), *_column_labels(matrix, turned)]
    return Drawing(
        width=width,
        height=(notes[-1].y if notes else bottom) + NOTE + GAP,
        about=picture.title,
        cells=(matrix, scale),
        texts=(
            Text(MARGIN, MARGIN + TITLE / 2, picture.title, TITLE, bold=True),
            *(labels + ticks + list(_numbers(matrix)) + notes),
        ),
        rules=tuple(_minuses(matrix)),
    )


def colour_scale(x: float, y: float, height: float, picture: Picture) -> tuple[Cells, list[Text]]:
    """The colours from the largest down, with numbers beside them."""
    width, steps = BAR
    low = -picture.high if picture.signed else 0.0
    values: Array = np.linspace(picture.high, low, steps)[:, None]
    named = tuple(f"{value:.3g}" for value in values[:, 0])
    cells = Cells(x, y, (width, height / steps), values, picture.high, picture.signed, named, ("",), "scale")
    ticks = [
        Text(x + width + 4, y + height * part, f"{picture.high + (low - picture.high) * part:.3g}", NOTE, colour=SOFT)
        for part in (0.0, 0.25, 0.5, 0.75, 1.0)
    ]
    return cells, ticks


def below(notes: Sequence[str], y: float, width: float) -> Iterator[Text]:
    """Notes as lines of text from this height on."""
    for line in (line for note in notes for line in wrapped(note, NOTE, width - 2 * MARGIN)):
        y += NOTE + 4
        yield Text(MARGIN, y, line, NOTE, colour=SOFT)


def unit_in(high: float) -> float:
    """What the numbers in cells are counted in: 1, unless all are so small or so large that a cell has no room."""
    return 1.0 if 0.05 <= high < 100 else float(10.0 ** np.floor(np.log10(high) + 1e-9))


def number_in(value: float, high: float) -> str:
    """A number short enough for a cell: .31, 1, −.05; a dot for what rounds to 0, nothing for 0."""
    if value == 0:
        return ""
    unit = unit_in(high)
    text = f"{abs(value) / unit:.{1 if high / unit > 10 else 2}f}"
    if not text.strip("0."):
        return "·"
    text = "1" if text == "1.00" else text.removeprefix("0")
    return f"−{text}" if value < 0 else text


def _cell_size(picture: Picture) -> tuple[float, float]:
    """As large as there is room for. Many columns or rows make cells square, so that a diagonal looks like one."""
    R, C = picture.cells.shape
    across, down = (max(SMALLEST, min(most, WIDEST / count)) for most, count in zip(ROOMY, (C, R), strict=True))
    return (across, down) if across >= LEGIBLE[0] and down >= LEGIBLE[1] else (min(across, down),) * 2


def _has_numbers(cells: Cells) -> bool:
    return cells.size[0] >= LEGIBLE[0] and cells.size[1] >= LEGIBLE[1]


def _label_width(label: str) -> float:
    return min(width_of(label, LETTERS), LONGEST_LABEL)


def _heading(columns: Sequence[str], across: float) -> tuple[float, bool]:
    """How high the labels above the columns are, and whether they are turned."""
    longest = max(_label_width(column) for column in columns)
    if longest <= across - APART:
        return LETTERS + GAP, False
    return longest * sin(radians(SLOPE)) + LETTERS, True


def _reach(columns: Sequence[str], across: float) -> float:
    """How far the last turned labels stand out to the right of the matrix."""
    ends = (
        place * across + across / 2 + _label_width(column) * cos(radians(SLOPE)) + LETTERS
        for place, column in enumerate(columns)
    )
    return max(ends) - len(columns) * across


def _every(step: float) -> int:
    """Every so many labels are drawn: all, unless they would stand on each other."""
    return max(1, int(np.ceil(LINE / step - 1e-9)))


def _row_labels(cells: Cells) -> Iterator[Text]:
    down = cells.size[1]
    for row in range(0, len(cells.rows), _every(down)):
        text = shortened(cells.rows[row], LETTERS, LONGEST_LABEL)
        y = cells.y + (row + 0.5) * down
        yield Text(cells.x - GAP, y, text, LETTERS, "end", full=cells.rows[row])


def _column_labels(cells: Cells, turned: bool) -> Iterator[Text]:
    across = cells.size[0]
    for column in range(0, len(cells.columns), _every(across)):
        text, x = shortened(cells.columns[column], LETTERS, LONGEST_LABEL), cells.x + (column + 0.5) * across
        full = cells.columns[column]
        if turned:
            yield Text(x, cells.y - GAP, text, LETTERS, "start", SLOPE, full=full)
        else:
            yield Text(x, cells.y - GAP - LETTERS / 2, text, LETTERS, "middle", full=full)


def _numbers(cells: Cells) -> Iterator[Text]:
    """The number of each cell, where cells are large enough."""
    across, down = cells.size
    if not _has_numbers(cells):
        return
    light = ink_on(colours_of(cells.values, cells.high, cells.signed))
    for (row, column), value in np.ndenumerate(cells.values):
        text = number_in(float(value), cells.high)
        if text:
            x, y = cells.x + (column + 0.5) * across, cells.y + (row + 0.5) * down
            yield Text(x, y, text, NUMBER, "middle", colour=PAPER if light[row, column] else INK)


def _minuses(cells: Cells) -> Iterator[Rule]:
    """A short line in each cell below 0 that has no room for its number."""
    across, down = cells.size
    if not cells.signed or _has_numbers(cells):
        return
    light = ink_on(colours_of(cells.values, cells.high, cells.signed))
    for row, column in np.argwhere(cells.values < -MINUS * cells.high):
        x, y = cells.x + (column + 0.5) * across, cells.y + (row + 0.5) * down
        ink = PAPER if light[row, column] else INK
        yield Rule(x - across / 4, y, x + across / 4, y, colour=ink)
