"""Text files, plain or gzip, as streams of lines; errors name file and line.

Only "\\n" ends a line, as for `wc`, `cut` and every aligner: a reader that also stops at U+2028 or \\x85, as
`str.splitlines` does, shifts one side of a corpus against the other.
"""

import codecs
import zlib
from collections.abc import Iterator
from itertools import islice
from os import PathLike
from pathlib import Path
from typing import BinaryIO

from nungil.errors import CorpusError, UsageError, unreadable
from nungil.text.encodings import describe_bad_bytes, describe_no_mark

LONGEST_LINE = 1_000_000  # characters; longer than a book chapter: the file has no line ends
BLOCK = 1 << 18
HEAD_LINES = 1_000
GZIP = b"\x1f\x8b"
PACKED = {
    b"PK\x03\x04": "a zip archive",
    b"\xfd7zXZ": "packed with xz",
    b"BZh": "packed with bzip2",
    b"\x28\xb5\x2f\xfd": "packed with zstd",
    b"PAR1": "a Parquet table",
    b"%PDF": "a PDF",
    b"\xd0\xcf\x11\xe0": "a file of an office program",
}
WORKBOOKS = {".xlsx", ".xlsm", ".xls", ".ods"}
WRITTEN = {".docx", ".doc", ".odt", ".pptx", ".ppt"}


def path_of(given: str | PathLike[str], what: str) -> Path:
    """The given path, if it is one."""
    if not isinstance(given, str | PathLike):
        raise UsageError(f"{what} is named by a text or a path, not {type(given).__name__}")
    if not str(given):
        raise UsageError(f"{what} has to have a name, and it is empty")
    return Path(given)


def read_lines(path: Path, encoding: str = "utf-8") -> Iterator[str]:
    """The lines of a file without their ends, from line 1 on; `enumerate(…, 1)` numbers them."""
    check_encoding(encoding)
    for lines in _line_blocks(path, encoding):
        yield from lines


def read_head(path: Path, encoding: str = "utf-8") -> list[str]:
    """The first lines of a file: enough to tell what it is."""
    return list(islice(read_lines(path, encoding), HEAD_LINES))


def check_encoding(encoding: str) -> None:
    """Refuse the name of an unknown text encoding."""
    if not is_encoding(encoding):
        raise UsageError(f"--encoding: there is no encoding {encoding!r}; try utf-8, cp949, utf-16 or cp1252")


def is_encoding(name: str) -> bool:
    """Whether there is a text encoding of this name."""
    try:
        "a".encode(name)
    except (LookupError, ValueError):  # none; or one that is none, as Python's `undefined`
        return False
    return True


def _line_blocks(path: Path, encoding: str) -> Iterator[list[str]]:
    """Lists of whole lines. A line that grows past the limit is refused before it is held in memory."""
    done, rest = 0, ""
    for block in text_blocks(path, encoding):
        text = rest + block
        lines = text.split("\n")
        refuse_bad_text(path, done, text, lines)
        rest = lines.pop()
        if "\r" in text:
            lines = [line[:-1] if line.endswith("\r") else line for line in lines]
        done += len(lines)
        yield lines
    if rest:
        yield [rest.removesuffix("\r")]


def text_blocks(path: Path, encoding: str) -> Iterator[str]:
    """The text of a file in blocks of bounded size, without a byte order mark; bad bytes are named with their line."""
    done, begun = 0, False
    try:
        for block in _decoded(path, codecs.getincrementaldecoder(encoding)()):
            yield block if begun else block.lstrip("\ufeff")
            begun = begun or bool(block)
            done += block.count("\n")
    except UnicodeDecodeError as error:
        line = done + 1 + error.object[: error.start].decode(encoding, "replace").count("\n")
        raise CorpusError(f"{path}:{describe_bad_bytes(byte_blocks(path), encoding, line)}") from None
    except UnicodeError:
        raise CorpusError(f"{path}:{describe_no_mark(encoding, done + 1)}") from None
    except GzipBrokenError as error:
        raise CorpusError(f"{path}:{done + 1}: {error}") from None


