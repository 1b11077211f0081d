"""Lines in, lines out: to standard output, or into a file that a stopped command goes on with."""

import hashlib
import json
import os
import signal
import sys
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType
from typing import IO, Any

from nungil.cli.talk import say, write
from nungil.cli.texts import Texts
from nungil.errors import ResourceError, StoppedError, UsageError
from nungil.text.atomic import whole_file
from nungil.text.lock import locked

Answer = Callable[[list[str], int], list[str]]  # lines and the number of the first; what to print for them


def work_through(texts: Texts, out: Path | None, sign: Mapping[str, Any], answer: Answer) -> None:
    """Answer every line. `sign` is all that decides the answers: only what has the same sign is gone on with."""
    texts.doubt_tables()
    if out is None:
        with _progress(texts, 0, bar=not sys.stdout.isatty()) as (advance, total):
            number = 1
            for lines in texts.chunks(total):
                for line in answer(lines, number):
                    write(line)
                number += len(lines)
                advance(len(lines))
        return
    files = [[str(path), *_look_of(path)] for path in texts.files]
    with _locked(out):
        unfinished = Unfinished(out, {**sign, "encoding": texts.encoding, "files": files})
        with _stoppable(unfinished), _progress(texts, unfinished.lines) as (advance, total):
            for lines in _after(texts.chunks(total), unfinished.lines):
                unfinished.add(answer(lines, unfinished.lines + 1), len(lines))
                advance(len(lines))
        unfinished.finish()


def model_sign(folder: Path) -> str:
    """What tells one model from another: the SHA-256 of its weights and of its settings. One that is none has none."""
    found = hashlib.sha256()
    for name in ("model.safetensors", "config.json"):
        with suppress(OSError), (folder / name).open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


class Unfinished:
    """An output on its way: OUT.part has the answers, OUT.part.json how many lines of input they are of.

    Answers are on the disk before they are counted, and what was not counted is cut off: nothing is lost or doubled.
    OUT.part must be there, and be locked.
    """

    def __init__(self, out: Path, sign: Mapping[str, Any]) -> None:
        self.out, self.sign, self.lines, self.bytes = out, json.loads(json.dumps(sign)), 0, 0
        self.part, self.state = part_of(out), state_of(out)
        self._inode = self.part.stat().st_ino
        if self.part.stat().st_size:
            self._go_on()
        else:
            self._count(0, 0)  # before the first answers: what a full disk or a signal leaves of them is known as ours

    def _go_on(self) -> None:
        try:
            state = json.loads(self.state.read_text())
            lines, size = int(state["lines"]), int(state["bytes"])
            same = state["sign"] == self.sign and size <= self.part.stat().st_size
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise UsageError(
                f"{self.part}: left by another command: on other input, with another model or other options; "
                "delete it, or choose another --out"
            )
        if not self.sign["files"]:
            say("Beginning anew: what comes through standard input may be something else each time.")
            return
        self.lines, self.bytes = lines, size
        if lines:
            say(f"Going on after line {self.lines:,}.")

    def add(self, answers: Sequence[str], lines: int) -> None:
        """The answers to so many more lines."""
        self._refuse_another()
        content = "".join(f"{answer}\n" for answer in answers).encode()
        try:
            with self.part.open("r+b") as file:
                self._append(file, content)
        except OSError as error:
            raise ResourceError(f"{self.part}: cannot be written: {error.strerror or error}") from None
        self._count(self.lines + lines, self.bytes + len(content))

    def _count(self, lines: int, size: int) -> None:
        with whole_file(self.state) as text:
            text.write(json.dumps({"sign": self.sign, "lines": lines, "bytes": size}))
        self.lines, self.bytes = lines, size

    def _append(self, file: IO[bytes], content: bytes) -> None:
        file.truncate(self.bytes)
        file.seek(self.bytes)
        file.write(content)
        file.flush()
        os.fsync(file.fileno())

    def _refuse_another(self) -> None:
        """A file that was put in the place of this one lacks what was answered before."""
        if not self.part.exists() or self.part.stat().st_ino != self._inode:
            raise ResourceError(f"{self.part}: was deleted or replaced while it was being written; begin anew")

    def finish(self) -> None:
        """Everything is answered: give it its name."""
        self._refuse_another()
        if self.out.exists():
            raise UsageError(
                f"{self.out}: was made by somebody else meanwhile, and nothing is written over; "
                f"all answers are in {self.part}"
            )
        self.part.replace(self.out)
        self.state.unlink(missing_ok=True)

    def stopped(self, number: signal.Signals) -> StoppedError:
        """What to say when a signal has come."""
        if not self.lines:
            return StoppedError("stopped before the first answers were written", number)
        if not self.sign["files"]:
            return StoppedError(f"stopped after line {self.lines:,}; its answers are in {self.part}", number)
        return StoppedError(f"stopped after line {self.lines:,}; the same command goes on with it", number)


def part_of(out: Path) -> Path:
    """Where answers are until all are there."""
    return out.with_name(f"{out.name}.part")


def state_of(out: Path) -> Path:
    """How many lines of input they are of."""
    return out.with_name(f"{out.name}.part.json")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """OUT.part, for this command alone. Nothing is left where nothing was done."""
    _refuse_to_write_over(out)
    part = part_of(out)
    try:
        part.parent.mkdir(parents=True, exist_ok=True)
        part.touch()
    except OSError as error:
        raise ResourceError(f"{part}: cannot be written: {error.strerror or error}") from None
    with locked(part, f"{part}: another command is writing it now; wait until it is done, or choose another --out"):
        try:
            _refuse_to_write_over(out)  # the command that had the lock may have finished just now
            yield
        finally:
            if part.exists() and not part.stat().st_size:
                part.unlink()
                state_of(out).unlink(missing_ok=True)


def _refuse_to_write_over(out: Path) -> None:
    if out.exists():
        raise UsageError(f"{out}: there is something already, and nothing is written over; choose another --out")


@contextmanager
def _stoppable(unfinished: Unfinished) -> Iterator[None]:
    """Ctrl-C and SIGTERM end the command at once: what is not counted is answered again."""

    def stop(number: int, frame: FrameType | None) -> None:
        del frame
        raise KeyboardInterrupt(number)

    own = threading.current_thread() is threading.main_thread()  # elsewhere Python allows no handlers
    before = signal.signal(signal.SIGTERM, stop) if own else None
    try:
        yield
    except KeyboardInterrupt as interrupt:
        number = signal.SIGTERM if interrupt.args == (signal.SIGTERM,) else signal.SIGINT
        raise unfinished.stopped(number) from None
    finally:
        if own:
            signal.signal(signal.SIGTERM, before)


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
def _progress(texts: Texts, done: int, *, bar: bool = True) -> Iterator[tuple[Callable[[int], None], int | None]]:
    """A bar with the time left, if somebody sits there and the input is a file whose lines can be counted.

    How to move it on, and how many lines there are where it is watched.
    """
    if not bar or not texts.files or not sys.stderr.isatty():
        yield lambda lines: None, None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    total, console = texts.count(), Console(stderr=True)
    # rich would print on the console whatever is written to standard output; talk it may, it stands above the bar then
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as shown:
        task = shown.add_task("lines", total=total, completed=done)
        yield lambda lines: shown.advance(task, lines), total
