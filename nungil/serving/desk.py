"""Desk: where requests wait for their answers; holds models, queue, worker and metrics."""

import asyncio
import math
import time
from collections.abc import Callable, Hashable, Sequence
from contextlib import suppress
from typing import Any

from starlette.requests import Request

from nungil.errors import NungilError
from nungil.serving.keys import Keys
from nungil.serving.limits import Limits
from nungil.serving.metrics import Metrics
from nungil.serving.queue import FullError, Queue, Run, Ticket
from nungil.serving.refusal import BUG, RefusedError, meant_otherwise, too_much
from nungil.serving.shelf import Shelf
from nungil.serving.worker import Worker, WorkerDiedError, log, tell_of

MARK = 0.8  # share of the queue above which the server is not ready, though it still accepts requests
IN_TIME = 0.5  # share of a deadline that a request may wait; more would make it, and others, too late
STUCK = 2.0  # deadlines after which a batch counts as stuck
SOON, LATE = 1, 60  # least and most seconds of Retry-After


BEGUN = "nungil.begun"  # key in a request's scope: its time of arrival, from which its deadline counts


class GoneError(Exception):
    """The client has disconnected."""


class Desk:
    """One for each server."""

    def __init__(self, limits: Limits, keys: Keys | None = None) -> None:
        self.limits, self.keys = limits, keys or Keys()
        self.metrics = Metrics()
        self.queue = Queue(limits)
        self.worker = Worker(self.queue, self.metrics)
        self.draining = False
        self._shelf: Shelf | None = None

    @property
    def shelf(self) -> Shelf:
        """The models, once they are loaded."""
        if self._shelf is None:
            message = "the models are being loaded; come again in a moment"
            raise RefusedError(503, message, headers=after(SOON), code="loading")
        return self._shelf

    def open(self, shelf: Shelf) -> None:
        """Start answering."""
        self._shelf = shelf
        self.worker.start()

    def close(self, seconds: float) -> bool:
        """Answer what waits, and accept no more; returns whether all was answered in time."""
        self.draining = True
        self.queue.close()
        return self._shelf is None or self.worker.join(seconds)

    def unready(self) -> str | None:
        """Why the server is not ready; None if it is."""
        if self.draining:
            return "draining"
        if self._shelf is None:
            return "loading"
        if not self.worker.alive:
            return "the worker is being replaced"
        if self.worker.busy > STUCK * self.limits.deadline:
            return "the worker does not come to an end"
        if self.queue.tokens > MARK * self.limits.waiting:
            return "too much waits"
        return None

    async def ask(
        self, request: Request, run: Run, items: Sequence[tuple[Any, int]], key: Hashable | None = None
    ) -> list[Any]:
        """The answer to each item; raises a refusal if the queue is full, the deadline passes, or it fails."""
        deadline = request.scope.get(BEGUN, time.monotonic()) + self.limits.deadline
        ticket = Ticket(run, items, deadline, key)
        done = asyncio.get_running_loop().create_future()
        ticket.settled = _telling(asyncio.get_running_loop(), done)
        self._put(ticket)
        gone = asyncio.ensure_future(_left(request))
        try:
            left = max(0.0, deadline - time.monotonic())
            await asyncio.wait({done, gone}, timeout=left, return_when=asyncio.FIRST_COMPLETED)
        finally:
            gone.cancel()
            self.queue.drop(ticket)
        return self._outcome(ticket, gone)

    def _put(self, ticket: Ticket) -> None:
        if ticket.tokens > self.limits.waiting:
            raise too_much("the body", ticket.tokens, self.limits.waiting, "tokens", " to read at once", status=413)
        self.refuse_if_full()
        try:
            self.queue.put(ticket)
        except FullError:
            raise self._full() from None

    def refuse_if_full(self) -> None:
        """Refuse if the queue is full, or so long that the request would be too late."""
        if self.queue.tokens >= self.limits.waiting or self._clear() > IN_TIME * self.limits.deadline:
            raise self._full()

    def _full(self) -> RefusedError:
        self.metrics.dropped("full")
        wait = min(LATE, max(SOON, math.ceil(self._clear())))
        return RefusedError(503, "too much waits already; come again later", headers=after(wait))

    def _clear(self) -> float:
        """Estimated seconds until the queue is empty; 0 if the rate under load is unknown."""
        if not self.metrics.rate or not self.queue.tokens:
            return 0.0
        return (self.queue.tokens + self.worker.tokens) / self.metrics.rate

    def _outcome(self, ticket: Ticket, gone: "asyncio.Future[None]") -> list[Any]:
        if ticket.error is not None:
            raise _refusal(ticket.error)
        if ticket.complete:
            return [ticket.answers[place] for place in range(len(ticket.items))]
        if gone.done() and not gone.cancelled():
            self.metrics.dropped("client")
            raise GoneError
        self.metrics.dropped("deadline")
        seconds = self.limits.deadline
        message = f"there was no answer within {seconds:g} seconds; the work was dropped"
        raise RefusedError(504, message, facts={"seconds": seconds})


def _refusal(error: BaseException) -> BaseException:
    """The response for an error in the worker: details of a client's mistakes, but not of bugs."""
    if isinstance(error, RefusedError):
        return error
    if isinstance(error, NungilError):
        return meant_otherwise(error)
    if isinstance(error, WorkerDiedError):
        message = "the worker died while it worked on this; it was replaced, and you may ask again"
        return RefusedError(500, message, code="lost")
    if isinstance(error, MemoryError):
        return RefusedError(503, "there is not enough memory for this now", headers=after(SOON), code="memory")
    log.error("a request failed: %s", tell_of(error))
    return RefusedError(500, BUG)


def _telling(loop: asyncio.AbstractEventLoop, done: "asyncio.Future[None]") -> Callable[[], None]:
    def finish() -> None:
        if not done.done():
            done.set_result(None)

    def tell() -> None:
        with suppress(RuntimeError):  # the loop is closed: the server has ended
            loop.call_soon_threadsafe(finish)

    return tell


async def _left(request: Request) -> None:
    """Wait until the client disconnects. The body was read before."""
    while (await request.receive())["type"] != "http.disconnect":
        pass


def after(seconds: int) -> dict[str, str]:
    """The Retry-After header."""
    return {"Retry-After": str(seconds)}