def _decoded(path: Path, decoder: codecs.IncrementalDecoder) -> Iterator[str]:
    for data in byte_blocks(path):
        yield decoder.decode(data)
    yield decoder.decode(b"", final=True)


def first_bytes(path: Path) -> bytes:
    """The beginning of a file, unpacked, without the mark of UTF-8: enough to tell what it declares itself to be."""
    try:
        return next(byte_blocks(path), b"").removeprefix(codecs.BOM_UTF8)
    except GzipBrokenError:
        return b""  # whoever reads on names the line


def refuse_bad_text(path: object, done: int, text: str, lines: list[str]) -> None:
    """Refuse what is not text. `text` follows `done` lines; `lines` are its lines, the last perhaps incomplete."""
    # Blocks are shorter than the longest line, so only the first line, joined from many, and the last can be too long.
    for place in (0, -1):
        if len(lines[place]) > LONGEST_LINE:
            line = done + (1 if place == 0 else len(lines))
            raise CorpusError(
                f"{path}:{line}: a line of more than {LONGEST_LINE:,} characters; does the file have line ends?"
            )
    if not done and len(lines) == 1 and "\r" in text[:-1]:
        raise CorpusError(f"{path}:1: the line ends are \\r alone, as on a very old Macintosh; save the file with \\n")
    if "\0" in text:
        line = done + text[: text.index("\0")].count("\n") + 1
        raise CorpusError(
            f"{path}:{line}: a NUL character; this is no text file, or UTF-16 (give --encoding utf-16-le)"
        )


class GzipBrokenError(Exception):
    """A gzip file that is cut off or damaged; says which."""


def byte_blocks(path: Path) -> Iterator[bytes]:
    """The bytes of a file in blocks of bounded size, unpacked if gzip, whatever its name."""
    try:
        if path.exists() and not (path.is_file() or path.is_dir()):
            raise CorpusError(f"{path}: not a regular file; a pipe cannot be read twice, so write it to a file first")
        with path.open("rb") as stream:
            first = stream.read(BLOCK)
            kind = next((kind for magic, kind in PACKED.items() if first.startswith(magic)), None)
            if kind is not None:
                raise _packed(path, kind)
            blocks = _blocks(stream, first)
            yield from _unpacked(blocks) if first.startswith(GZIP) else blocks
    except OSError as error:
        raise unreadable(path, error) from None


def _packed(path: Path, kind: str) -> CorpusError:
    """What it is, and what to do; the files of office programs are zip archives, which nobody is to unpack."""
    if path.suffix.lower() in WORKBOOKS:
        return CorpusError(f"{path}: this is a workbook; save it as CSV (UTF-8) in the program that made it")
    if path.suffix.lower() in WRITTEN:
        return CorpusError(f"{path}: this is a document; save it as plain text (UTF-8) in the program that made it")
    return CorpusError(f"{path}: this is {kind}; unpack it into text first (gzip is read as it is)")


def _blocks(stream: BinaryIO, first: bytes) -> Iterator[bytes]:
    block = first
    while block:
        yield block
        block = stream.read(BLOCK)


def _unpacked(blocks: Iterator[bytes]) -> Iterator[bytes]:
    """Unpack gzip, one or several members after another.

    Uses zlib, because for a truncated file the gzip module discards the last block, and the line could not be named.
    """
    member = zlib.decompressobj(wbits=31)
    try:
        for block in blocks:
            packed = block
            while packed:
                if member.eof:  # zeros may pad the end; anything else is another member
                    packed = packed.lstrip(b"\0")
                    if not packed:
                        break
                    member = zlib.decompressobj(wbits=31)
                data = member.decompress(packed, BLOCK)
                packed = member.unconsumed_tail or member.unused_data
                if data:
                    yield data
        yield from _remainder(member)
    except zlib.error:
        raise GzipBrokenError("the gzip file is damaged here; fetch or copy it again") from None
    if not member.eof:
        raise GzipBrokenError("the gzip file is cut off here; fetch or copy it again")


def _remainder(member: "zlib._Decompress") -> Iterator[bytes]:
    """What zlib has taken in but, for the bound on a block, not yet given out."""
    while not member.eof:
        data = member.decompress(b"", BLOCK)
        if not data:
            return
        yield data
