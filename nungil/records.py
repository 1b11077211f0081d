"""The nouns that cross stages. Knows no torch."""

from typing import NamedTuple


class Pair(NamedTuple):
    """A sentence and its translation, and where they stand (line 0: nowhere)."""

    source: str
    target: str
    file: str = ""
    line: int = 0


class Labelled(NamedTuple):
    """A text and its label, and where they stand (line 0: nowhere)."""

    text: str
    label: str
    file: str = ""
    line: int = 0
