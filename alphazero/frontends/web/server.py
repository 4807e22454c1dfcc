"""`alphazero serve`: the page and its API over HTTP, on this machine by default."""

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
from alphazero.frontends.web.view import view_of
from alphazero.games.registry import name_of
from alphazero.utils.files import explain_os_error

CONNECTIONS: Final = 128
"""Maximum connections; a further one makes another close."""

BACKLOG: Final = 128
"""Connections that wait to be accepted."""

STREAMS: Final = 8
"""Maximum event streams of a session."""

REQUEST_SECONDS: Final = 15.0
"""Seconds in which a connection must complete a request and read part of the response."""

TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Media types of the page's files by suffix; other files are not served."""

Handler = Callable[[Request], Awaitable[Response]]


def page_files() -> dict[str, bytes]:
    """Return all files of the page by path below `static/`, read once."""
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
    """The HTTP routes for the sessions of a session manager."""

    def __init__(self, manager: SessionManager) -> None:
        self.manager = manager
        self.pages = page_files()

    def app(self, host: str) -> SecurityMiddleware:
        """Return the application with its security checks; `host` is the listening address."""
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
        """Send the page or one of its files."""
        name = request.path_params.get("name", "index.html")
        if name not in self.pages:
            raise RefusedError(404, "there is nothing here")
        return Response(self.pages[name], media_type=TYPES[name[name.rfind(".") :]])

    async def setup(self, _: Request) -> Response:
        """Send the catalog."""
        return JSONResponse({"version": version("alphazero"), **self.manager.catalogue.json()})

    async def add(self, request: Request) -> Response:
        """Create a session."""
        fields = Fields(await read_json(request))
        game = self.manager.game(fields.text("game"))
        seats = [Side(), Side()]
        if fields.has("seats"):
            seats = read_seats(self.manager, game, fields.content["seats"])
        session = self.manager.add(game, seats, client_of(request.client))
        return JSONResponse(view_of(session))

    async def look(self, request: Request) -> Response:
        """Send a session's view."""
        return JSONResponse(view_of(self._session(request)))

    async def drop(self, request: Request) -> Response:
        """Close a session."""
        session = self._session(request)
        self.manager.close_session(session.name)
        return JSONResponse({})

    async def act(self, request: Request) -> Response:
        """Run a command of a session."""
        session, word = self._session(request), request.path_params["word"]
        fields = Fields(await read_json(request))
        if word not in KNOWN:
            raise RefusedError(404, "there is no such request")
        if word in SLOW:
            done = await asyncio.to_thread(prepare_command, self.manager, session, word, fields)
        else:
            done = prepare_command(self.manager, session, word, fields)
        if session.name not in self.manager.sessions:
            raise RefusedError(404, "this session has ended")
        done()
        return JSONResponse(view_of(session))

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
        """Stream the events of a session."""
        session = self._session(request)
        if len(session.watchers) >= STREAMS:
            raise RefusedError(429, f"a session has at most {STREAMS} streams; close a page")
        return _Events(Stream(session))

    async def run(self, request: Request) -> Response:
        """List the iterations of a run."""
        found = await asyncio.to_thread(self.manager.chapters, request.path_params["name"])
        return JSONResponse(found)

    async def iteration(self, request: Request) -> Response:
        """List the games of an iteration."""
        found = await asyncio.to_thread(
            self.manager.list_games,
            request.path_params["name"],
            request.path_params["iteration"],
            request.query_params.get("kind", SELFPLAY),
        )
        return JSONResponse(found)

    def _session(self, request: Request) -> WebSession:
        session = self.manager.sessions.get(request.path_params["name"])
        if session is None:
            raise RefusedError(404, "this session has ended; begin a new one")
        self.manager.touch(session)
        return session


class _Events(Response):
    def __init__(self, stream: Stream) -> None:
        super().__init__()
        self.stream = stream

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        del scope
        await self.stream.run(receive, send)


def _handle_errors(handler: Handler) -> Handler:
    """Return a handler that converts an `AlphaZeroError` into an error response."""

    async def handle(request: Request) -> Response:
        try:
            return await handler(request)
        except AlphaZeroError as error:
            return refusal_of(error)

    return handle


def _error_handler(status: int, text: str) -> Callable[[Request, Exception], Response]:
    """Return a handler for requests that no route has answered."""

    def answer(_: Request, __: Exception) -> Response:
        return error_response(status, text)

    return answer


class Connection(H11Protocol):
    """A connection that is closed when the client is too slow, or when there are too many.

    uvicorn alone would wait without limit for the rest of a request, or for a client to read.
    """

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Start the timeout of a request."""
        super().connection_made(transport)
        self._answered = self._unread = False
        """Whether a response ended since the last check, and whether data was unsent then."""
        self._client = client_of(self.client)
        self._waits_since = self.loop.time()
        self._late = self.loop.call_later(REQUEST_SECONDS, self._check)
        self._make_room()

    def connection_lost(self, exc: Exception | None) -> None:
        """Cancel the timeout."""
        self._late.cancel()
        super().connection_lost(exc)

    def on_response_complete(self) -> None:
        """Record the end of a response."""
        self._answered, self._waits_since = True, self.loop.time()
        super().on_response_complete()

    @property
    def _is_busy(self) -> bool:
        """Whether a response is in progress."""
        return self.cycle is not None and not self.cycle.response_complete

    def _make_room(self) -> None:
        """Close a connection over the limit: of the client with the most, the longest idle one."""
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
        """Close the connection if it made no progress; else check again later."""
        unread = self.transport.get_write_buffer_size() > 0
        if (unread and self._unread) or not (self._is_busy or unread or self._answered):
            self.transport.abort()
            return
        self._unread, self._answered = unread, False
        self._late = self.loop.call_later(REQUEST_SECONDS, self._check)


class Server(uvicorn.Server):
    """Ends all sessions, and so open streams, before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, site: WebApp, opened: Callable[[], object]) -> None:
        super().__init__(config)
        self.site, self.opened = site, opened

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """Open the session manager and start serving."""
        self.site.manager.open()
        await super().startup(sockets)
        self.opened()

    async def on_tick(self, counter: int) -> bool:
        """Close idle sessions, once a minute."""
        if counter % 600 == 0:
            self.site.manager.close_idle()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        """Close all sessions, then shut down."""
        self.site.manager.close()
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
        RunError: when the address is not available.
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
    """Return a server that does not listen yet."""
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
    """Return a listening socket.

    Raises:
        RunError: in one line, when the port is taken or the host is not on this machine.
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
    """Whether only this machine can reach the socket."""
    return ipaddress.ip_address(listener.getsockname()[0]).is_loopback


def address_of(listener: socket.socket, host: str) -> str:
    """Return the URL of the page."""
    port = listener.getsockname()[1]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    return f"http://{name}:{port}/"
