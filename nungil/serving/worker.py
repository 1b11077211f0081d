"""Worker: the one thread that computes. It is watched: one that dies is replaced, and whoever waited for it is told."""

import logging
import threading
import time
import traceback

from nungil.serving.metrics import Metrics
from nungil.serving.queue import Batch, Queue

log = logging.getLogger("nungil.serving")
WATCHED = 0.2  # seconds between two looks at the thread


class WorkerDiedError(Exception):
    """The thread ended in the middle of its work."""


class Worker:
    """Takes batches from a queue until it is closed."""

    def __init__(self, queue: Queue, metrics: Metrics) -> None:
        self.queue, self.metrics = queue, metrics
        self.restarts = 0
        self._batch: Batch | None = None
        self._since = 0.0
        self._over = threading.Event()
        self.thread = self._thread()
        self._watch = threading.Thread(target=self._watch_over, name="watch", daemon=True)

    def start(self) -> None:
        """Begin to take."""
        self.thread.start()
        self._watch.start()

    def join(self, seconds: float) -> bool:
        """Wait for the end, after the queue was closed; whether it came."""
        return self._over.wait(seconds)

    @property
    def alive(self) -> bool:
        """Whether somebody works, or is about to."""
        return self.thread.is_alive()

    @property
    def tokens(self) -> int:
        """Source tokens of what is being computed."""
        batch = self._batch
        return 0 if batch is None else batch.tokens

    @property
    def busy(self) -> float:
        """Seconds since the batch that is being computed was begun; 0 if there is none."""
        return time.monotonic() - self._since if self._batch is not None else 0.0

    def _thread(self) -> threading.Thread:
        return threading.Thread(target=self._work, name="worker", daemon=True)

    def _work(self) -> None:
        """Until the queue is closed; or until something ends this thread, of which only the kind is told."""
        try:
            self._compute()
        except BaseException as error:
            log.error("the worker ended by %s", tell_of(error))

    def _compute(self) -> None:
        while True:
            self._batch = None
            batch = self.queue.take()
            if batch is None:
                self._over.set()
                return
            self._since = time.monotonic()
            self._batch = batch
            crowded = self.queue.requests > 0 and batch.tickets[0].key is not None
            batch.answer()
            self._batch = None
            self.metrics.computed(len(batch.taken), batch.tokens, time.monotonic() - self._since, crowded)
            self.queue.pace = self.metrics.rate
            for ticket in batch.tickets:
                if ticket.error is not None:
                    self.queue.drop(ticket, tell=True)
                elif ticket.complete:
                    ticket.settle()

    def _watch_over(self) -> None:
        """Replace a thread that is dead; settle what it had begun, so that nobody waits for ever."""
        while not self._over.wait(WATCHED):
            if self.thread.is_alive():
                continue
            if self._over.is_set():
                return
            self.restarts += 1
            self.metrics.restarted()
            log.error("the worker died and is replaced (%d so far)", self.restarts)
            lost, self._batch = self._batch, None
            for ticket in lost.tickets if lost is not None else ():
                ticket.error = WorkerDiedError()
                self.queue.drop(ticket, tell=True)
            self.thread = self._thread()
            self.thread.start()


def tell_of(error: BaseException) -> str:
    """An error for the log: its kind and its place, without its message, which may hold a client's text."""
    place = traceback.extract_tb(error.__traceback__)[-1:]
    where = f" at {place[0].filename.rpartition('/')[2]}:{place[0].lineno}" if place else ""
    return f"{type(error).__name__}{where}"
