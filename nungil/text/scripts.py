"""The scripts of texts, counted on whole batches: which one a line is mostly written in."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

NONE = "none"  # digits, punctuation, symbols
# Blocks of letters (Unicode 15), enough to tell the scripts of most corpora apart. What is not listed counts as none.
RANGES: dict[str, tuple[tuple[int, int], ...]] = {
    "Latin": ((0x41, 0x5A), (0x61, 0x7A), (0xC0, 0xD6), (0xD8, 0xF6), (0xF8, 0x24F), (0x1E00, 0x1EFF)),
    "Hangul": ((0x1100, 0x11FF), (0x3131, 0x318E), (0xA960, 0xA97C), (0xAC00, 0xD7A3), (0xD7B0, 0xD7FB)),
    "Han": ((0x3400, 0x4DBF), (0x4E00, 0x9FFF), (0xF900, 0xFAFF), (0x20000, 0x2FA1F)),
    "Kana": ((0x3041, 0x3096), (0x30A1, 0x30FA), (0x31F0, 0x31FF), (0xFF66, 0xFF9D)),
    "Cyrillic": ((0x400, 0x52F), (0x1C80, 0x1C88), (0x2DE0, 0x2DFF), (0xA640, 0xA69F)),
    "Greek": ((0x370, 0x373), (0x376, 0x37D), (0x386, 0x3FF), (0x1F00, 0x1FFF)),
    "Arabic": ((0x620, 0x64A), (0x66E, 0x6D3), (0x750, 0x77F), (0xFB50, 0xFDFF), (0xFE70, 0xFEFC)),
    "Hebrew": ((0x5D0, 0x5F2), (0xFB1D, 0xFB4F)),
    "Devanagari": ((0x900, 0x963), (0x970, 0x97F)),
    "Bengali": ((0x980, 0x9E3),),
    "Tamil": ((0xB80, 0xBE3),),
    "Thai": ((0xE01, 0xE3A), (0xE40, 0xE4E)),
    "Georgian": ((0x10A0, 0x10FF), (0x1C90, 0x1CBF)),
    "Armenian": ((0x531, 0x556), (0x561, 0x587)),
}
SCRIPTS = (NONE, *RANGES)
LIMIT = 0x30000
SYLLABIC = {"Hangul": 3, "Han": 3, "Kana": 2}  # letters of an alphabet that a character stands for, about
# A text with any letter is not of no script, so what is no letter weighs nothing.
WEIGHTS = np.array([0, *(SYLLABIC.get(script, 1) for script in RANGES)])


def _make_table() -> NDArray[np.uint8]:
    table = np.zeros(LIMIT, np.uint8)
    for number, ranges in enumerate(RANGES.values(), 1):
        for first, last in ranges:
            table[first : last + 1] = number
    return table


class ScriptTable:
    """The script of every character, as one array that is made once."""

    def __init__(self) -> None:
        self._table = _make_table()

    def letters(self, texts: Sequence[str]) -> NDArray[np.int64]:
        """Letters per text and script (texts × SCRIPTS); a syllable counts as the letters it stands for."""
        points = np.frombuffer("".join(texts).encode("utf-32-le", "surrogatepass"), dtype="<u4")
        scripts = self._table[np.minimum(points, LIMIT - 1)]
        lines = np.repeat(np.arange(len(texts)), [len(text) for text in texts])
        counts = np.bincount(lines * len(SCRIPTS) + scripts, minlength=len(texts) * len(SCRIPTS))
        letters: NDArray[np.int64] = counts.reshape(len(texts), len(SCRIPTS)) * WEIGHTS
        return letters
