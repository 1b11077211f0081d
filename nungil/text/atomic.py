"""Atomic, durable writes: files appear complete or not at all, and are synced to disk."""

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
    """Write UTF-8 text to a temporary file and rename it; `.gz` is compressed reproducibly.

    Errors of writing become a ResourceError; errors concerning other files are passed on.
    """
    with _told(path):
        path.parent.mkdir(parents=True, exist_ok=True)
    with _moved(path) as beside, _told(path, beside), beside.open("wb") as raw:
        with _text_over(raw, path.suffix == ".gz") as text:
            yield text
        raw.flush()
        os.fsync(raw.fileno())


def whole_bytes(path: Path, content: bytes) -> None:
    """Write bytes to a temporary file and rename it: readers see the old or the new content."""
    with _moved(path) as beside, _told(path):
        write_durably(beside, content)


@contextmanager
def whole_folder(path: Path) -> Iterator[Path]:
    """A temporary folder that is renamed to the path when complete. Never replaces an existing one."""
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
    """Write bytes, and sync them to disk."""
    with path.open("wb") as file:
        file.write(content)
        file.flush()
        os.fsync(file.fileno())


def sync(path: Path) -> None:
    """Sync a file or folder to disk."""
    handle = os.open(path, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)


@contextmanager
def _moved(path: Path) -> Iterator[Path]:
    """A temporary path, which is renamed to the path on success and removed otherwise."""
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
    """Turn OSErrors into ResourceErrors; given a file, only errors that name it, or no file."""
    try:
        yield
    except OSError as error:
        if beside is not None and error.filename is not None and str(error.filename) != str(beside):
            raise
        raise ResourceError(f"{path}: cannot be written: {error.strerror or error}") from None


@contextmanager
def _text_over(raw: BinaryIO, compress: bool) -> Iterator[TextIO]:
    """A text stream over a binary one, which stays open; compressed files contain neither name nor time."""
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
