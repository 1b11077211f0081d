"""Two files, line i of one being the translation of line i of the other."""

from itertools import zip_longest

from nungil.errors import CorpusError
from nungil.text.counts import counted
from nungil.text.files import read_lines
from nungil.text.source import Rows, Source


def read_aligned(source: Source) -> Rows:
    """Rows of two line-aligned files; a different number of lines is an error that names both."""
    first, second = source.files
    name = str(first)
    ours, theirs = read_lines(first, source.encoding), read_lines(second, source.encoding)
    for line, (left, right) in enumerate(zip_longest(ours, theirs), 1):
        if left is None or right is None:
            longer = line + sum(1 for _ in (ours if right is None else theirs))
            counts = (line - 1, longer) if left is None else (longer, line - 1)
            raise CorpusError(
                f"{first} has {counted(counts[0], 'line')} and {second} has {counts[1]:,}; "
                "files that are line-aligned have the same number"
            )
        yield left, right, name, line
