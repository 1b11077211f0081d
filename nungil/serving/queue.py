"""Queue: what waits to be computed. One for all clients, bounded, counted in source tokens.

A ticket is what one request asks for, cut into pieces: its texts. Tickets of one key may be computed together: the same
model, the same way of searching. A batch takes pieces of them in turn, one of each ticket and then the next, so that a
request of a hundred texts does not keep a request of one waiting.
"""

import threading
import time
from collections import deque
from collections.abc import Callable, Hashable, Sequence
from dataclasses import dataclass, field
from typing import Any

from nungil.serving.limits import Limits

Run = Callable[[Sequence[Any]], Sequence[Any]]
PART, LEAST = 0.25, 64  # of a deadline that a batch may take, and source tokens that it has in any case
Settled = Callable[[], None]


class FullError(Exception):
    """More waits than the queue takes."""


@dataclass(frozen=True)
class Piece:
    """One text of a request, or all of it where it cannot be cut: what is given to `run`, and how long it is."""

    place: int
    item: Any
    tokens: int


@dataclass(eq=False)
class Ticket:
    """What one request asks for. `key` says what it may be computed with; None: with nothing else."""

    run: Run
    items: Sequence[tuple[Any, int]]  # what is given to `run`, and its source tokens
    deadline: float  # on time.monotonic's clock; what is not begun by then is not begun
    key: Hashable | None = None
    answers: dict[int, Any] = field(default_factory=dict)
    error: BaseException | None = None
    waiting: deque[Piece] = field(default_factory=deque)
    since: float = 0.0
    settled: Settled | None = None  # called once, by the worker, when all is answered or nothing will be

    def __post_init__(self) -> None:
        self.waiting.extend(Piece(place, item, tokens) for place, (item, tokens) in enumerate(self.items))

    @property
    def tokens(self) -> int:
        """Those that are not yet begun."""
        return sum(piece.tokens for piece in self.waiting)

    @property
    def complete(self) -> bool:
        """Whether every piece is answered."""
        return len(self.answers) == len(self.items)

    def settle(self) -> None:
        """Tell whoever waits for it; once."""
        told, self.settled = self.settled, None
        if told is not None:
            told()


@dataclass(frozen=True)
class Batch:
    """Pieces that are computed together."""

    taken: tuple[tuple[Ticket, Piece], ...]

    @property
    def tokens(self) -> int:
        """Of its pieces."""
        return sum(piece.tokens for _, piece in self.taken)

    @property
    def tickets(self) -> list[Ticket]:
        """Whose pieces they are, each once."""
        return list(dict.fromkeys(ticket for ticket, _ in self.taken))

    def answer(self) -> None:
        """Compute it. Where that fails, each ticket is tried by itself: one that cannot be answered spoils no other."""
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
    """Tickets in the order they came. Any thread may call it."""

    def __init__(self, limits: Limits) -> None:
        self.limits = limits
        self.pace = 0.0  # source tokens in a second, as far as that is known: no batch is to take long
        self._tickets: deque[Ticket] = deque()
        self._tokens = 0
        self._closed = False
        self._changed = threading.Condition()

    @property
    def tokens(self) -> int:
        """Source tokens that wait."""
        return self._tokens

    @property
    def requests(self) -> int:
        """Tickets that wait."""
        return len(self._tickets)

    def put(self, ticket: Ticket) -> None:
        """Let it wait its turn, or raise if too much waits already."""
        with self._changed:
            if self._closed or self._tokens + ticket.tokens > self.limits.waiting:
                raise FullError
            ticket.since = time.monotonic()
            self._tickets.append(ticket)
            self._tokens += ticket.tokens
            self._changed.notify()

    def drop(self, ticket: Ticket, tell: bool = False) -> None:
        """Take it out, whatever of it was still to be begun: nobody waits for it any more, or is told so now."""
        with self._changed:
            if ticket in self._tickets:
                self._tickets.remove(ticket)
                self._tokens -= ticket.tokens
                ticket.waiting.clear()
        if tell:
            ticket.settle()
        ticket.settled = None

    def close(self) -> None:
        """Nothing more comes in; what is in is still taken."""
        with self._changed:
            self._closed = True
            self._changed.notify_all()

    def take(self) -> Batch | None:
        """The next batch, as soon as there is one; None when the queue is closed and empty.

        A first piece waits a moment for others, unless there is a batch full of them already.
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
        """Work whose deadline has passed is not begun."""
        now = time.monotonic()
        for ticket in [one for one in self._tickets if one.deadline <= now]:
            self._tickets.remove(ticket)
            self._tokens -= ticket.tokens
            ticket.waiting.clear()

    def _tokens_of(self, head: Ticket) -> int:
        return sum(ticket.tokens for ticket in self._tickets if ticket.key == head.key)

    def _room(self) -> int:
        """Source tokens of a batch: at a known pace, no more than are done in a part of the deadline.

        Otherwise much would be computed and come too late for all.
        """
        soon = int(self.pace * self.limits.deadline * PART)
        return min(self.limits.batch, max(LEAST, soon)) if self.pace else self.limits.batch

    def _batch(self, head: Ticket) -> Batch:
        """Pieces of all tickets of one key in turn, as many as fit; tickets with more of them go to the end."""
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
