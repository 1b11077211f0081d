"""Queue: work that waits. One for all clients, bounded, measured in source tokens.

A ticket is the work of one request, split into pieces: its texts. Tickets with the same key, that is the same model and
search settings, may be batched. A batch takes pieces from tickets in turn, so that a request of a hundred texts does
not delay a request of one.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nungil.serving.limits import Limits

Run = Callable[[Sequence[Any]], Sequence[Any]]
PART, LEAST = 0.25, 64  # share of a deadline that a batch may take, and its least source tokens
Settled = Callable[[], None]


class FullError(Exception):
    """The queue is full."""


@dataclass(frozen=True)
class Piece:
    """One text of a request, or all of it if it cannot be split: the argument of `run`, and its length."""

    place: int
    item: Any
    tokens: int


@dataclass(eq=False)
class Ticket:
    """The work of one request. Tickets with equal keys may be batched; with None, none."""

    run: Run
    items: Sequence[tuple[Any, int]]  # argument of `run`, and source tokens
    deadline: float  # by time.monotonic; later it is not started
    key: Hashable | None = None
    answers: dict[int, Any] = field(default_factory=dict)
    error: BaseException | None = None
    waiting: deque[Piece] = field(default_factory=deque)
    since: float = 0.0
    settled: Settled | None = None  # called once, by the worker, when finished or failed

    def __post_init__(self) -> None:
        self.waiting.extend(Piece(place, item, tokens) for place, (item, tokens) in enumerate(self.items))

    @property
    def tokens(self) -> int:
        """Source tokens not yet started."""
        return sum(piece.tokens for piece in self.waiting)

    @property
    def complete(self) -> bool:
        """Whether every piece is answered."""
        return len(self.answers) == len(self.items)

    def settle(self) -> None:
        """Notify the waiting request, once."""
        told, self.settled = self.settled, None
        if told is not None:
            told()


@dataclass(frozen=True)
class Batch:
    """Pieces computed together."""

    taken: tuple[tuple[Ticket, Piece], ...]

    @property
    def tokens(self) -> int:
        """Source tokens of its pieces."""
        return sum(piece.tokens for _, piece in self.taken)

    @property
    def tickets(self) -> list[Ticket]:
        """The tickets of its pieces, each once."""
        return list(dict.fromkeys(ticket for ticket, _ in self.taken))

    def answer(self) -> None:
        """Compute it. If that fails, try each ticket separately, so that a bad one does not fail the others."""
        tickets = self.tickets
        try:
            self._compute(self.taken)
        except Exception as error:
            if len(tickets) == 1:
                tickets[0].error = error
                return
            for ticket in tickets:
                try:
                    self._compute([pair for pair in self.taken if pair[0] is ticket])
                except Exception as own:
                    ticket.error = own

    @staticmethod
    def _compute(taken: Sequence[tuple[Ticket, Piece]]) -> None:
        found = taken[0][0].run([piece.item for _, piece in taken])
        for (ticket, piece), answer in zip(taken, found, strict=True):
            ticket.answers[piece.place] = answer


class Queue:
    """Tickets in order of arrival. Thread-safe."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pace = 0.0  # source tokens per second, if known, which limits the size of batches
        self._tickets: deque[Ticket] = deque()
        self._tokens = 0
        self._closed = False
        self._changed = threading.Condition()

    @property
    def tokens(self) -> int:
        """Waiting source tokens."""
        return self._tokens

    @property
    def requests(self) -> int:
        """Waiting tickets."""
        return len(self._tickets)

    def put(self, ticket: Ticket) -> None:
        """Add a ticket; raises FullError."""
        with self._changed:
            if self._closed or self._tokens + ticket.tokens > self.limits.waiting:
                raise FullError
            ticket.since = time.monotonic()
            self._tickets.append(ticket)
            self._tokens += ticket.tokens
            self._changed.notify()

    def drop(self, ticket: Ticket, tell: bool = False) -> None:
        """Remove what is left of a ticket, which nobody waits for any more."""
        with self._changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
                self._tokens -= ticket.tokens
                ticket.waiting.clear()
        if tell:
            ticket.settle()
        ticket.settled = None

    def close(self) -> None:
        """Accept no more tickets; those waiting are still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self) -> Batch | None:
        """Wait for the next batch; None when the queue is closed and empty.

        Waits a moment for more pieces, unless there is a full batch already.
        """
        with self._changed:
            while True:
                self._forget_late()
                if self._tickets:
                    head = self._tickets[0]
                    left = head.since + self.limits.wait - time.monotonic()
                    if left <= 0 or self._closed or head.key is None or self._tokens_of(head) >= self._room():
                        return self._batch(head)
                    self._changed.wait(left)
                elif self._closed:
                    return None
                else:
                    self._changed.wait()

    def _forget_late(self) -> None:
        """Drop work whose deadline has passed."""
        now = time.monotonic()
        for ticket in [one for one in self._tickets if one.deadline <= now]:
            self._tickets.remove(ticket)
            self._tokens -= ticket.tokens
            ticket.waiting.clear()

    def _tokens_of(self, head: Ticket) -> int:
        return sum(ticket.tokens for ticket in self._tickets if ticket.key == head.key)

    def _room(self) -> int:
        """Most source tokens of a batch: if the rate is known, what is done in a share of the deadline.

        A larger batch might be too late for all of its requests.
        """
        soon = int(self.pace * self.limits.deadline * PART)
        return min(self.limits.batch, max(LEAST, soon)) if self.pace else self.limits.batch

    def _batch(self, head: Ticket) -> Batch:
        """Pieces from all tickets of one key in turn, as many as fit; unfinished tickets go to the end."""
        alike = [head] if head.key is None else [ticket for ticket in self._tickets if ticket.key == head.key]
        taken: list[tuple[Ticket, Piece]] = []
        room = self._room()
        while room > 0 and alike:
            for ticket in alike:
                if room <= 0 or (taken and ticket.waiting[0].tokens > room):
                    room = 0
                    break
                piece = ticket.waiting.popleft()
                taken.append((ticket, piece))
                room -= piece.tokens
            alike = [ticket for ticket in alike if ticket.waiting]
        self._tokens -= sum(piece.tokens for _, piece in taken)
        begun = dict.fromkeys(ticket for ticket, _ in taken)
        rest = [ticket for ticket in self._tickets if ticket not in begun]
        self._tickets = deque([*rest, *(ticket for ticket in begun if ticket.waiting)])
        return Batch(tuple(taken))
