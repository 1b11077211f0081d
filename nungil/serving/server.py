"""The server: a socket, uvicorn on it, models loaded beside it; and an end that loses nothing."""

import asyncio
import errno
import logging
import os
import signal
import socket
import sys
import threading
from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from types import FrameType
from typing import Any

import uvicorn

from nungil.errors import UsageError
from nungil.serving.app import build
from nungil.serving.desk import Desk
from nungil.serving.protocol import protocol
from nungil.serving.shelf import Book, Shelf

HEADER_BYTES = 32_768
BACKLOG = 512
# Python lets another thread run after so many seconds. By default the worker would keep answers waiting for 5 ms each.
TURNS = 0.001


@dataclass(frozen=True)
class Address:
    """Where to listen, and by which other names that is known."""

    host: str = "127.0.0.1"
    port: int = 8080
    names: Collection[str] = ()

    @property
    def url(self) -> str:
        """To be opened in a browser."""
        host = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(self.host, self.host)
        return f"http://{f'[{host}]' if ':' in host and not host.startswith('[') else host}:{self.port}"


class Server(uvicorn.Server):
    """Uvicorn, ended by SIGTERM or Ctrl-C as is promised: not ready, no more clients, answers for all who wait, 0."""

    def __init__(self, config: uvicorn.Config, desk: Desk) -> None:
        super().__init__(config)
        self.desk = desk

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        """Only the main thread hears signals."""
        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {number: signal.signal(number, self.handle_exit) for number in (signal.SIGTERM, signal.SIGINT)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """The first signal ends it kindly, the second at once."""
        del sig, frame
        self.force_exit = self.should_exit
        self.should_exit = True
        self.desk.draining = True


def listen(address: Address) -> socket.socket:
    """A socket that is taken before anything is loaded: a port that is not free is known at once.

    Whoever it accepts is answered without delay. asyncio sees to that only for sockets that name their protocol, which
    this one does not; the body of an answer would wait 40 ms until a client that stays says that it has the headers.
    """
    family = socket.AF_INET6 if ":" in address.host else socket.AF_INET
    try:
        taken = socket.create_server((address.host, address.port), family=family, backlog=BACKLOG)
        taken.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        return taken
    except (OSError, OverflowError) as error:
        raise UsageError(f"{address.host}:{address.port}: {_why_not(error)}") from None


def _why_not(error: OSError | OverflowError) -> str:
    """Why an address cannot be taken, and what can be done about it."""
    if isinstance(error, OverflowError):
        return str(error)
    if error.errno is None or error.errno <= 0:  # whoever looks names up counts below 0
        return "there is no such address"
    free = "; another port: --port 0 takes any that is free" if error.errno in (errno.EADDRINUSE, errno.EACCES) else ""
    return f"{os.strerror(error.errno)}{free}"


def configured(desk: Desk, address: Address) -> uvicorn.Config:
    """Uvicorn without anything that is not promised: no proxy headers, no access log, no web sockets."""
    limits = desk.limits
    return uvicorn.Config(
        build(desk, address.names),
        http=protocol(limits.sending, limits.connections),
        ws="none",
        loop="asyncio",
        lifespan="off",
        interface="asgi3",
        access_log=False,
        log_config=None,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=limits.idle,  # type: ignore[arg-type]  # seconds need not be whole
        timeout_graceful_shutdown=int(limits.deadline) + 5,
        h11_max_incomplete_event_size=HEADER_BYTES,
    )


def run(books: Sequence[Book], desk: Desk, address: Address, ready: Callable[[Address], None]) -> bool:
    """Serve until a signal ends it; whether every request that was taken was answered.

    `ready` is called once, when the models are loaded and the socket accepts.
    """
    sys.setswitchinterval(TURNS)
    for name in ("uvicorn.error", "python_multipart"):
        logging.getLogger(name).setLevel(logging.CRITICAL)  # they would write what clients sent
    taken = listen(address)
    bound = Address(address.host, taken.getsockname()[1], address.names)
    try:
        return asyncio.run(_serve(books, desk, bound, taken, ready))
    finally:
        taken.close()


async def _serve(
    books: Sequence[Book], desk: Desk, address: Address, taken: socket.socket, ready: Callable[[Address], None]
) -> bool:
    server = Server(configured(desk, address), desk)
    serving = asyncio.ensure_future(server.serve(sockets=[taken]))
    loading = _loading(books)
    both: set[asyncio.Future[Any]] = {serving, loading}
    await asyncio.wait(both, return_when=asyncio.FIRST_COMPLETED)
    if loading.done():
        try:
            desk.open(loading.result())
            ready(address)
        except BaseException:
            server.should_exit = True
            await serving
            raise
    await serving
    drained = not server.force_exit and not server.server_state.tasks
    return await asyncio.to_thread(desk.close, 0 if server.force_exit else desk.limits.deadline) and drained


def _loading(books: Sequence[Book]) -> "asyncio.Future[Shelf]":
    """The models, read in a thread that nobody waits for if the server is to end before it has begun."""
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Shelf] = loop.create_future()

    def tell(shelf: Shelf | None, error: BaseException | None) -> None:
        if future.done():
            return
        if shelf is not None:
            future.set_result(shelf)
        elif error is not None:
            future.set_exception(error)

    def work() -> None:
        try:
            loop.call_soon_threadsafe(tell, Shelf.load(books), None)
        except BaseException as error:
            loop.call_soon_threadsafe(tell, None, error)

    threading.Thread(target=work, name="loading", daemon=True).start()
    return future
