"""A text file that appears whole or not at all."""

import gzip
import io
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import BinaryIO, TextIO

from nungil.errors import ResourceError


@contextmanager
def whole_file(path: Path) -> Iterator[TextIO]:
    """Write UTF-8 text beside the path, and move it there once whole; `.gz` is compressed, always to the same bytes."""
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        beside = path.with_name(f".{path.name}.{os.getpid()}.part")
        try:
            with beside.open("wb") as raw:
                with _text_over(raw, path.suffix == ".gz") as text:
                    yield text
                raw.flush()
                os.fsync(raw.fileno())
            beside.replace(path)
        finally:
            beside.unlink(missing_ok=True)
    except OSError as error:
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
