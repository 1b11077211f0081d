"""Maps a function over many items in several processes, with bounded memory; a process that dies is noticed.

Each process has a pipe and one item at a time. There are no threads, which would compete with the caller for the GIL,
and no queue, on which a killed process could leave the caller waiting for ever.
"""

import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from multiprocessing import get_context
from multiprocessing.connection import Connection, wait
from multiprocessing.context import ForkContext, SpawnContext
from multiprocessing.process import BaseProcess
from types import ModuleType
from typing import Generic, TypeAlias, TypeVar

from nungil.errors import ResourceError

Item = TypeVar("Item")
Answer = TypeVar("Answer")
Pipe: TypeAlias = "Connection[object, object]"
MOMENT = 0.5  # seconds without an answer after which `map_as_done` yields None


def cores() -> int:
    """How many this process may use."""
    return len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


class Worker(Generic[Item, Answer]):
    """One process, and the pipe to it."""

    def __init__(
        self, context: "ForkContext | SpawnContext", function: Callable[[Item], Answer], before: "Sequence[Pipe]" = ()
    ) -> None:
        self.pipe, theirs = context.Pipe()
        # A forked process inherits these pipes. Unless it closes them, it does not see when this process is gone.
        copied = (*before, self.pipe) if context.get_start_method() == "fork" else ()
        self._process: BaseProcess = context.Process(target=_work, args=(function, theirs, copied), daemon=True)
        with _nameless_main():
            self._process.start()
        theirs.close()  # now only the process holds its end: if it dies, this end sees EOF

    def give(self, item: Item) -> None:
        """Send an item; the previous answer must have been taken."""
        try:
            self.pipe.send(item)
        except ConnectionError:
            raise _died() from None

    def take(self) -> Answer:
        """Wait for the answer. An exception of the function is raised here."""
        try:
            answer, error = self.pipe.recv()
        except (EOFError, OSError):  # it died before or while answering
            raise _died() from None
        if error is not None:
            raise error
        return answer  # type: ignore[no-any-return]

    def stop(self) -> None:
        """End the process, whatever it is doing."""
        self.pipe.close()
        self._process.kill()  # not SIGTERM: a forked process has inherited our handlers
        self._process.join()


def map_in_order(function: Callable[[Item], Answer], items: Iterable[Item], processes: int) -> Iterator[Answer]:
    """`map(function, items)` in several processes, with at most one item in each."""
    workers = _workers(function, processes)
    free, busy = deque(workers), deque[Worker[Item, Answer]]()
    try:
        for item in items:
            done = None
            if not free:
                free.append(busy.popleft())
                done = [free[0].take()]
            busy.append(free.popleft())
            busy[-1].give(item)  # before yielding, so that the process is not idle
            if done is not None:
                yield done[0]
        while busy:
            yield busy.popleft().take()
    finally:
        for worker in workers:
            worker.stop()


def map_as_done(function: Callable[[Item], Answer], items: Iterable[Item], processes: int) -> Iterator[Answer | None]:
    """The answers in the order in which they are ready; None whenever there is none for a moment.

    The next item is asked for only when a process is free for it.
    """
    workers = _workers(function, processes)
    free, busy = deque(workers), dict[object, Worker[Item, Answer]]()
    waiting = iter(items)
    try:
        while True:
            for item in islice(waiting, len(free)):
                worker = free.popleft()
                worker.give(item)
                busy[worker.pipe] = worker
            if not busy:
                return
            ready = wait(list(busy), timeout=MOMENT)  # type: ignore[arg-type]
            if not ready:
                yield None
            for pipe in ready:
                worker = busy.pop(pipe)
                answer = worker.take()
                free.append(worker)
                yield answer
    finally:
        for worker in workers:
            worker.stop()


def _workers(function: Callable[[Item], Answer], processes: int) -> list[Worker[Item, Answer]]:
    context = _context()
    workers: list[Worker[Item, Answer]] = []
    try:
        for _ in range(processes):
            workers.append(Worker(context, function, [worker.pipe for worker in workers]))
    except OSError as error:
        for worker in workers:
            worker.stop()
        reason = error.strerror or error
        raise ResourceError(f"process {len(workers) + 1} of {processes} could not be started: {reason}") from None
    return workers


def _context() -> "ForkContext | SpawnContext":
    """Fork is faster, but may deadlock where there are threads, of torch or the caller; then processes are spawned."""
    alone = threading.active_count() == 1 and "torch" not in sys.modules
    return get_context("fork") if sys.platform == "linux" and alone else get_context("spawn")


@contextmanager
def _nameless_main() -> Iterator[None]:
    """Hide the caller's script while a process is spawned, so that the process does not run it again.

    The functions that are sent are nungil's own and are imported by name. Without this, a script that calls
    `nungil.train` would need `if __name__ == "__main__"`.
    """
    script = sys.modules["__main__"]
    sys.modules["__main__"] = ModuleType("__main__")
    try:
        yield
    finally:
        sys.modules["__main__"] = script


def _work(function: Callable[[Item], Answer], pipe: "Pipe", copied: "Sequence[Pipe]") -> None:
    """Answer until the pipe is closed."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then stops this process
    for end in copied:
        end.close()
    with suppress(EOFError, ConnectionError):  # the parent is gone
        while True:
            pipe.send(_answer(function, pipe.recv()))  # type: ignore[arg-type]


def _answer(function: Callable[[Item], Answer], item: Item) -> tuple[Answer | None, Exception | None]:
    try:
        return function(item), None
    except Exception as error:  # `take` raises it
        return None, error


def _died() -> ResourceError:
    return ResourceError("a process that worked for this one was killed, perhaps for want of memory")
