"""Drawing: where every cell, letter and line of a figure stands, in points, for SVG, PNG and PDF alike. No torch."""

import unicodedata
from dataclasses import dataclass
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from nungil.inspection.colours import INK, Colour

Array = NDArray[np.float64]
Anchor = Literal["start", "middle", "end"]
NARROW, WIDE = 0.6, 1.0  # of a letter, as parts of its size; a little more than most fonts need


@dataclass(frozen=True, eq=False)
class Cells:
    """The cells of a matrix, the first row on top. `name` and the tokens are for whoever points at one or parses it."""

    x: float
    y: float
    size: tuple[float, float]  # of one cell
    values: Array
    high: float
    signed: bool
    rows: tuple[str, ...]
    columns: tuple[str, ...]
    name: str = ""


@dataclass(frozen=True)
class Text:
    """A line of text; `y` is its middle. Turned, it runs upwards to the right from its anchor by so many degrees."""

    x: float
    y: float
    text: str
    size: float = 10.0
    anchor: Anchor = "start"
    turned: float = 0.0
    colour: Colour = INK
    bold: bool = False
    full: str = ""  # the whole of what was cut short


@dataclass(frozen=True)
class Rule:
    """A straight line."""

    x: float
    y: float
    to_x: float
    to_y: float
    width: float = 0.6
    colour: Colour = INK


@dataclass(frozen=True)
class Drawing:
    """A figure: its size, what it shows in words, and its parts in the order they are drawn."""

    width: float
    height: float
    about: str
    cells: tuple[Cells, ...]
    texts: tuple[Text, ...] = ()
    rules: tuple[Rule, ...] = ()


def width_of(text: str, size: float) -> float:
    """About how wide a text is."""
    return size * sum(
        0.0 if unicodedata.combining(letter) else WIDE if unicodedata.east_asian_width(letter) in "WF" else NARROW
        for letter in text
    )


def shortened(text: str, size: float, room: float) -> str:
    """The text, cut with … where it would be wider than the room."""
    if width_of(text, size) <= room:
        return text
    kept = text
    while kept and width_of(kept, size) + size > room:
        kept = kept[:-1]
    return kept + "…"


def wrapped(text: str, size: float, room: float) -> list[str]:
    """Lines that fit the room, broken between words; a word that is too long by itself is cut up."""
    lines: list[str] = []
    for word in text.split(" "):
        if lines and width_of(f"{lines[-1]} {word}", size) <= room:
            lines[-1] += f" {word}"
        else:
            lines += _chopped(word, size, room)
    return lines


def _chopped(word: str, size: float, room: float) -> list[str]:
    parts = [""]
    for letter in word:
        if parts[-1] and width_of(parts[-1] + letter, size) > room:
            parts.append("")
        parts[-1] += letter
    return parts
