"""Guard: checks every request before it is parsed: host, origin, key, size, time.

Only the status of a request is logged, and its path if it is one of ours.
"""

import asyncio
import ipaddress
import time
from collections.abc import Collection
from typing import Any
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.responses import JSONResponse
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from nungil.serving.desk import BEGUN, Desk, GoneError
from nungil.serving.keys import bearer
from nungil.serving.refusal import BUG, RefusedError
from nungil.serving.worker import log, tell_of

OPEN = ("/livez", "/readyz", "/languages", "/frontend/settings")  # paths that need no key
OWN_KEY = ("/translate", "/detect")  # paths that check keys themselves, in the body
LINGER, MORE = 2.0, 16  # seconds, and multiples of the limit, for which a body that is too large is still read
POLICY = (
    "default-src 'self'; base-uri 'none'; object-src 'none'; form-action 'self'; frame-ancestors 'none'; "
    "img-src 'self' data: blob:"
)
HEADERS = {
    "Content-Security-Policy": POLICY,
    "X-Content-Type-Options": "nosniff",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}


class TooLargeError(RefusedError):
    """A request is too large."""


class Guard:
    """An ASGI application around another one."""

    def __init__(self, app: ASGIApp, desk: Desk, names: Collection[str] = (), pages: Collection[str] = ()) -> None:
        self.app, self.desk = app, desk
        self.names = frozenset(name.lower() for name in names)
        self.pages = frozenset(pages)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer one request, whatever happens."""
        if scope["type"] != "http":
            return
        begun, reply = time.monotonic(), Reply(send)
        try:
            self._check(scope, Headers(scope=scope))
            body = await self._body(Headers(scope=scope), receive)
            if scope["method"] == "POST":
                self.desk.refuse_if_full()  # before anything is parsed: this must stay cheap
            scope[BEGUN] = begun
            await self.app(scope, _replayed(body, receive), reply.send)
        except TooLargeError as error:
            await self._too_large(error, receive, reply)
        except RefusedError as error:
            await self._refuse(error, scope, receive, reply)
        except GoneError:
            reply.status = 499  # nginx's status for a closed connection; it is not sent
        except Exception as error:  # the client only learns that there is a bug
            log.error("a request failed: %s", tell_of(error))
            await self._refuse(RefusedError(500, BUG), scope, receive, reply)
        finally:
            self.desk.metrics.answered(scope["path"], reply.status, time.monotonic() - begun)

    def _check(self, scope: Scope, headers: Headers) -> None:
        host = headers.get("host")
        if host is None or not self._is_ours(host):
            raise RefusedError(421, "Host: this server does not go by that name; see --name of nungil serve")
        origin = headers.get("origin")
        if origin is not None and _site(origin) != host.lower():
            raise RefusedError(403, "Origin: pages of other sites may not ask here")
        path = scope["path"]
        if path in OPEN or path in OWN_KEY or path in self.pages:
            return
        if not self.desk.keys.allow(bearer(headers.get("authorization"))):
            challenge = {"WWW-Authenticate": "Bearer"}
            raise RefusedError(401, "a key is needed: Authorization: Bearer KEY", headers=challenge)

    def _is_ours(self, host: str) -> bool:
        """Whether a host is an IP address, localhost or a given name, which prevents DNS rebinding."""
        try:
            name = urlsplit(f"//{host}").hostname or ""
        except ValueError:
            return False
        if name == "localhost" or name in self.names:
            return True
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return False
        return True

    async def _body(self, headers: Headers, receive: Receive) -> bytes:
        """The body, if it is not too large and arrives in time."""
        most = self.desk.limits.body
        told = headers.get("content-length", "")
        if told.isascii() and told.isdigit() and int(told[:19]) > most:
            raise _too_large(most)
        parts, size, more = [], 0, True
        try:
            async with asyncio.timeout(self.desk.limits.sending):
                while more:
                    message = await receive()
                    if message["type"] == "http.disconnect":
                        raise GoneError
                    parts.append(message.get("body", b""))
                    size += len(parts[-1])
                    if size > most:
                        raise _too_large(most)
                    more = message.get("more_body", False)
        except TimeoutError:
            seconds = self.desk.limits.sending
            message_ = f"the request was not sent whole within {seconds:g} seconds"
            raise RefusedError(408, message_, headers={"Connection": "close"}, facts={"seconds": seconds}) from None
        return b"".join(parts)

    async def _refuse(self, error: RefusedError, scope: Scope, receive: Receive, reply: "Reply") -> None:
        if reply.status == 0:
            await JSONResponse(error.body(), error.status, error.headers)(scope, receive, reply.send)

    async def _too_large(self, error: RefusedError, receive: Receive, reply: "Reply") -> None:
        """Answer, and keep reading for a moment: a client that is cut off while sending would not see the answer."""
        response = JSONResponse(error.body(), error.status, {**error.headers, "Connection": "close"})
        await reply.send({"type": "http.response.start", "status": error.status, "headers": response.raw_headers})
        await reply.send({"type": "http.response.body", "body": response.body, "more_body": True})
        left = MORE * self.desk.limits.body
        try:
            async with asyncio.timeout(LINGER):
                while left > 0:
                    message = await receive()
                    left -= len(message.get("body", b""))
                    if message["type"] == "http.disconnect" or not message.get("more_body", False):
                        break
        except TimeoutError:
            pass
        await reply.send({"type": "http.response.body", "body": b"", "more_body": False})


class Reply:
    """Adds common headers to a response, and records its status."""

    def __init__(self, send: Send) -> None:
        self._send = send
        self.status = 0

    async def send(self, message: Message) -> None:
        """Send a message on."""
        if message["type"] == "http.response.start":
            self.status = message["status"]
            given = {name.lower() for name, _ in message.get("headers", [])}
            more = [(name.lower().encode(), value.encode()) for name, value in HEADERS.items()]
            own = [(name, value) for name, value in more if name not in given]
            message = {**message, "headers": [*message.get("headers", []), *own]}
        await self._send(message)


def _site(origin: str) -> str:
    """Host and port of an Origin; empty if invalid."""
    try:
        return urlsplit(origin).netloc.lower()
    except ValueError:
        return ""


def _too_large(most: int) -> TooLargeError:
    return TooLargeError(413, f"the request is larger than the {most:,} bytes that are taken", facts={"most": most})


def _replayed(body: bytes, receive: Receive) -> Receive:
    """A receive function that gives the whole body, and then later messages."""
    said = False

    async def again() -> dict[str, Any]:
        nonlocal said
        if said:
            return dict(await receive())
        said = True
        return {"type": "http.request", "body": body, "more_body": False}

    return again
