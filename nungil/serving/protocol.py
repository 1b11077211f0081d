"""Protocol: uvicorn's HTTP with timeouts: drops slow headers, slow readers and excess clients."""

import asyncio
import json
from typing import Any

from uvicorn.protocols.http.h11_impl import H11Protocol

from nungil.serving.refusal import RefusedError

FULL = (
    b"HTTP/1.1 503 Service Unavailable\r\nretry-after: 1\r\nconnection: close\r\ncontent-type: application/json\r\n"
    b"content-length: %d\r\n\r\n%s"
)
CROWDED = RefusedError(503, "too many clients are connected; come again later", code="crowded")
FULL_BODY = json.dumps(CROWDED.body()).encode()


def protocol(patience: float, most: int) -> type[H11Protocol]:
    """A protocol class with this timeout and this limit of clients."""

    class Patient(H11Protocol):
        """One connection."""

        _headers: asyncio.TimerHandle | None = None
        _reading: asyncio.TimerHandle | None = None
        _turned_away = False

        def connection_made(self, transport: Any) -> None:
            """A client connected."""
            if len(self.connections) >= most:
                self._turned_away, self.transport = True, transport
                transport.write(FULL % (len(FULL_BODY), FULL_BODY))
                transport.close()
                return
            super().connection_made(transport)
            self._wait_for_headers()

        def data_received(self, data: bytes) -> None:
            """Bytes arrived; the headers of a request must be complete in time."""
            if self._turned_away:
                return
            super().data_received(data)
            if self.cycle is not None and not self.cycle.response_complete:
                self._headers = stopped(self._headers)
            elif self._headers is None and not self.transport.is_closing():
                self._wait_for_headers()

        def connection_lost(self, exc: Exception | None) -> None:
            """The client disconnected, or was dropped."""
            self._headers, self._reading = stopped(self._headers), stopped(self._reading)
            if not self._turned_away:
                super().connection_lost(exc)

        def pause_writing(self) -> None:
            """The client does not read the response."""
            self._reading = self._reading or self.loop.call_later(patience, self.transport.abort)
            super().pause_writing()

        def resume_writing(self) -> None:
            """The client reads again."""
            self._reading = stopped(self._reading)
            super().resume_writing()

        def timeout_keep_alive_handler(self) -> None:
            """Nothing arrived for a while; an unread response is not waited for."""
            if self.transport.get_write_buffer_size():
                self.transport.abort()
            else:
                super().timeout_keep_alive_handler()

        def _wait_for_headers(self) -> None:
            self._headers = self.loop.call_later(patience, self.transport.abort)

    return Patient


def stopped(timer: asyncio.TimerHandle | None) -> asyncio.TimerHandle | None:
    """Cancel a timer."""
    if timer is not None:
        timer.cancel()
    return None
