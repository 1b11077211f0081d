"""What a record may hold: numbers that can be weights, tokens and texts that can be written down. No torch."""

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import NDArray

from nungil.errors import ShapeError, UsageError

Array = NDArray[np.float64]


def numbers(weights: object, where: str) -> Array:
    """An array of plain numbers: text, holes and rows of different lengths are refused, never guessed at."""
    try:
        array = np.asarray(weights)
    except (ValueError, TypeError, RuntimeError) as error:
        raise ShapeError(f"{where}: rows of different lengths, or no array of numbers ({error})") from None
    if array.dtype.kind not in "fiu":
        raise UsageError(f"{where}: numbers are expected, not {array.dtype}")
    return array.astype(np.float64)


def weights_checked(weights: Array, where: str) -> Array:
    """The weights as an array of our own that cannot be changed, or a sentence on the first that cannot be a weight."""
    array = np.array(weights, dtype=np.float64)
    if array.ndim != 3 or 0 in array.shape:
        raise ShapeError(f"{where}: weights are (heads, rows, columns) or (rows, columns), not {array.shape}")
    if not (array.min() >= 0 and array.max() < np.inf):  # what is no number is in neither
        _refuse_first(array, where)
    array.flags.writeable = False
    return array


def _refuse_first(array: Array, where: str) -> None:
    """Name the first that cannot be a weight."""
    for wrong, what in ((~np.isfinite(array), "not finite"), (array < 0, "below 0")):
        if wrong.any():
            place = tuple(int(one) for one in np.argwhere(wrong)[0])
            raise UsageError(
                f"{where}: the weight of head {place[0]}, row {place[1]}, column {place[2]} (from 0) is "
                f"{array[place]}, {what}; hand in the weights after softmax, not the scores before it"
            )


def tokens_checked(tokens: Sequence[str], name: str) -> tuple[str, ...]:
    """The tokens, if that is what they are."""
    if isinstance(tokens, str):
        raise UsageError(f"{name}: a list of tokens is expected, not one text; perhaps {tokens.split()!r} is meant")
    if not isinstance(tokens, Iterable):
        raise UsageError(f"{name}: a list of tokens is expected, not {tokens!r}")
    listed = tuple(tokens)
    for place, token in enumerate(listed):
        if not isinstance(token, str):
            raise UsageError(f"{name}: token {place} (from 0) is {token!r}; tokens are texts")
        check_text(token, f"{name}, token {place} (from 0)")
    return listed


def check_text(text: str, where: str) -> None:
    """Half a character can be neither shown nor written to a file."""
    if any("\ud800" <= character <= "\udfff" for character in text):
        raise UsageError(f"{where}: {text!r} holds half a character (a lone surrogate), which no file can hold")
