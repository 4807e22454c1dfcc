"""Limits on connections: how many there are, and how long a request may take.

uvicorn alone waits without limit for the rest of a request, and for a client to read a response.
"""

import asyncio
from typing import Final

from uvicorn.protocols.http.h11_impl import H11Protocol

MAX_CONNECTIONS: Final = 128
"""Maximum connections; a further one is closed."""

REQUEST_SECONDS: Final = 15.0
"""Seconds in which a connection must complete a request and read part of the response."""


class LimitedConnection(H11Protocol):
    """Aborts a connection over the limit, and one whose client is too slow."""

    _has_answered = _has_unread = False
    """Whether a response ended since the last check, and whether data was unsent then."""

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._timeout = self.loop.call_later(REQUEST_SECONDS, self._check_progress)
        if len(self.connections) > MAX_CONNECTIONS:
            transport.abort()

    def connection_lost(self, exc: Exception | None) -> None:
        self._timeout.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        self._has_answered = True
        super().on_response_complete()

    def _check_progress(self) -> None:
        """Abort the connection if it made no progress; else check again later."""
        is_answering = self.cycle is not None and not self.cycle.response_complete
        unread = self.transport.get_write_buffer_size() > 0
        if (unread and self._has_unread) or not (is_answering or unread or self._has_answered):
            self.transport.abort()
            return
        self._has_unread, self._has_answered = unread, False
        self._timeout = self.loop.call_later(REQUEST_SECONDS, self._check_progress)
