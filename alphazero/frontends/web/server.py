"""`alphazero serve`: the page and its requests over HTTP, on this machine unless told otherwise."""

import asyncio
import ipaddress
import logging
import socket
import webbrowser
from collections import Counter
from collections.abc import Awaitable, Callable
from importlib import resources
from importlib.metadata import version
from typing import Any, Final, cast

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route
from starlette.types import Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from alphazero.errors import AlphaZeroError, GameError, RunError
from alphazero.frontends.web.catalog import Catalog
from alphazero.frontends.web.commands import KNOWN, SLOW, Fields, prepare_command, read_seats
from alphazero.frontends.web.event_stream import Stream
from alphazero.frontends.web.run_records import SELFPLAY
from alphazero.frontends.web.security import (
    RefusedError,
    SecurityMiddleware,
    client_of,
    error_response,
    greediest,
    read_json,
    refusal_of,
)
from alphazero.frontends.web.session import Side, WebSession
from alphazero.frontends.web.session_manager import SessionManager
from alphazero.games.registry import name_of
from alphazero.utils.files import explain_os_error

CONNECTIONS: Final = 128
"""At most so many; for a further one, another is closed."""

BACKLOG: Final = 128
"""Connections that wait to be taken."""

STREAMS: Final = 8
"""Of one session."""

REQUEST_SECONDS: Final = 15.0
"""Time in which a connection must begin and end a request, and read some of what it is sent."""

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""What the page's files are, by their names' ends; others are not served."""

Handler = Callable[[Request], Awaitable[Response]]


def page_files() -> dict[str, bytes]:
    """Return the page's files by their paths below `static/`: all there are, read once."""
    found: dict[str, bytes] = {}
    folders = {"": resources.files("alphazero.frontends.web") / "static"}
    while folders:
        above, folder = folders.popitem()
        for each in folder.iterdir():
            if each.is_dir():
                folders[f"{above}{each.name}/"] = each
            elif each.name[each.name.rfind(".") :] in TYPES:
                found[above + each.name] = each.read_bytes()
    return found


class WebApp:
    """Answers requests about the sessions of a house."""

    def __init__(self, house: SessionManager) -> None:
        self.house = house
        self.pages = page_files()

    def app(self, host: str) -> SecurityMiddleware:
        """Return the whole, guarded; `host` is what the server listens on."""
        routes = [
            Route("/", _handle_errors(self.page)),
            Route("/static/{name:path}", _handle_errors(self.page)),
            Route("/api/setup", _handle_errors(self.setup)),
            Route("/api/sessions", _handle_errors(self.add), methods=["POST"]),
            Route("/api/sessions/{name}", _handle_errors(self.look)),
            Route("/api/sessions/{name}", _handle_errors(self.drop), methods=["DELETE"]),
            Route("/api/sessions/{name}/events", _handle_errors(self.events)),
            Route("/api/sessions/{name}/save", _handle_errors(self.save)),
            Route("/api/sessions/{name}/{word}", _handle_errors(self.act), methods=["POST"]),
            Route("/api/runs/{name}", _handle_errors(self.run)),
            Route("/api/runs/{name}/{iteration:int}", _handle_errors(self.iteration)),
        ]
        faults: dict[Any, Any] = {
            404: _error_handler(404, "there is nothing here"),
            405: _error_handler(405, "this is not asked so"),
            Exception: _error_handler(500, "the server made a mistake; see its terminal"),
        }
        return SecurityMiddleware(Starlette(routes=routes, exception_handlers=faults), host)

    async def page(self, request: Request) -> Response:
        """Send the page, or one of its files."""
        name = request.path_params.get("name", "index.html")
        if name not in self.pages:
            raise RefusedError(404, "there is nothing here")
        return Response(self.pages[name], media_type=TYPES[name[name.rfind(".") :]])

    async def setup(self, _: Request) -> Response:
        """Tell what there is to choose from."""
        return JSONResponse({"version": version("alphazero"), **self.house.catalogue.json()})

    async def add(self, request: Request) -> Response:
        """Begin a session."""
        fields = Fields(await read_json(request))
        game = self.house.game(fields.text("game"))
        seats = [Side(), Side()]
        if fields.has("seats"):
            seats = read_seats(self.house, game, fields.content["seats"])
        return JSONResponse(self.house.add(game, seats, client_of(request.client)).view())

    async def look(self, request: Request) -> Response:
        """Tell how a session stands."""
        return JSONResponse(self._session(request).view())

    async def drop(self, request: Request) -> Response:
        """End a session."""
        session = self._session(request)
        self.house.close_session(session.name)
        return JSONResponse({})

    async def act(self, request: Request) -> Response:
        """Do what a page asks of its session."""
        session, word = self._session(request), request.path_params["word"]
        fields = Fields(await read_json(request))
        if word not in KNOWN:
            raise RefusedError(404, "there is no such request")
        if word in SLOW:
            done = await asyncio.to_thread(prepare_command, self.house, session, word, fields)
        else:
            done = prepare_command(self.house, session, word, fields)
        if session.name not in self.house.sessions:
            raise RefusedError(404, "this session has ended")
        done()
        return JSONResponse(session.view())

    async def save(self, request: Request) -> Response:
        """Send the game as a file."""
        session = self._session(request)
        kind = request.query_params.get("format", "json")
        if kind not in ("sgf", "json"):
            raise GameError("format is sgf or json")
        text = session.saved(kind == "sgf")
        name = f"{name_of(session.game)}.{kind}"
        return Response(
            text.encode(),
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
            media_type="application/x-go-sgf" if kind == "sgf" else "application/json",
        )

    async def events(self, request: Request) -> Response:
        """Stream what happens in a session."""
        session = self._session(request)
        if len(session.watchers) >= STREAMS:
            raise RefusedError(429, f"a session has at most {STREAMS} streams; close a page")
        return _Events(Stream(session))

    async def run(self, request: Request) -> Response:
        """Tell what a run has recorded."""
        found = await asyncio.to_thread(self.house.chapters, request.path_params["name"])
        return JSONResponse(found)

    async def iteration(self, request: Request) -> Response:
        """List the games of an iteration."""
        found = await asyncio.to_thread(
            self.house.list_games,
            request.path_params["name"],
            request.path_params["iteration"],
            request.query_params.get("kind", SELFPLAY),
        )
        return JSONResponse(found)

    def _session(self, request: Request) -> WebSession:
        session = self.house.sessions.get(request.path_params["name"])
        if session is None:
            raise RefusedError(404, "this session has ended; begin a new one")
        self.house.touch(session)
        return session


