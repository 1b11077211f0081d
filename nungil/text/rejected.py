"""The file of rejected records: reason, file, line, both texts. It is there whole, or not at all."""

import os
from pathlib import Path
from types import TracebackType
from typing import TextIO

from nungil.errors import ResourceError, UsageError
from nungil.records import Labelled, Pair

HEADER = "reason\tfile\tline\ttext\ttranslation or label\n"


class RejectedFile:
    """A TSV that takes rejected records one by one and gets its name only when all are on disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self._unfinished = path.with_name(f".{path.name}.{os.getpid()}.unfinished")
        self._stream: TextIO | None = None
        self._wanted = True

    def __enter__(self) -> "RejectedFile":
        try:
            self._stream = self._unfinished.open("w", encoding="utf-8", newline="\n")
        except OSError as error:
            raise UsageError(f"{self._path}: cannot be written: {error.strerror}") from None
        self._stream.write(HEADER)
        return self

    def add(self, reason: str, record: Pair | Labelled) -> None:
        """One record that was dropped. It has been tidied, so no tab or line end is in it."""
        if self._stream is not None:
            self._stream.write(f"{reason}\t{record.file}\t{record.line}\t{record[0]}\t{record[1]}\n")

    def discard(self) -> None:
        """Leave nothing behind: what was read was not the whole."""
        self._wanted = False

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        if self._stream is None:
            return
        try:
            with self._stream:
                self._stream.flush()
                os.fsync(self._stream.fileno())
            if kind is None and self._wanted:
                self._unfinished.replace(self._path)
        except OSError as fault:
            raise ResourceError(f"{self._path}: cannot be written: {fault.strerror}") from None
        finally:
            self._unfinished.unlink(missing_ok=True)
