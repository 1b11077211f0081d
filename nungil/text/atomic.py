"""Files that appear whole or not at all, and are on the disk when they do."""

import gzip
import io
import os
import shutil
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import BinaryIO, TextIO

from nungil.errors import ResourceError


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Write UTF-8 text beside the path, and move it there once whole; `.gz` is compressed, always to the same bytes.

    What the system refuses while it is written is told in a sentence; what it refuses of another file is the caller's.
    """
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _moved(path) as beside, _told(path, beside), beside.open("wb") as raw:
        with _text_over(raw, path.suffix == ".gz") as text:
            yield text
        raw.flush()
        os.fsync(raw.fileno())


def whole_bytes(path: Path, content: bytes) -> None:
    """Write bytes beside the path, and move them there once whole: a reader finds the old ones or the new ones."""
    with _moved(path) as beside, _told(path):
        write_durably(beside, content)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A new folder to write into, beside the path; it gets its name once all is written. What is there stays."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        shutil.rmtree(beside, ignore_errors=True)
        beside.mkdir(parents=True)
        yield beside
        for file in beside.iterdir():
            sync(file)
        sync(beside)
        beside.rename(path)
        sync(path.parent)
    finally:
        shutil.rmtree(beside, ignore_errors=True)


def write_durably(path: Path, content: bytes) -> None:
    """Write and hand over to the disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Hand over to the disk what is in a file, or the names in a folder."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _moved(path: Path) -> Iterator[Path]:
    """A name beside the path to write to. What is there in the end gets the path, for good; otherwise nothing stays."""
    beside = path.with_name(f".{path.name}.{os.getpid()}.part")
    try:
        yield beside
        with _told(path):
            beside.replace(path)
            sync(path.parent)
    finally:
        with suppress(OSError):
            beside.unlink()


@contextmanager
def _told(path: Path, beside: Path | None = None) -> Iterator[None]:
    """What the system refuses, as a sentence; given the file that is written, only what names it, or names nothing."""
    try:
        yield
    except OSError as error:
        if beside is not None and error.filename is not None and str(error.filename) != str(beside):
            raise
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _text_over(raw: BinaryIO, compress: bool) -> Iterator[TextIO]:
    """Text over raw bytes, which stay open; no name and no time go into a compressed file."""
    if compress:
        with (
            gzip.GzipFile(filename="", mode="wb", fileobj=raw, mtime=0) as packed,
            io.TextIOWrapper(packed, encoding="utf-8", newline="\n") as text,
        ):
            yield text
        return
    plain = io.TextIOWrapper(raw, encoding="utf-8", newline="\n")
    yield plain
    plain.flush()
    plain.detach()
