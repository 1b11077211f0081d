"""Data goes to standard output, everything else to standard error."""

import io
import json
import os
import sys
from abc import abstractmethod
from collections.abc import Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

from nungil.errors import ResourceError, as_typed

if TYPE_CHECKING:
    from rich.console import Console

JSON_WIDTH = 110
PIPED_WIDTH = 160  # columns where standard output is not a terminal
TYPED = 60  # characters; a longer text is not repeated in a suggested command


class Guarded(io.TextIOWrapper):
    """A stream that handles failed writes itself, also those of rich and typer."""

    def write(self, text: str) -> int:
        """Into the buffer, and out of it where that is full."""
        with self._ending():
            super().write(text)
        return len(text)

    def flush(self) -> None:
        """Out of the buffer."""
        with self._ending():
            super().flush()

    @abstractmethod
    def _ending(self) -> AbstractContextManager[None]:
        """Surrounds every attempt to write."""


class Output(Guarded):
    """Standard output: if it fails, the command ends. A closed pipe, as by `head`, is not an error."""

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except BrokenPipeError:
            _throw_the_rest_away(self)
            sys.exit(0)
        except OSError as error:
            _throw_the_rest_away(self)
            raise ResourceError(f"the output could not be written: {error.strerror}") from None


class Talk(Guarded):
    """Standard error: if it fails, on a full disk or a closed terminal, the command goes on without it.

    If a non-blocking pipe is full, the rest is written when it has room again.
    """

    def end(self) -> None:
        """Write what is left; discard what cannot be written."""
        try:
            io.TextIOWrapper.flush(self)
        except OSError:
            _throw_the_rest_away(self)

    @contextmanager
    def _ending(self) -> Iterator[None]:
        try:
            yield
        except BlockingIOError:
            pass
        except OSError:
            _throw_the_rest_away(self)


def _throw_the_rest_away(stream: io.TextIOWrapper) -> None:
    nowhere = os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, stream.fileno())  # or Python complains when it closes the stream
    os.close(nowhere)


@contextmanager
def guarded_talk() -> Iterator[None]:
    """Within it, standard error is a `Talk`."""
    plain = sys.stderr
    if not isinstance(plain, io.TextIOWrapper):
        yield
        return
    guarded = sys.stderr = Talk(plain.buffer, plain.encoding, "backslashreplace", line_buffering=True)
    try:
        yield
    finally:
        guarded.end()
        sys.stderr = plain
        guarded.detach()


@contextmanager
def guarded_output() -> Iterator[None]:
    """Within it, standard output is an `Output`; a closed one is refused before the command does anything."""
    plain = sys.stdout
    if plain is None:
        raise ResourceError("standard output is closed; nothing could be printed: send it to a file or to /dev/null")
    if not isinstance(plain, io.TextIOWrapper):
        yield
        return
    # with PYTHONUNBUFFERED there is no buffer, and the rest of a partial write would be lost silently
    below = io.BufferedWriter(plain.buffer) if isinstance(plain.buffer, io.RawIOBase) else plain.buffer
    # an encoding without Hangul shows escapes instead of failing
    guarded = Output(below, plain.encoding, "backslashreplace", line_buffering=plain.line_buffering)
    sys.stdout = guarded
    try:
        yield
    finally:
        sys.stdout = plain
        guarded.detach()  # flushes, but does not close the stream below
        if isinstance(below, io.BufferedWriter) and below is not plain.buffer:
            below.detach()


def write(text: str) -> None:
    """A line of data."""
    print(text, flush=True)  # noqa: T201


def say(text: str) -> None:
    """A line of talk."""
    print(text, file=sys.stderr)  # noqa: T201


def suggest_looking(folder: Path, texts: Sequence[str], otherwise: str) -> None:
    """Suggest `nungil look` with the first of these texts, or with `otherwise` if it is long."""
    if texts:
        text = texts[0] if len(texts[0]) < TYPED else otherwise
        say(f"Next: nungil look {as_typed(folder)} {as_typed(text)}")


def has_the_last_word() -> bool:
    """Whether this process was started by the user, or is the first of those that torchrun started."""
    from nungil.runs.launch import LIFELINE

    return os.environ.get("RANK", "0") == "0" and LIFELINE not in os.environ


def readable_json(value: Any, indent: str = "") -> str:
    """JSON with everything that fits on one line kept on one line."""
    text = json.dumps(value, ensure_ascii=False, allow_nan=False)
    if len(indent) + len(text) <= JSON_WIDTH or not isinstance(value, dict | list):
        return text
    inner = indent + " "
    if isinstance(value, list):
        return "[\n" + ",\n".join(inner + readable_json(part, inner) for part in value) + f"\n{indent}]"
    rows = (f"{json.dumps(key, ensure_ascii=False)}: {readable_json(part, inner)}" for key, part in value.items())
    return "{\n" + ",\n".join(inner + row for row in rows) + f"\n{indent}}}"


def page() -> "Console":
    """A console for tables: as wide as the terminal, or plain text of a fixed width."""
    from rich.console import Console

    return Console() if sys.stdout.isatty() else Console(width=PIPED_WIDTH, color_system=None)
