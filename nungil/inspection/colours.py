"""Colours of a number: light to dark, so that a print in grey says the same; blue and red around 0. No torch."""

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]
Colour = tuple[int, int, int]

# Anchors at even distances, from 0 to the end of the scale. They only get darker, so that grey tells the order.
WEIGHTS = ((248, 250, 252), (208, 224, 243), (145, 184, 226), (81, 137, 198), (37, 90, 158), (12, 44, 94))
# From minus to plus. In grey the two ends are alike; drawings therefore mark what is below 0 with a minus.
SIGNED = (
    (138, 30, 34),
    (205, 92, 72),
    (240, 178, 150),
    (250, 250, 250),
    (158, 197, 232),
    (66, 126, 190),
    (12, 54, 110),
)
DARK = 0.45  # luminance below which letters are white
INK, PAPER = (23, 33, 43), (255, 255, 255)


def colours_of(cells: Array, high: float, signed: bool) -> NDArray[np.uint8]:
    """Red, green and blue of each cell, on a scale from 0 (signed: from −high) to high; beyond it the last colour."""
    anchors = np.array(SIGNED if signed else WEIGHTS, dtype=np.float64)
    part = (cells / high + 1) / 2 if signed else cells / high
    place = np.clip(part, 0, 1) * (len(anchors) - 1)
    below = np.minimum(place.astype(np.int64), len(anchors) - 2)
    rest = (place - below)[..., None]
    return np.asarray(np.rint(anchors[below] * (1 - rest) + anchors[below + 1] * rest), dtype=np.uint8)


def luminance(colours: NDArray[np.uint8]) -> Array:
    """How light colours are to the eye, 0 to 1 (weights of Rec. 709; good enough to choose ink by)."""
    return np.asarray(colours @ np.array([0.2126, 0.7152, 0.0722]) / 255)


def ink_on(colours: NDArray[np.uint8]) -> NDArray[np.bool_]:
    """Whether letters on these colours must be white."""
    return luminance(colours) < DARK


def hex_of(colour: Colour | NDArray[np.uint8]) -> str:
    """`#1a2b3c`."""
    return "#" + "".join(f"{int(part):02x}" for part in colour)
