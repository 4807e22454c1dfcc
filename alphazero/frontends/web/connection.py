"""Limits on connections: how many there are, and how long a request may take.

uvicorn alone waits without limit for the rest of a request, and for a client to read a response.
"""

import asyncio
import functools
from collections import Counter
from collections.abc import Callable
from typing import Any, Final

import uvicorn
from starlette.types import ASGIApp, Receive, Scope, Send

from alphazero.frontends.web.security import client_key, client_with_most

MAX_CONNECTIONS: Final = 128
"""Maximum connections; a further one makes another close."""

REQUEST_SECONDS: Final = 15.0
"""Seconds in which a connection must complete a request and read part of the response."""


class Connection(asyncio.Protocol):
    """Passes a connection on to uvicorn's protocol, and aborts it when the client is too slow.

    When there are too many connections, a new one aborts another.
    """

    def __init__(
        self,
        create_protocol: Callable[..., asyncio.Protocol],
        connections: set["Connection"],
        *,
        app_state: dict[str, Any],
        **arguments: Any,
    ) -> None:
        """`connections` are the open ones; uvicorn gives the other arguments of its protocol."""
        # uvicorn puts `app_state` into the scope of each request, where `track_responses` reads it.
        app_state = {**app_state, "connection": self}
        self._protocol = create_protocol(app_state=app_state, **arguments)
        self._connections = connections
        self._running = 0
        """Responses in progress; more than one only while a pipelined request starts."""
        self._has_answered = self._has_unread = False
        """Whether a response ended since the last check, and whether data was unsent then."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        self._transport = transport
        self._client = client_key(transport.get_extra_info("peername"))
        self._loop = asyncio.get_running_loop()
        self._idle_since = self._loop.time()
        self._timeout = self._loop.call_later(REQUEST_SECONDS, self._check_progress)
        self._protocol.connection_made(transport)
        self._connections.add(self)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timeout.cancel()
        self._connections.discard(self)
        self._protocol.connection_lost(exc)

    def data_received(self, data: bytes) -> None:
        self._protocol.data_received(data)

    def eof_received(self) -> bool | None:
        return self._protocol.eof_received()

    def pause_writing(self) -> None:
        self._protocol.pause_writing()

    def resume_writing(self) -> None:
        self._protocol.resume_writing()

    def start_response(self) -> None:
        self._running += 1

    def end_response(self) -> None:
        self._running -= 1
        self._has_answered, self._idle_since = True, self._loop.time()

    def _make_room(self) -> None:
        """Abort a connection over the limit: of the client with the most, the longest idle one."""
        is_open = [each for each in self._connections if not each._transport.is_closing()]
        if len(is_open) > MAX_CONNECTIONS:
            client = client_with_most(Counter(each._client for each in is_open), self._client)
            candidates = [each for each in is_open if each._client == client]
            oldest = min(candidates, key=lambda each: (each._running > 0, each._idle_since))
            oldest._transport.abort()

    def _check_progress(self) -> None:
        """Abort the connection if it made no progress; else check again later."""
        unread = self._transport.get_write_buffer_size() > 0
        if (unread and self._has_unread) or not (self._running or unread or self._has_answered):
            self._transport.abort()
            return
        self._has_unread, self._has_answered = unread, False
        self._timeout = self._loop.call_later(REQUEST_SECONDS, self._check_progress)


def limit_connections(config: uvicorn.Config) -> None:
    """Apply the limits to a server's connections; its app must be one of `track_responses`."""
    config.load()
    protocol = functools.partial(Connection, config.http_protocol_class, set())
    config.http_protocol_class = protocol  # type: ignore[assignment]


def track_responses(app: ASGIApp) -> ASGIApp:
    """Return `app`, which also tells a connection when its responses start and end."""

    async def tracked(scope: Scope, receive: Receive, send: Send) -> None:
        connection: Connection = scope["state"]["connection"]
        connection.start_response()
        try:
            await app(scope, receive, send)
        finally:
            connection.end_response()

    return tracked
