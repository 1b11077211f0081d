"""Ctrl-C, SIGTERM and SIGHUP stop a run alike. A second signal ends at once.

Between updates a signal sets a flag, which is read when everything is consistent; before and after them it interrupts.
"""

import signal
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from types import FrameType, TracebackType
from typing import Any

from nungil.errors import StoppedError

SIGNALS = tuple(signal.Signals[name] for name in ("SIGINT", "SIGTERM", "SIGHUP") if name in signal.Signals.__members__)


def heard() -> list[signal.Signals]:
    """The signals that are not ignored: `nohup` makes a process ignore SIGHUP."""
    return [number for number in SIGNALS if signal.getsignal(number) is not signal.SIG_IGN]


class Interrupt:
    """Within it, the first signal only sets `asked`, because it may come in the middle of anything."""

    def __init__(self) -> None:
        self.asked: signal.Signals | None = None
        self._before: dict[signal.Signals, Any] = {}

    def __enter__(self) -> "Interrupt":
        if threading.current_thread() is threading.main_thread():  # elsewhere Python allows no handlers
            self._before = {number: signal.signal(number, self._note) for number in heard()}
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for number, handler in self._before.items():
            signal.signal(number, handler)
        self._before = {}

    def _note(self, number: int, frame: FrameType | None) -> None:
        del frame
        self.asked = signal.Signals(number)
        for each in self._before:
            signal.signal(each, signal.SIG_DFL)


class _AtOnce(Interrupt):
    """The first signal ends what is under way, which tidies up on its way out."""

    def _note(self, number: int, frame: FrameType | None) -> None:
        super()._note(number, frame)
        raise KeyboardInterrupt  # no StoppedError: what asks for errors of ours, or of any kind, would take it


@contextmanager
def ended_at_once(message: str) -> Iterator[None]:
    """While it is entered, the first signal ends what is under way with an error that says this."""
    with _AtOnce() as interrupt:
        try:
            yield
        except KeyboardInterrupt:
            raise StoppedError(message, interrupt.asked or signal.SIGINT) from None
