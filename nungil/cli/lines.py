"""Lines in, lines out: to standard output, or to a file that the same command can resume after a stop."""

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
    """Answer every line. `sign` is all that determines the answers: only a file with the same sign is resumed."""
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
    """Identifies a model: a hash of its weights and settings. Files that do not exist are left out."""
    found = hashlib.sha256()
    for name in ("model.safetensors", "config.json"):
        with suppress(OSError), (folder / name).open("rb") as file:
            found.update(hashlib.file_digest(file, "sha256").digest())
    return found.hexdigest()


class Unfinished:
    """An unfinished output: OUT.part has the answers, OUT.part.json the number of input lines they answer.

    Answers are synced to disk before they are counted, and uncounted ones are truncated: none is lost or repeated.
    OUT.part must exist and be locked.
    """

    def __init__(self, out: Path, sign: Mapping[str, Any]) -> None:
        self.out, self.sign, self.lines, self.bytes = out, json.loads(json.dumps(sign)), 0, 0
        self.part, self.state = part_of(out), state_of(out)
        self._inode = self.part.stat().st_ino
        if self.part.stat().st_size:
            self._go_on()
        else:
            self._count(0, 0)  # before any answers, so that even a file cut off by a full disk can be resumed

    def _go_on(self) -> None:
        try:
            state = json.loads(self.state.read_text())
            lines, size = int(state["lines"]), int(state["bytes"])
            same = state["sign"] == self.sign and size <= self.part.stat().st_size
        except (OSError, ValueError, KeyError, TypeError):
            same = False
        if not same:
            raise UsageError(
                f"{self.part}: left by another command, with other input, another model or other options; "
                "delete it, or choose another --out"
            )
        if not self.sign["files"]:
            say("Starting over: standard input may be different each time.")
            return
        self.lines, self.bytes = lines, size
        if lines:
            say(f"Continuing after line {self.lines:,}.")

    def add(self, answers: Sequence[str], lines: int) -> None:
        """Append the answers to `lines` more lines."""
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
        """Refuse a file that has replaced this one: it lacks the earlier answers."""
        if not self.part.exists() or self.part.stat().st_ino != self._inode:
            raise ResourceError(f"{self.part}: was deleted or replaced while it was being written; start over")

    def finish(self) -> None:
        """Rename the complete file to its final name."""
        self._refuse_another()
        if self.out.exists():
            raise UsageError(
                f"{self.out}: was created by another process meanwhile, and is not overwritten; "
                f"all answers are in {self.part}"
            )
        self.part.replace(self.out)
        self.state.unlink(missing_ok=True)

    def stopped(self, number: signal.Signals) -> StoppedError:
        """The error for a signal."""
        if not self.lines:
            return StoppedError("stopped before the first answers were written", number)
        if not self.sign["files"]:
            return StoppedError(f"stopped after line {self.lines:,}; its answers are in {self.part}", number)
        return StoppedError(f"stopped after line {self.lines:,}; the same command continues there", number)


def part_of(out: Path) -> Path:
    """The file of answers until all are there."""
    return out.with_name(f"{out.name}.part")


def state_of(out: Path) -> Path:
    """The file that counts the input lines answered."""
    return out.with_name(f"{out.name}.part.json")


@contextmanager
def _locked(out: Path) -> Iterator[None]:
    """Create and lock OUT.part; remove it if it stays empty."""
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
        raise UsageError(f"{out}: exists already, and is not overwritten; choose another --out")


@contextmanager
def _stoppable(unfinished: Unfinished) -> Iterator[None]:
    """Ctrl-C and SIGTERM stop the command at once; uncounted lines are answered again later."""

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
    """Size and time of a file; a missing one is reported when it is read."""
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
    """A progress bar, if standard error is a terminal and the input is files, whose lines can be counted.

    Yields a function that advances it, and the number of lines if there is a bar.
    """
    if not bar or not texts.files or not sys.stderr.isatty():
        yield lambda lines: None, None  # noqa: ARG005
        return
    from rich.console import Console
    from rich.progress import BarColumn, MofNCompleteColumn, Progress, TimeRemainingColumn

    columns = (BarColumn(), MofNCompleteColumn(), TimeRemainingColumn())
    total, console = texts.count(), Console(stderr=True)
    # rich may redirect standard error, to print it above the bar, but not standard output
    with Progress(*columns, console=console, transient=True, redirect_stdout=False) as shown:
        task = shown.add_task("lines", total=total, completed=done)
        yield lambda lines: shown.advance(task, lines), total
