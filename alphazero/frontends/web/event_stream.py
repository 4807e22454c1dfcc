"""Server-Sent Events of a session for one page (WHATWG, HTML Living Standard, section 9.2).

Each event holds the current state: a slow page skips states, and no events pile up.
"""

import asyncio
import contextlib
import json
from typing import Any, Final

from starlette.responses import Response
from starlette.types import Receive, Scope, Send

from alphazero.frontends.web.sessions.session import WebSession
from alphazero.frontends.web.views.view import search_json, view_of

HEARTBEAT: Final = 15.0
"""Seconds between heartbeats, which detect disconnected pages."""


class EventStream(Response):
    """Server-sent events that tell one page what has changed in its session."""

    def __init__(self, session: WebSession) -> None:
        super().__init__()
        self.session = session
        self._pending: set[str] = {"view", "runs"}
        self._has_events = asyncio.Event()
        self._ended = False

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the page disconnects or the session ends."""
        del scope
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
            }
        )
        watcher = asyncio.create_task(self._wait_for_disconnect(receive))
        self.session.watch(self._on_event)
        try:
            while not self._ended:
                await self._send(send, self._text())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._has_events.wait(), HEARTBEAT)
                self._has_events.clear()
            await self._send(send, "", last=True)
        finally:
            self.session.unwatch(self._on_event)
            watcher.cancel()

    def _on_event(self, event: str) -> None:
        self._pending.add(event)
        self._ended = self._ended or event == "end"
        self._has_events.set()

    def _text(self) -> str:
        """Return the pending events, or a comment as heartbeat; a view includes the search."""
        pending, self._pending = self._pending, set()
        events = ""
        if "view" in pending:
            events += _event("view", view_of(self.session))
        elif "search" in pending:
            events += _event("search", search_json(self.session))
        if "runs" in pending and (runs := self.session.host.runs()):
            events += _event("runs", runs)
        return events or ": still here\n\n"

    async def _send(self, send: Send, text: str, last: bool = False) -> None:
        await send({"type": "http.response.body", "body": text.encode(), "more_body": not last})

    async def _wait_for_disconnect(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._on_event("end")


def _event(name: str, content: Any) -> str:
    return f"event: {name}\ndata: {json.dumps(content)}\n\n"
