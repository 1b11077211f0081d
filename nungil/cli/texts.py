"""Texts that a verb reads: from files, or from standard input, one per line."""

import sys
from collections.abc import Iterator, Sequence
from itertools import islice
from pathlib import Path

from nungil.cli.talk import say
from nungil.errors import CorpusError
from nungil.text.files import read_lines

CHUNK = 1_000  # lines that are worked on together, so that output begins before input ends


def chunks_of_lines(files: Sequence[Path]) -> Iterator[list[str]]:
    """Lines by the thousand, of the files one after another, or of standard input."""
    lines = _lines(files)
    size = 1 if not files and sys.stdin.isatty() else CHUNK  # at the keyboard, an answer is wanted after each line
    while chunk := list(islice(lines, size)):
        yield chunk


def _lines(files: Sequence[Path]) -> Iterator[str]:
    if not files:
        if sys.stdin.isatty():
            say("Reading from the keyboard, a text per line; end with Ctrl-D.")
        yield from (_decoded(line, number) for number, line in enumerate(sys.stdin.buffer, 1))
        return
    for path in files:
        yield from read_lines(path)


def _decoded(line: bytes, number: int) -> str:
    """A line of standard input, which is UTF-8 whatever the locale; only "\\n" ends it, as in files."""
    try:
        text = line.decode("utf-8").removesuffix("\n").removesuffix("\r")
    except UnicodeDecodeError as error:
        raise CorpusError(f"standard input, line {number}: not UTF-8 text (byte {error.start + 1} of it)") from None
    return text.removeprefix("\ufeff") if number == 1 else text
