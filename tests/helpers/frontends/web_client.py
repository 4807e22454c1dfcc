"""A server of the page on a free port, and a client that talks to it as a browser would."""

import asyncio
import dataclasses
import http.client
import json
import threading
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, Self

from alphazero.frontends.web.catalog import Catalog
from alphazero.frontends.web.server import Server, listen, make_server
from alphazero.frontends.web.session_manager import MAX_SESSIONS, SessionManager
from alphazero.games.game import Game
from alphazero.mcts.evaluator import Evaluator
from alphazero.players.specs import CheckpointSpec, PlayerSpec
from helpers.paths import CHECKPOINTS

CHECKPOINT = CHECKPOINTS / "tic_tac_toe.safetensors"
PERSON = {"player": "person"}
RANDOM = {"player": "random"}

Json = dict[str, Any]

SECONDS = 120.0
"""Limit of each wait in a test."""


class Served:
    """A running server."""

    def __init__(self, manager: SessionManager, server: Server, port: int) -> None:
        self.manager, self.server, self.port = manager, server, port

    def ask(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> tuple[int, Any]:
        """Send a request; return the status and JSON of the response."""
        with self.open(method, path, body, headers) as answer:
            is_json = answer.getheader("Content-Type") == "application/json"
            return answer.status, json.loads(answer.read()) if is_json else answer.read()

    def open(
        self, method: str, path: str, body: Any = None, headers: dict[str, str] | None = None
    ) -> http.client.HTTPResponse:
        """Send a request; return the response, which closes the connection at its end."""
        connection = http.client.HTTPConnection("127.0.0.1", self.port, timeout=SECONDS)
        data = body if body is None or isinstance(body, bytes) else json.dumps(body).encode()
        own = {"Connection": "close", "Content-Type": "application/json"}
        connection.request(method, path, data, own | (headers or {}))
        return connection.getresponse()

    def close_session(self, session_id: str) -> None:
        """End a session, on the server's thread, as when it was idle for long."""
        loop = self.server.servers[0].get_loop()
        loop.call_soon_threadsafe(self.manager.close_session, session_id)

    def create(self, game: str, *sides: Json) -> Json:
        """Create a session, by default of two people; return its view."""
        body = {"game": game, "sides": sides or (PERSON, PERSON)}
        status, view = self.ask("POST", "/api/sessions", body)
        assert status == 200, view
        return dict(view)

    def begin(self, game: str, *sides: Json) -> "Visitor":
        """Create a session and open its event stream."""
        return Visitor(self, self.create(game, *sides))


class Visitor:
    """A client of a session, with its event stream."""

    def __init__(self, served: Served, view: Json) -> None:
        self.served, self.id = served, view["id"]
        self.answer = served.open("GET", f"/api/sessions/{self.id}/events")
        assert self.answer.status == 200
        self.view = view

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.leave()

    def leave(self) -> None:
        """Close the stream."""
        self.answer.close()

    def do(self, command: str, **body: Any) -> Json:
        """Run a command, which must succeed; return the view."""
        status, view = self.try_to(command, **body)
        assert status == 200, view
        self.view = view
        return view

    def try_to(self, command: str, **body: Any) -> tuple[int, Any]:
        """Run a command that may be refused; return the status and JSON."""
        return self.served.ask("POST", f"/api/sessions/{self.id}/{command}", body)

    def saved(self, kind: str) -> str:
        """Return the game as a file."""
        status, data = self.served.ask("GET", f"/api/sessions/{self.id}/save?format={kind}")
        assert status == 200
        return str(data, "utf-8")

    def events(self) -> Iterator[tuple[str, Json]]:
        """Yield the events of the stream."""
        name = ""
        while line := self.answer.readline().decode():
            field, _, rest = line.rstrip("\n").partition(": ")
            if field == "event":
                name = rest
            elif field == "data":
                content = json.loads(rest)
                if name == "view":
                    self.view = content
                yield name, content

    def wait(self, condition: Callable[[Json], Any], *names: str) -> Json:
        """Return the first event of the stream, by default a view, that meets a condition."""
        for name, content in self.events():
            if name in (names or ("view",)) and condition(content):
                return content
        raise AssertionError("the stream has ended")


@contextmanager
def serving(
    specs: Sequence[PlayerSpec] = (), *, sessions: int = MAX_SESSIONS, token: str = ""
) -> Iterator[Served]:
    """Run a server in a thread."""
    manager = SessionManager(Catalog(specs), min_move_seconds=0.0, max_sessions=sessions)
    listener = listen("127.0.0.1", 0)
    port = listener.getsockname()[1]
    server = make_server(manager, "127.0.0.1", token)
    thread = threading.Thread(target=lambda: asyncio.run(server.serve([listener])))
    thread.start()
    try:
        yield Served(manager, server, port)
    finally:
        server.should_exit = True
        thread.join(SECONDS)
        assert not thread.is_alive()


def player_with(evaluator: Evaluator, game: Game | None = None, **search: str | bool) -> PlayerSpec:
    """Return the shipped player of tic-tac-toe, or of another game, with another network.

    `search` changes the settings of its search.
    """
    spec = CheckpointSpec(str(CHECKPOINT))
    saved = dataclasses.replace(
        spec.saved,
        evaluator=evaluator,
        game=game or spec.saved.game,
        settings=dataclasses.replace(spec.saved.settings, **search),
    )
    return dataclasses.replace(spec, loaded=saved)
