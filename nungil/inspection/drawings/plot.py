"""A drawing as PNG or PDF, through matplotlib. Nothing global is touched. No torch."""

import io
from collections.abc import Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, Literal

import numpy as np

from nungil.errors import ResourceError
from nungil.inspection.colours import Colour, colours_of
from nungil.inspection.drawings.drawing import Cells, Drawing, Text
from nungil.inspection.drawings.fonts import FIRST, Font, fonts_for, installed, signs_without_font, writable
from nungil.inspection.picture import Picture

if TYPE_CHECKING:
    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

POINTS = 72  # of an inch
DOTS, FEWER = 144, 96  # per inch: two for each point, and what is enough where …
LARGE = 1_200.0  # … a figure has more points than these on a side; its time and bytes go with the square of its dots
QUICKLY = 1  # how hard a large PNG is compressed: a third more bytes, and half a second less
MANY = 10_000  # cells beyond which a PDF has an image of them: no reader is glad of a million squares
ALIGNED = {"start": "left", "middle": "center", "end": "right"}


def to_figure(drawing: Drawing, form: Literal["png", "pdf"], fonts: Sequence[Font] | None = None) -> bytes:
    """The bytes of the file: the same for the same drawing and the same fonts."""
    figure_class = _figure_class(form)
    there = installed() if fonts is None else fonts
    signs = signs_without_font("".join({letter for text in drawing.texts for letter in text.text}), there)
    texts = [replace(text, text=writable(text.text, signs)) for text in drawing.texts]
    names = fonts_for("".join(text.text for text in texts), there)
    plain = {text for text in texts if text.bold and fonts_for(text.text, there) != [FIRST]}  # few other fonts are bold
    figure = figure_class(figsize=(drawing.width / POINTS, drawing.height / POINTS), facecolor="white")
    axes = figure.add_axes((0, 0, 1, 1), xlim=(0, drawing.width), ylim=(drawing.height, 0))
    axes.set_axis_off()
    for cells in drawing.cells:
        _cells(axes, cells)
    for rule in drawing.rules:
        axes.plot([rule.x, rule.to_x], [rule.y, rule.to_y], color=_colour(rule.colour), linewidth=rule.width)
    for text in texts:
        _text(axes, replace(text, bold=text.bold and text not in plain), names)
    file = io.BytesIO()
    # No time and no version in the file: the same picture is the same bytes.
    metadata = {"CreationDate": None, "Producer": None, "Creator": None} if form == "pdf" else {"Software": None}
    large = max(drawing.width, drawing.height) > LARGE
    options: dict[str, Any] = {"pil_kwargs": {"compress_level": QUICKLY}} if large and form == "png" else {}
    figure.savefig(file, format=form, dpi=FEWER if large else DOTS, metadata=metadata, **options)
    return file.getvalue()


def with_signs_written(picture: Picture, form: Literal["png", "pdf"], fonts: Sequence[Font] | None = None) -> Picture:
    """The picture with the signs that no font has as their numbers, so that its chart leaves room for what is drawn."""
    _figure_class(form)
    there = installed() if fonts is None else fonts
    signs = signs_without_font("".join((*picture.rows, *picture.columns, *picture.notes)), there)
    rows, columns, notes = (
        tuple(writable(text, signs) for text in texts) for texts in (picture.rows, picture.columns, picture.notes)
    )
    return replace(picture, rows=rows, columns=columns, notes=notes)


def _figure_class(form: str) -> "type[Figure]":
    try:
        from matplotlib.figure import Figure
    except ImportError:
        raise ResourceError(
            f"a .{form} needs matplotlib, which is not installed: pip install 'nungil[plot]'; --svg needs nothing"
        ) from None
    return Figure


def _cells(axes: "Axes", cells: Cells) -> None:
    R, C = cells.values.shape
    across, down = cells.size
    x, y = cells.x + across * np.arange(C + 1), cells.y + down * np.arange(R + 1)
    axes.pcolormesh(x, y, colours_of(cells.values, cells.high, cells.signed), rasterized=R * C > MANY)


def _text(axes: "Axes", text: Text, names: list[str]) -> None:
    axes.text(
        text.x,
        text.y,
        text.text,
        fontsize=text.size,
        fontfamily=FIRST if text.bold else names,
        fontweight="bold" if text.bold else "normal",
        color=_colour(text.colour),
        ha=ALIGNED[text.anchor],
        va="center" if not text.turned else "center_baseline",
        rotation=text.turned,
        rotation_mode="anchor",
        parse_math=False,  # a token may well be a $
    )


def _colour(colour: Colour) -> tuple[float, float, float]:
    red, green, blue = colour
    return red / 255, green / 255, blue / 255
