"""Ctrl-C, SIGTERM and SIGHUP set a flag, which is read between two updates. A second signal ends at once."""

import signal
import threading
from types import FrameType, TracebackType
from typing import Any

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
