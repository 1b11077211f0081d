"""Several processes for one run: start them, pass signals on, and end all of them when one ends badly.

Each is `nungil resume FOLDER` with a rank in its environment, named as torchrun does. All write to the same terminal,
but only the first one reports progress, so that errors are seen. A pipe ties them to this process: when it ends, even
by kill -9, they end too.
"""

import os
import queue
import signal
import socket
import subprocess
import sys
import tempfile
import threading
from collections import deque
from collections.abc import Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path
from types import FrameType

from nungil.errors import LostError, NungilError, ProcessError, StoppedError, as_typed
from nungil.runs.interrupt import heard
from nungil.training.ranks import MEETING

NUNGIL = (sys.executable, "-m", "nungil")
LIFELINE = "NUNGIL_LIFELINE"  # the reading end of a pipe whose writing end this process holds
GRACE = 3.0  # seconds for the others to end by themselves after one has failed
LINGERING = 60.0  # the same after one has succeeded: all have finished, and only free their memory
Ended = tuple[int, int]  # rank and exit code


def launch(
    folder: Path, processes: int, threads: int, options: Sequence[str] = (), command: Sequence[str] = NUNGIL
) -> None:
    """Resume the run of a folder in several processes, to its end."""
    with tempfile.TemporaryDirectory(prefix="nungil-") as meeting, _lifeline() as line:
        children = _Children(processes)
        with _signals_passed_on(children):
            for rank in range(processes):
                told = _environment(rank, processes, threads, Path(meeting) / "meeting", line)
                arguments = [*command, "resume", str(folder), *options]
                children.add(subprocess.Popen(arguments, env=told, pass_fds=[line], start_new_session=True))
            ended = _watch(children.started)
    bad = [one for one in ended if one[1] != 0]
    if bad:
        raise _error(bad, processes, folder)


class _Children:
    """The processes, and signals not yet sent to each: every process gets every signal once, even if started later."""

    def __init__(self, processes: int) -> None:
        self.started: list[subprocess.Popen[bytes]] = []
        self._unheard: list[deque[int]] = [deque() for _ in range(processes)]

    def add(self, child: subprocess.Popen[bytes]) -> None:
        """Add a process; it gets the signals that came before it."""
        self.started.append(child)
        self._tell()

    def pass_on(self, number: int, frame: FrameType | None) -> None:
        """The signal handler, which may interrupt itself."""
        del frame
        for unheard in self._unheard:
            unheard.append(number)
        self._tell()

    def _tell(self) -> None:
        for child, unheard in zip(self.started, self._unheard, strict=False):  # not all may be started yet
            with suppress(IndexError):
                while True:
                    child.send_signal(unheard.popleft())


def hold_on() -> None:
    """Tie this process to the one that started it, if that was `launch`."""
    told = os.environ.get(LIFELINE)
    if told is not None:
        threading.Thread(target=_end_with, args=(int(told),), daemon=True).start()


def _end_with(line: int) -> None:
    os.read(line, 1)  # returns when the other end is closed
    os._exit(LostError.exit_code)


@contextmanager
def _lifeline() -> Iterator[int]:
    reading, writing = os.pipe()
    try:
        yield reading
    finally:
        os.close(reading)
        os.close(writing)


def _environment(rank: int, processes: int, threads: int, meeting: Path, line: int) -> dict[str, str]:
    told: dict[str, object] = {"RANK": rank, "LOCAL_RANK": rank, "WORLD_SIZE": processes, "LOCAL_WORLD_SIZE": processes}
    told |= {MEETING: meeting, LIFELINE: line, "OMP_NUM_THREADS": threads}
    loopback = [name for _, name in socket.if_nameindex() if name in ("lo", "lo0")]
    if loopback:  # only this machine can listen or join
        told["GLOO_SOCKET_IFNAME"] = loopback[0]
    return {**os.environ, **{name: str(value) for name, value in told.items()}}


@contextmanager
def _signals_passed_on(children: _Children) -> Iterator[None]:
    """Pass signals on to all of them: they have their own sessions, which Ctrl-C does not reach."""
    if threading.current_thread() is not threading.main_thread():  # elsewhere Python allows no handlers
        yield
        return
    before = {number: signal.signal(number, children.pass_on) for number in heard()}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)


def _watch(children: Sequence[subprocess.Popen[bytes]]) -> list[Ended]:
    """Wait for all of them, but not for long after the first; in the order in which they ended."""
    reports: queue.Queue[Ended] = queue.Queue()
    for rank, child in enumerate(children):
        threading.Thread(target=lambda r=rank, c=child: reports.put((r, c.wait())), daemon=True).start()
    ended: list[Ended] = []
    try:
        ended.append(reports.get())
        while len(ended) < len(children):
            ended.append(reports.get(timeout=LINGERING if all(code == 0 for _, code in ended) else GRACE))
    except queue.Empty:
        pass  # the rest are killed below
    finally:
        for child in children:
            child.kill()
    return ended


def _error(ended: Sequence[Ended], processes: int, folder: Path) -> NungilError:
    """The error of the first process that did not end only because another one did."""
    rank, code = next((one for one in ended if one[1] != LostError.exit_code), ended[0])
    if code < 0:
        said = f"process {rank} of {processes} was ended by {_signal_name(-code)}, and the others with it"
        return StoppedError(f"{said}; next: nungil resume {as_typed(folder)}", -code)
    return ProcessError(f"process {rank} of {processes} ended with exit code {code}, and said why", code)


def _signal_name(number: int) -> str:
    try:
        return signal.Signals(number).name
    except ValueError:  # real-time signals have no names of their own
        return f"signal {number}"
