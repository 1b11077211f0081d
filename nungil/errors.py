"""Every error a user can cause, and its exit code. Anything else is a bug in nungil.

NungilError
├── UsageError         2    a command or call that makes no sense
│   ├── ConfigError    2    a setting is unknown, mistyped or contradictory
│   ├── EmptyError     2    a text without anything to read
│   └── ShapeError     2    sizes that do not fit, or a row with nothing to keep
├── CorpusError        3    data that is missing, unreadable, misaligned or empty
├── CheckpointError    4    a model file that is refused
├── ResourceError      5    out of memory or disk
├── DivergedError      6    training diverged
├── StoppedError 130, 143   stopped by a signal
├── LostError         75    another one of several processes ended, and this one cannot continue
└── ProcessError            one of several processes ended the run; has its exit code
"""

import signal
from collections.abc import Iterable
from difflib import get_close_matches
from shlex import quote
from typing import ClassVar


class NungilError(Exception):
    """The root: a message for the user, and how the command ends."""

    exit_code: ClassVar[int] = 1


class UsageError(NungilError, ValueError):
    """A command or call that makes no sense."""

    exit_code = 2


class ConfigError(UsageError):
    """A setting is unknown, mistyped or contradictory. Carries every mistake found, not only the first."""

    def __init__(self, where: str, mistakes: Iterable[str]) -> None:
        self.mistakes = tuple(mistakes)
        super().__init__("\n".join([f"{where}:", *(f"- {mistake}" for mistake in self.mistakes)]))


class EmptyError(UsageError):
    """A text without anything to read."""


class ShapeError(UsageError):
    """Sizes that do not fit, or a row with nothing to keep."""


class CorpusError(NungilError):
    """Data that is missing, unreadable, misaligned or empty."""

    exit_code = 3


class CheckpointError(NungilError):
    """A model file that is refused."""

    exit_code = 4


class ResourceError(NungilError):
    """Out of memory or disk."""

    exit_code = 5


class DivergedError(NungilError):
    """Training diverged."""

    exit_code = 6


class StoppedError(NungilError):
    """Stopped by a signal; the exit code is the shell's 128 + signal number."""

    def __init__(self, message: str, number: int = signal.SIGINT) -> None:
        super().__init__(message)
        self.number = number

    @property
    def exit_code(self) -> int:  # type: ignore[override]  # the code depends on what happened
        """130 after Ctrl-C, 143 after SIGTERM, 129 after SIGHUP."""
        return 128 + self.number


class LostError(NungilError):
    """Another one of several processes ended, and this one cannot continue. The error of the other one matters."""

    exit_code = 75


class ProcessError(NungilError):
    """One of several processes ended the run. It has reported why; the command ends with its exit code."""

    def __init__(self, message: str, code: int) -> None:
        super().__init__(message)
        self.code = code

    @property
    def exit_code(self) -> int:  # type: ignore[override]
        """The exit code of the process."""
        return self.code


def unreadable(path: object, error: OSError) -> CorpusError:
    """The error for a file that cannot be opened."""
    if isinstance(error, FileNotFoundError):
        return CorpusError(f"{path}: there is no such file")
    if isinstance(error, IsADirectoryError):
        return CorpusError(f"{path}: this is a folder; a file is expected")
    return CorpusError(f"{path}: {error.strerror}")


def as_typed(word: object) -> str:
    """A path or text as typed in a shell, quoted where necessary."""
    return quote(str(word))


def did_you_mean(word: object, known: Iterable[str]) -> str:
    """`"; did you mean dot?"` if a known word is similar, else all known words."""
    names = sorted(known)
    by_lower = {name.lower(): name for name in names}
    close = get_close_matches(str(word).lower(), by_lower, n=1, cutoff=0.6)
    return f"; did you mean {by_lower[close[0]]}?" if close else f"; there is {', '.join(names)}"
