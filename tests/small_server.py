"""A real server for tests: uvicorn on loopback, in a thread of this process, with small models."""

import asyncio
import json
import socket
import threading
from contextlib import contextmanager
from pathlib import Path

import httpx
import torch
from model_folders import LUONG, TRANSFORMER, classifier_folder, translator_folder

from nungil.serving.desk import Desk
from nungil.serving.keys import Keys
from nungil.serving.limits import Limits
from nungil.serving.server import Address, Server, configured, listen
from nungil.serving.shelf import Shelf, books_of

KEY = "a-key-that-nobody-guesses"
TALKATIVE = {**LUONG, "scale_embedding": False}  # drawn at random, so that its translations are not empty
# Made for tests: one that attends, one with heads, one that classifies, one without attention.
FOLDERS = {
    "luong": lambda folder: translator_folder(folder, TALKATIVE),
    "transformer": lambda folder: translator_folder(folder, TRANSFORMER),
    "labels": lambda folder: classifier_folder(folder),
    "plain": lambda folder: translator_folder(folder, {**TALKATIVE, "decoder": "plain"}),
}


def small_shelf(folder: Path, *names: str) -> Shelf:
    """Models that were never trained, by their names above; the same each time."""
    torch.manual_seed(7)
    return Shelf.load(books_of([str(FOLDERS[name](folder / name)) for name in names or FOLDERS]))


class Running:
    """A server that runs, and a client for it."""

    def __init__(self, desk: Desk, server: Server, address: Address) -> None:
        self.desk, self.server, self.address = desk, server, address
        self.client = httpx.Client(base_url=address.url, timeout=60)
        self.connections: list[socket.socket] = []

    def get(self, path: str, **options):
        return self.client.get(path, **options)

    def post(self, path: str, body=None, headers=None, **options):
        """JSON in ASCII: so half a character can be sent, too."""
        content = None if body is None else json.dumps(body)
        kind = {"Content-Type": "application/json"}
        return self.client.post(path, content=content, headers={**kind, **(headers or {})}, **options)

    def connect(self) -> socket.socket:
        """A bare connection, for whoever speaks HTTP slowly or badly."""
        found = socket.create_connection((self.address.host, self.address.port), timeout=30)
        self.connections.append(found)
        return found

    def close(self) -> None:
        """Leave, whatever was still to be said."""
        for connection in self.connections:
            connection.close()
        self.client.close()


@contextmanager
def running(shelf: Shelf | None, keys=(), names=(), **limits):
    """Serve these models until the block ends; without any, they are still being loaded."""
    patient = {"deadline": 120.0, "sending": 60.0, "idle": 120.0}  # machines that test are busy, some of them very
    desk = Desk(Limits(**{**patient, **limits}), Keys(keys))
    taken = listen(Address(port=0))
    address = Address(port=taken.getsockname()[1], names=names)
    server = Server(configured(desk, address), desk)
    if shelf is not None:
        desk.open(shelf)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve(sockets=[taken])), daemon=True)
    thread.start()
    found = Running(desk, server, address)
    try:
        yield found
    finally:
        found.close()
        server.should_exit = True
        thread.join(30)
        desk.close(30)
        taken.close()
        assert not thread.is_alive()


def raw(connection: socket.socket) -> tuple[int, dict[str, str], bytes]:
    """The answer on a bare connection, read to the end of its body: status, headers, body."""
    data = b""
    while b"\r\n\r\n" not in data:
        data += _more(connection, data)
    head, _, body = data.partition(b"\r\n\r\n")
    first, *lines = head.decode("latin-1").split("\r\n")
    headers = {name.lower(): value.strip() for name, _, value in (line.partition(":") for line in lines)}
    while len(body) < int(headers.get("content-length", "0")):
        body += _more(connection, body)
    return int(first.split()[1]), headers, body


def _more(connection: socket.socket, before: bytes) -> bytes:
    part = connection.recv(65_536)
    if not part:
        raise ConnectionError(f"closed after {before!r}")
    return part


def request(method: str, path: str, body: object = None, host: str = "127.0.0.1", **headers: str) -> bytes:
    """A request as bytes."""
    data = b"" if body is None else json.dumps(body).encode()
    lines = [f"{method} {path} HTTP/1.1", f"Host: {host}"]
    if body is not None:
        lines += ["Content-Type: application/json", f"Content-Length: {len(data)}"]
    lines += [f"{name.replace('_', '-')}: {value}" for name, value in headers.items()]
    return "\r\n".join([*lines, "", ""]).encode() + data
