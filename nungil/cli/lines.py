"""Lines in, lines out: to standard output, or into a file that a stopped command goes on with."""

import hashlib
import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, Any

from nungil.cli.talk import say, write
from nungil.cli.texts import chunks_of_lines
from nungil.errors import ResourceError, UsageError
from nungil.text.atomic import whole_file

Answer = Callable[[list[str], int], list[str]]  # lines and the number of the first; what to print for them


def work_through(files: Sequence[Path], out: Path | None, sign: Mapping[str, Any], answer: Answer) -> None:
    """Answer every line. `sign` is all that decides the answers: only what has the same sign is gone on with."""
    if out is None:
        with _progress(files, 0) as advance:
            number = 1
            for lines in chunks_of_lines(files):
                for line in answer(lines, number):
                    write(line)
                number += len(lines)
                advance(len(lines))
        return
    if out.exists():
        raise UsageError(f"{out}: there is something already, and nothing is written over; choose another --out")
    unfinished = Unfinished(out, {**sign, "files": [[str(path), *_look_of(path)] for path in files]})
    if not files:
        unfinished.forget()  # what comes through a pipe may be something else each time
    with _progress(files, unfinished.lines) as advance:
        for lines in _after(chunks_of_lines(files), unfinished.lines):
            unfinished.add(answer(lines, unfinished.lines + 1), len(lines))
            advance(len(lines))
    unfinished.finish()


def model_sign(folder: Path) -> str:
    """What tells one model from another: the SHA-256 of its weights."""
    with (folder / "model.safetensors").open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


class Unfinished:
    """An output on its way: OUT.part has the answers, OUT.part.json how many lines of input they are of.

    Answers are on the disk before they are counted, and what was not counted is cut off: nothing is lost or doubled.
    """

    def __init__(self, out: Path, sign: Mapping[str, Any]) -> None:
        self.out, self.sign, self.lines, self.bytes = out, json.loads(json.dumps(sign)), 0, 0
        self.part, self.state = (out.with_name(out.name + ending) for ending in (".part", ".part.json"))
        if self.part.exists():
            self._go_on()

    def _go_on(self) -> None:
        try:
            state = json.loads(self.state.read_text())
            same, self.lines, self.bytes = state["sign"] == self.sign, int(state["lines"]), int(state["bytes"])
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise UsageError(
                f"{self.part}: left by another command: on other input, with another model or other options; "
                "delete it, or choose another --out"
            )
        say(f"Going on after line {self.lines:,}.")

    def forget(self) -> None:
        """Begin anew."""
        self.lines = self.bytes = 0

    def add(self, answers: Sequence[str], lines: int) -> None:
        """The answers to so many more lines."""
        try:
            self.out.parent.mkdir(parents=True, exist_ok=True)
            with self.part.open("r+b" if self.part.exists() else "wb") as file:
                self._append(file, "".join(f"{answer}\n" for answer in answers).encode())
        except OSError as error:
            raise ResourceError(f"{self.part}: cannot be written: {error.strerror or error}") from None
        self.lines += lines
        with whole_file(self.state) as text:
            text.write(json.dumps({"sign": self.sign, "lines": self.lines, "bytes": self.bytes}))

    def _append(self, file: IO[bytes], content: bytes) -> None:
        file.truncate(self.bytes)
        file.seek(self.bytes)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())
        self.bytes += len(content)

    def finish(self) -> None:
        """Everything is answered: give it its name."""
        if not self.part.exists():
            self.add([], 0)
        self.part.replace(self.out)
        self.state.unlink(missing_ok=True)


def _look_of(path: Path) -> tuple[int, int]:
    """Size and time of a file; reading it will say what is wrong if there is none."""
    try:
        found = path.stat()
    except OSError:
        return 0, 0
    return found.st_size, found.st_mtime_ns


def _after(chunks: Iterator[list[str]], skipped: int) -> Iterator[list[str]]:
    """The same chunks without the first lines."""
    for lines in chunks:
        if skipped < len(lines):
            yield lines[skipped:]
        skipped = max(0, skipped - len(lines))


@contextmanager
def _progress(files: Sequence[Path], done: int) -> Iterator[Callable[[int], None]]:
    """A bar with the time left, if somebody sits there and the input is a file whose lines can be counted."""
    if not files or not sys.stderr.isatty():
        yield lambda lines: None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    from nungil.text.files import read_lines

    total = sum(1 for path in files for _ in read_lines(path))
    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        task = bar.add_task("lines", total=total, completed=done)
        yield lambda lines: bar.advance(task, lines)
