"""A server of the page on a free port, and a client that talks to it as a browser would."""

import asyncio
import http.client
import json
import socket
import threading
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from types import TracebackType
from typing import Any, Self

from alphazero.frontends.web.catalog import Catalog
from alphazero.frontends.web.run_records import Archive
from alphazero.frontends.web.server import Server, WebApp, listen, make_server
from alphazero.frontends.web.session_manager import SESSIONS, SessionManager
from alphazero.players.registry import PlayerSpec

Json = dict[str, Any]

SECONDS = 120.0
"""After which a test no longer waits."""


class Served:
    """A running server."""

    def __init__(self, manager: SessionManager, server: Server, port: int) -> None:
        self.manager, self.server, self.port = manager, server, port

    def ask(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        client: str = "127.0.0.1",
    ) -> tuple[int, Any]:
        """Send a request from the address `client`; return status and JSON of the answer."""
        status, text, kind = self.raw(method, path, body, headers, client)
        return status, json.loads(text) if kind == "application/json" else text

    def raw(
        self,
        method: str,
        path: str,
        body: Any = None,
        headers: dict[str, str] | None = None,
        client: str = "127.0.0.1",
    ) -> tuple[int, bytes, str]:
        """Send a request; return status, bytes and type of the answer."""
        connection = http.client.HTTPConnection(
            "127.0.0.1", self.port, timeout=SECONDS, source_address=(client, 0)
        )
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        told = {"Content-Type": "application/json"} if data is not None else {}
        connection.request(method, path, data, told | (headers or {}))
        answer = connection.getresponse()
        text = answer.read()
        connection.close()
        return answer.status, text, (answer.getheader("Content-Type") or "").partition(";")[0]

    def begin(self, game: str, *seats: Json, client: str = "127.0.0.1") -> "Visitor":
        """Begin a session and look at it."""
        body = {"game": game, **({"seats": list(seats)} if seats else {})}
        status, view = self.ask("POST", "/api/sessions", body, client=client)
        assert status == 200, view
        return Visitor(self, view, client)


class Visitor:
    """A page: a session and its stream."""

    def __init__(self, served: Served, view: Json, client: str = "127.0.0.1") -> None:
        self.served, self.id, self.client = served, view["id"], client
        self.connection = http.client.HTTPConnection(
            "127.0.0.1", served.port, timeout=SECONDS, source_address=(client, 0)
        )
        self.connection.request("GET", f"/api/sessions/{self.id}/events")
        self.answer = self.connection.getresponse()
        assert self.answer.status == 200
        self.view = view

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        at: TracebackType | None,
    ) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the stream."""
        self.answer.close()
        self.connection.close()

    def do(self, word: str, **body: Any) -> Json:
        """Do something, which must be allowed; return the view."""
        status, view = self.try_to(word, **body)
        assert status == 200, view
        self.view = view
        return view

    def try_to(self, word: str, **body: Any) -> tuple[int, Any]:
        """Do something that may be refused."""
        path = f"/api/sessions/{self.id}/{word}"
        return self.served.ask("POST", path, body, client=self.client)

    def events(self) -> Iterator[tuple[str, Json]]:
        """Yield what the stream tells."""
        name = ""
        while line := self.answer.readline().decode():
            word, _, rest = line.rstrip("\n").partition(": ")
            if word == "event":
                name = rest
            elif word == "data":
                content = json.loads(rest)
                if name == "view":
                    self.view = content
                yield name, content

    def wait(self, wanted: Any) -> Json:
        """Return the first view of the stream for which `wanted` holds."""
        for name, content in self.events():
            if name == "view" and wanted(content):
                return content
        raise AssertionError("the stream has ended")


@contextmanager
def serving(
    specs: Sequence[PlayerSpec] = (),
    archives: Sequence[Archive] = (),
    *,
    sessions: int = SESSIONS,
    send_buffer: int = 0,
) -> Iterator[Served]:
    """Run a server in a thread; connections hold `send_buffer` bytes, 0 for as many as usual."""
    manager = SessionManager(Catalog(specs, archives), pace=0.0, sessions=sessions)
    listener = listen("127.0.0.1", 0)
    if send_buffer:
        listener.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, send_buffer)
    port = listener.getsockname()[1]
    started = threading.Event()
    server = make_server(WebApp(manager), "127.0.0.1", started.set)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    assert started.wait(SECONDS)
    try:
        yield Served(manager, server, port)
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()
