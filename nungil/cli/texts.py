"""The texts that a command reads, one per line, from files or standard input."""

import codecs
import io
import select
import sys
import unicodedata
from bisect import bisect
from collections.abc import Iterator, Sequence
from contextlib import suppress
from itertools import chain, repeat
from pathlib import Path
from typing import cast

from nungil.cli.talk import say
from nungil.errors import CorpusError, UsageError
from nungil.text.counts import counted
from nungil.text.encodings import describe_bad_bytes, describe_no_mark
from nungil.text.files import BLOCK, check_encoding, read_head, read_lines, refuse_bad_text
from nungil.text.formats import looks_like_table

CHUNK = 1_000  # lines answered together, so that output begins before input ends
FEWEST = 200  # the same for short files with a progress bar; fewer would be slower
PARTS = 10  # least number of steps of a progress bar
INPUT = "standard input"
LONG = 2**20  # characters answered together, at most
SHOWN = 5  # unknown words that are named
TOLD = 10  # notes on lines that are printed; there may be one for every line
PAUSE = 0.05  # seconds without input after which the lines so far are answered


class Notes:
    """Prints the first few notes on lines, and then the number of the others."""

    def __init__(self) -> None:
        self._made = 0

    def add(self, note: str) -> None:
        """Print a note, unless there were many before."""
        self._made += 1
        if self._made <= TOLD:
            say(note)

    def add_unknown(self, place: str, source: str, unknown: Sequence[str]) -> None:
        """Add a note if most words of a text are unknown to the model, whose answer is then a guess."""
        words, new = (list(filter(_is_word, parts)) for parts in (set(source.split()), unknown))
        if 2 * len(new) > len(words):
            shown = ", ".join(new[:SHOWN]) + (" …" if len(new) > SHOWN else "")
            many = "any" if len(new) >= len(words) else "most"
            self.add(f"{place}: the model has never seen {many} of its words ({shown}), so its answer is a guess")

    def end(self) -> None:
        """Print how many notes were left out."""
        if self._made > TOLD:
            say(f"… and {counted(self._made - TOLD, 'more note')} on other lines.")


def _is_word(part: str) -> bool:
    """Whether it contains a letter, a digit or a symbol such as an emoji, and not only punctuation."""
    return any(unicodedata.category(letter)[0] in "LNS" for letter in part)


class Texts:
    """The lines of several files, or of standard input (`-`, or no file), numbered consecutively from 1.

    With `steady`, which sampling needs, the chunks do not depend on when the lines of a pipe arrive.
    """

    def __init__(self, files: Sequence[Path], encoding: str = "utf-8", steady: bool = False) -> None:
        check_encoding(encoding)
        self.files = () if [*map(str, files)] == ["-"] else tuple(files)
        for path in self.files:
            _refuse_missing(path)
        self.encoding, self.steady = encoding, steady
        self._begun: list[tuple[int, object]] = [(0, INPUT)]  # for each file begun, the lines before it and its name

    def chunks(self, watched: int | None = None) -> Iterator[list[str]]:
        """Lines in chunks of a thousand, or fewer long ones; from a pipe, those that arrived before a pause.

        With a progress bar over `watched` lines chunks are smaller, so that it soon shows the time left.
        """
        size = 1 if not self.files and sys.stdin.isatty() else CHUNK  # at the keyboard, answer each line
        if watched is not None and not self.steady:
            size = min(CHUNK, max(FEWEST, watched // PARTS))
        chunk: list[str] = []
        letters = 0
        for line in self._lines():
            chunk += [] if line is None else [line]
            letters += len(line or "")
            full = len(chunk) == size or letters >= LONG
            if full or (line is None and chunk and not self.steady):
                yield chunk
                chunk, letters = [], 0
        if chunk:
            yield chunk

    def place(self, number: int) -> str:
        """`article.txt:7`: file and number of a line that was read."""
        before, name = self._begun[bisect(self._begun, number - 1, key=lambda begun: begun[0]) - 1]
        return f"{name}:{number - before}"

    def count(self) -> int:
        """How many lines there are in the files."""
        return sum(1 for path in self.files for _ in read_lines(path, self.encoding))

    def doubt_tables(self) -> None:
        """A table is what a model is trained on, but here its columns, quotes and header would be parts of texts."""
        for path in filter(Path.is_file, self.files):
            with suppress(CorpusError):  # which is said when it is read
                if looks_like_table(path, read_head(path, self.encoding)):
                    say(f"{path}: this looks like a table; each line of it is read as one text, with all its columns.")

    def _lines(self) -> Iterator[str | None]:
        if not self.files:
            if sys.stdin.isatty():
                say("Reading from the keyboard, a text per line; end with Ctrl-D.")
            yield from _lines_of_input(self.encoding)
        done = 0
        for path in self.files:
            self._begun.append((done, path))
            for line in read_lines(path, self.encoding):
                done += 1
                yield line


def _refuse_missing(path: Path) -> None:
    """Refuse a missing file before any other is read."""
    if str(path) == "-":
        raise UsageError("-: standard input cannot be combined with files")
    if not path.exists():
        raise CorpusError(f"{path}: there is no such file")


def _lines_of_input(encoding: str) -> Iterator[str | None]:
    """The lines of standard input, decoded and checked like those of files, whatever the locale.

    Yields None when the writer pauses, and may be waiting for an answer.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    done, rest = 0, ""
    try:
        for block in _blocks_of_input(decoder):
            if block is None:
                yield None
                continue
            text = rest + block
            if block and "\n" not in block and len(text) < BLOCK:  # less than a line: wait for more
                rest = text
                continue
            if done == 0:
                text = text.removeprefix("\ufeff")
            lines = text.split("\n")
            refuse_bad_text(INPUT, done, text, lines)
            rest = lines.pop()
            done += len(lines)
            yield from (line.removesuffix("\r") for line in lines)
    except UnicodeDecodeError as error:
        raise CorpusError(f"{INPUT}:{_bad_bytes(error, encoding, done)}") from None
    except UnicodeError:
        raise CorpusError(f"{INPUT}:{describe_no_mark(encoding, done + 1)}") from None
    if rest:
        yield rest.removesuffix("\r")


def _blocks_of_input(decoder: codecs.IncrementalDecoder) -> Iterator[str | None]:
    """Input as soon as it arrives; None whenever there is a pause."""
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    while data := stream.read1(BLOCK):
        if text := decoder.decode(data):  # empty if only part of a character has arrived
            yield text
        if not _more_has_come(stream):
            yield None
    yield decoder.decode(b"", final=True)


def _more_has_come(stream: io.BufferedReader) -> bool:
    """Whether input, or its end, is there or arrives soon; assumed where it cannot be asked (pipes on Windows)."""
    try:
        return bool(select.select([stream], [], [], PAUSE)[0])
    except (OSError, ValueError):
        return True


def _bad_bytes(error: UnicodeDecodeError, encoding: str, done: int) -> str:
    """The first bad line, and a suggested encoding. Standard input cannot be read again to find more."""
    line = done + 1 + error.object[: error.start].decode(encoding, "replace").count("\n")
    end = error.object.find(b"\n", error.start)
    seen = error.object[:end] if end >= 0 else error.object
    return describe_bad_bytes(chain(repeat(b"\n", done), [seen]), encoding, line)
