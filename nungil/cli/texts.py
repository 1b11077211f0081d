"""Texts that a verb reads: from files, or from standard input, one per line."""

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

CHUNK = 1_000  # lines that are worked on together, so that output begins before input ends
FEWEST = 200  # of a short file that somebody watches: more would be no faster, and fewer slower
PARTS = 10  # times that somebody who watches is told how far it is, at least
INPUT = "standard input"
LONG = 2**20  # characters of them: as many, however long the lines are
SHOWN = 5  # words that are named
TOLD = 10  # notes on lines that are told; a file may have as many as it has lines
PAUSE = 0.05  # seconds without more input after which those that have come are answered


class Notes:
    """What there is to say of lines: the first few notes, and how many more there were."""

    def __init__(self) -> None:
        self._made = 0

    def add(self, note: str) -> None:
        """Say it, if there was not enough talk before."""
        self._made += 1
        if self._made <= TOLD:
            say(note)

    def add_unknown(self, place: str, source: str, unknown: Sequence[str]) -> None:
        """Say it where most words of a text are new to a model: what it answers is a guess then."""
        words, new = (list(filter(_is_word, parts)) for parts in (set(source.split()), unknown))
        if 2 * len(new) > len(words):
            shown = ", ".join(new[:SHOWN]) + (" …" if len(new) > SHOWN else "")
            many = "any" if len(new) >= len(words) else "most"
            self.add(f"{place}: the model has never seen {many} of its words ({shown}), so its answer is a guess")

    def end(self) -> None:
        """Say how many were not told."""
        if self._made > TOLD:
            say(f"… and {counted(self._made - TOLD, 'more note')} on other lines.")


def _is_word(part: str) -> bool:
    """Whether there is a letter in it, a digit or a sign such as an emoji, and not only punctuation."""
    return any(unicodedata.category(letter)[0] in "LNS" for letter in part)


class Texts:
    """The lines of files one after another, or of standard input (`-`, or no file); numbered through from 1.

    Where answers depend on which lines are worked on together, as drawn ones do, that is `steady`: it does not depend
    on when the lines of a pipe come.
    """

    def __init__(self, files: Sequence[Path], encoding: str = "utf-8", steady: bool = False) -> None:
        check_encoding(encoding)
        self.files = () if [*map(str, files)] == ["-"] else tuple(files)
        for path in self.files:
            _refuse_missing(path)
        self.encoding, self.steady = encoding, steady
        self._begun: list[tuple[int, object]] = [(0, INPUT)]  # lines before each file that was begun, and its name

    def chunks(self, watched: int | None = None) -> Iterator[list[str]]:
        """Lines by the thousand, long ones by fewer; of a pipe, those that have come when no more do for a moment.

        Of files with so many lines as are `watched`, fewer, so that a bar soon knows how long it will take.
        """
        size = 1 if not self.files and sys.stdin.isatty() else CHUNK  # at the keyboard, each line wants its answer
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
        """`article.txt:7`: where a line that was read stands."""
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
    """Before the files that stand before it are worked through."""
    if str(path) == "-":
        raise UsageError("-: standard input is read by itself, and not among files")
    if not path.exists():
        raise CorpusError(f"{path}: there is no such file")


def _lines_of_input(encoding: str) -> Iterator[str | None]:
    """Standard input as files are read: in the encoding that was named whatever the locale, and checked alike.

    None where whoever writes has paused, and may be waiting for an answer.
    """
    decoder = codecs.getincrementaldecoder(encoding)()
    done, rest = 0, ""
    try:
        for block in _blocks_of_input(decoder):
            if block is None:
                yield None
                continue
            text = rest + block
            if block and "\n" not in block and len(text) < BLOCK:  # a pipe hands out less than a line: wait for more
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
    """What has come, as soon as something has come; None where nothing does for a moment."""
    stream = cast(io.BufferedReader, sys.stdin.buffer)
    while data := stream.read1(BLOCK):
        if text := decoder.decode(data):  # nothing yet, if only the beginning of a character has come
            yield text
        if not _more_has_come(stream):
            yield None
    yield decoder.decode(b"", final=True)


def _more_has_come(stream: io.BufferedReader) -> bool:
    """Or comes soon, or the end. Where that cannot be asked, as of pipes on Windows, it is taken to."""
    try:
        return bool(select.select([stream], [], [], PAUSE)[0])
    except (OSError, ValueError):
        return True


def _bad_bytes(error: UnicodeDecodeError, encoding: str, done: int) -> str:
    """The first bad line, and how to read it. Standard input cannot be looked through again for more of them."""
    line = done + 1 + error.object[: error.start].decode(encoding, "replace").count("\n")
    end = error.object.find(b"\n", error.start)
    seen = error.object[:end] if end >= 0 else error.object
    return describe_bad_bytes(chain(repeat(b"\n", done), [seen]), encoding, line)