class _Events(Response):
    """A stream as an answer."""

    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await self.stream.run(receive, send)


def _handle_errors(handler: Handler) -> Handler:
    """Return a handler that answers a person's mistake in one line."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except AlphaZeroError as error:
            return refusal_of(error)

    return handle


def _error_handler(status: int, text: str) -> Callable[[Request, Exception], Response]:
    """Return what answers requests that no handler has answered."""

    def answer(_: Request, __: Exception) -> Response:
        return error_response(status, text)

    return answer


class Connection(H11Protocol):
    """A connection that is closed when its other end is too slow, or when there are too many.

    uvicorn itself would wait for the rest of a request, or for a reader, without end.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request."""
        super().connection_made(transport)
        self._answered = self._unread = False
        """Whether an answer ended since the last look, and whether one was not read then."""
        self._client = client_of(self.client)
        self._waits_since = self.loop.time()
        self._late = self.loop.call_later(REQUEST_SECONDS, self._check)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Wait no longer."""
        self._late.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Note that the connection is of use."""
        self._answered, self._waits_since = True, self.loop.time()
        super().on_response_complete()

    @property
    def _is_busy(self) -> bool:
        """Whether an answer is under way."""
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        """Close a connection if there are too many: of the client that has most.

        First go those that wait for a request, the longest wait first.
        """
        known = [
            each
            for each in cast("set[Connection]", self.connections)
            if not each.transport.is_closing()
        ]
        if len(known) > CONNECTIONS:
            client = greediest(Counter(each._client for each in known), self._client)
            crowd = [each for each in known if each._client == client]
            min(crowd, key=lambda each: (each._is_busy, each._waits_since)).transport.abort()

    def _check(self) -> None:
        """Close the connection unless an answer is under way, and read; look again later."""
        unread = self.transport.get_write_buffer_size() > 0
        if (unread and self._unread) or not (self._is_busy or unread or self._answered):
            self.transport.abort()
            return
        self._unread, self._answered = unread, False
        self._late = self.loop.call_later(REQUEST_SECONDS, self._check)


class Server(uvicorn.Server):
    """Ends all sessions, and so open streams, before it waits for connections to end."""

    def __init__(self, config: uvicorn.Config, site: WebApp, opened: Callable[[], object]) -> None:
        super().__init__(config)
        self.site, self.opened = site, opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Begin to answer."""
        self.site.house.open()
        await super().startup(sockets)
        self.opened()

    async def on_tick(self, counter: int) -> bool:
        """Drop sessions that nobody looks at, once a minute."""
        if counter % 600 == 0:
            self.site.house.close_idle()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """End at once, whoever still listens."""
        self.site.house.close()
        await super().shutdown(sockets)


def serve(
    catalogue: Catalog,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    browse: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Serve until Ctrl-C; port 0 is any free one.

    Raises:
        RunError: when the address cannot be had.
    """
    listener = listen(host, port)
    address = address_of(listener, host)
    site = WebApp(SessionManager(catalogue))

    def opened() -> None:
        named = [offer.name for offer in catalogue.offers.values()]
        say(f"players: {', '.join(named)}")
        if catalogue.archives:
            say(f"runs: {', '.join(catalogue.archives)}")
        say(f"serving on {address} (Ctrl-C ends it)")
        if not is_loopback(listener):
            say("everybody who can reach this machine can open it")
        if browse:
            webbrowser.open(address)

    make_server(site, host, opened).run([listener])


def make_server(site: WebApp, host: str, opened: Callable[[], object] = bool) -> Server:
    """Return a server of a site, which listens nowhere yet."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        site.app(host),
        http=Connection,
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )
    return Server(config, site, opened)


def listen(host: str, port: int) -> socket.socket:
    """Return a socket that listens there.

    Raises:
        RunError: in one line, when the port is taken or the host is none of this machine's.
    """
    try:
        family, kind, protocol, _, address = socket.getaddrinfo(
            host, port, type=socket.SOCK_STREAM
        )[0]
        listener = socket.socket(family, kind, protocol)
        try:
            listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
            listener.bind(address)
            listener.listen(BACKLOG)
        except BaseException:
            listener.close()
            raise
    except (OSError, UnicodeError, OverflowError) as error:
        why = explain_os_error(error) if isinstance(error, OSError) else "this is no address"
        raise RunError(
            f"cannot listen on {ascii(host)[1:-1]}, port {port}: {why.partition(';')[0]}; choose "
            "another --port (0: any that is free), or --host"
        ) from error
    return listener


def is_loopback(listener: socket.socket) -> bool:
    """Whether only this machine can reach what listens there."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def address_of(listener: socket.socket, host: str) -> str:
    """Return where the page is."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"
