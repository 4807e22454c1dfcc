"""Server-Sent Events of a session for one page (WHATWG, HTML Living Standard, section 9.2).

Each event holds the current state: a slow page skips states, and no events pile up.
"""

import asyncio
import contextlib
import json
from typing import Final

from starlette.types import Receive, Send

from alphazero.frontends.web.session import WebSession
from alphazero.frontends.web.view import Json, thought_json, view_of

HEARTBEAT: Final = 15.0
"""Seconds between heartbeats, which detect disconnected pages."""


class Stream:
    """The event stream of one page."""

    def __init__(self, session: WebSession) -> None:
        self.session = session
        self._news: set[str] = {"view"}
        self._condition = asyncio.Event()
        self._ended = False

    async def run(self, receive: Receive, send: Send) -> None:
        """Send events until the page disconnects or the session ends."""
        await send(
            {
                "type": "http.response.start",
                "status": 200,
                "headers": [(b"content-type", b"text/event-stream; charset=utf-8")],
            }
        )
        watcher = asyncio.create_task(self._wait_for_leave(receive))
        self.session.watch(self._hear)
        try:
            while not self._ended:
                await self._send(send, self._text())
                with contextlib.suppress(TimeoutError):
                    await asyncio.wait_for(self._condition.wait(), HEARTBEAT)
                self._condition.clear()
            await self._send(send, "", last=True)
        finally:
            self.session.unwatch(self._hear)
            watcher.cancel()

    def _hear(self, news: str) -> None:
        self._news.add(news)
        self._ended = self._ended or news == "end"
        self._condition.set()

    def _text(self) -> str:
        """Return the pending events, or a comment as heartbeat."""
        news, self._news = self._news, set()
        told: list[tuple[str, Json]] = []
        if "view" in news:
            told.append(("view", view_of(self.session)))
        elif "thought" in news:
            session, here = self.session, self.session.game_tree.here
            thought = thought_json(session.game, here, here.thought, session.per_second)
            if thought is not None:
                told.append(("thought", thought))
        events = [f"event: {name}\ndata: {json.dumps(data)}\n\n" for name, data in told]
        return "".join(events) or ": still here\n\n"

    async def _send(self, send: Send, text: str, last: bool = False) -> None:
        body = {"type": "http.response.body", "body": text.encode(), "more_body": not last}
        await send(body)

    async def _wait_for_leave(self, receive: Receive) -> None:
        while (await receive())["type"] != "http.disconnect":
            pass
        self._hear("end")
