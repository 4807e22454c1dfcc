"""`alphazero serve`: the page and its API over HTTP, on this machine by default."""

import asyncio
import ipaddress
import logging
import socket
import webbrowser
from collections.abc import Awaitable, Callable
from importlib.metadata import version
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import JSONResponse, Response
from starlette.routing import Route

from alphazero.errors import AlphaZeroError, GameError, RunError
from alphazero.frontends.web.catalog.catalog import Catalog
from alphazero.frontends.web.connection import limit_connections, track_responses
from alphazero.frontends.web.event_stream import EventStream
from alphazero.frontends.web.security import (
    RefusedError,
    SecurityMiddleware,
    client_key,
    error_response,
    read_json,
)
from alphazero.frontends.web.sessions.commands import (
    COMMANDS,
    SLOW_COMMANDS,
    RequestFields,
    read_sides,
)
from alphazero.frontends.web.sessions.session import Side, WebSession
from alphazero.frontends.web.sessions.session_manager import SessionManager
from alphazero.frontends.web.views.board_view import picture_of
from alphazero.frontends.web.views.view import view_of
from alphazero.games.registry import name_of
from alphazero.records.archive import SELFPLAY
from alphazero.utils.files import explain_os_error
from alphazero.utils.progress import do_nothing

BACKLOG: Final = 128
"""Connections that wait to be accepted."""

MAX_STREAMS: Final = 8
"""Maximum event streams of a session."""

NOT_FOUND: Final = "not found"

MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Media types of the page's files by suffix; other files are not served."""

SAVED_TYPES: Final = {
    "sgf": "application/x-go-sgf",
    "json": "application/json",
    "png": "image/png",
    "svg": "image/svg+xml",
}
"""Media types of saved games and pictures by format."""

Handler = Callable[[Request], Awaitable[Response]]


def page_files() -> dict[str, bytes]:
    """Return all files of the page by path below `static/`, read once."""
    folder = Path(__file__).parent / "static"
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in folder.rglob("*")
        if path.suffix in MEDIA_TYPES
    }


class WebApp:
    """The HTTP routes for the sessions of a session manager."""

    def __init__(self, manager: SessionManager) -> None:
        self.manager = manager
        self.files = page_files()

    def app(self, host: str) -> SecurityMiddleware:
        """Return the application with its security checks; `host` is the listening address."""
        session = "/api/sessions/{id}"
        handlers: list[tuple[str, str, Handler]] = [
            ("GET", "/", self.get_file),
            ("GET", "/static/{name:path}", self.get_file),
            ("GET", "/api/setup", self.get_setup),
            ("POST", "/api/sessions", self.create_session),
            ("GET", f"{session}/events", self.stream_events),
            ("GET", f"{session}/save", self.save_game),
            ("GET", f"{session}/openings", self.get_openings),
            ("POST", f"{session}/{{command}}", self.run_command),
            ("GET", "/api/runs/{name}", self.list_iterations),
            ("GET", "/api/runs/{name}/charts", self.get_charts),
            ("GET", "/api/runs/{name}/{iteration:int}", self.list_games),
        ]
        routes = [Route(path, handler, methods=[method]) for method, path, handler in handlers]
        exception_handlers: dict[Any, Any] = {
            404: _error_handler(404, NOT_FOUND),
            405: _error_handler(405, "method not allowed"),
            AlphaZeroError: _refuse,
            Exception: _error_handler(500, "internal error; see the server's terminal"),
        }
        starlette = Starlette(routes=routes, exception_handlers=exception_handlers)
        return SecurityMiddleware(starlette, host)

    async def get_file(self, request: Request) -> Response:
        """Send the page or one of its files."""
        name = request.path_params.get("name", "index.html")
        if name not in self.files:
            raise RefusedError(404, NOT_FOUND)
        return Response(self.files[name], media_type=MEDIA_TYPES[Path(name).suffix])

    async def get_setup(self, _: Request) -> Response:
        """Send the catalog."""
        catalog, runs = self.manager.catalog.json(), self.manager.runs()
        return JSONResponse({"version": version("alphazero"), **catalog, "runs": runs})

    async def create_session(self, request: Request) -> Response:
        fields = RequestFields(await read_json(request))
        game = self.manager.game(fields.string("game"))
        sides = [Side(), Side()]
        if fields.has("sides"):
            sides = read_sides(self.manager, game, fields.content["sides"])
        session = self.manager.create_session(game, sides, client_key(request.client))
        return JSONResponse(view_of(session))

    async def run_command(self, request: Request) -> Response:
        session, command = self._session(request), request.path_params["command"]
        fields = RequestFields(await read_json(request))
        if command not in COMMANDS:
            raise RefusedError(404, "unknown command")
        prepare, arguments = COMMANDS[command], (self.manager, session, fields)
        if command in SLOW_COMMANDS:
            apply = await asyncio.to_thread(prepare, *arguments)
        else:
            apply = prepare(*arguments)
        if session.id not in self.manager.sessions:
            raise RefusedError(404, "this session has ended")
        apply()
        return JSONResponse(view_of(session))

    async def save_game(self, request: Request) -> Response:
        session = self._session(request)
        kind = request.query_params.get("format", "json")
        if kind not in SAVED_TYPES:
            raise GameError(f"format: expected {', '.join(SAVED_TYPES)}")
        if kind in ("sgf", "json"):
            content = session.export(kind == "sgf").encode()
        else:
            content = picture_of(session.game, session.game_tree.current, kind)
        name = f"{name_of(session.game)}.{kind}"
        return Response(
            content,
            headers={"Content-Disposition": f'attachment; filename="{name}"'},
            media_type=SAVED_TYPES[kind],
        )

    async def stream_events(self, request: Request) -> Response:
        session = self._session(request)
        if len(session.watchers) >= MAX_STREAMS:
            raise RefusedError(429, f"a session has at most {MAX_STREAMS} streams; close a page")
        return EventStream(session)

    async def list_iterations(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(await asyncio.to_thread(self.manager.list_iterations, name))

    async def get_charts(self, request: Request) -> Response:
        name = request.path_params["name"]
        return JSONResponse(await asyncio.to_thread(self.manager.charts, name))

    async def list_games(self, request: Request) -> Response:
        games = await asyncio.to_thread(
            self.manager.list_games,
            request.path_params["name"],
            request.path_params["iteration"],
            request.query_params.get("kind", SELFPLAY),
        )
        return JSONResponse(games)

    async def get_openings(self, request: Request) -> Response:
        """Send the moves that games made in the session's position."""
        session = self._session(request)
        tree = session.game_tree
        line = [tree.name(node) for node in tree.path[1:]]
        name = request.query_params.get("run", "")
        return JSONResponse(
            await asyncio.to_thread(self.manager.openings, name, session.game, line)
        )

    def _session(self, request: Request) -> WebSession:
        session = self.manager.sessions.get(request.path_params["id"])
        if session is None:
            raise RefusedError(404, "this session has ended; start a new one")
        session.touch()
        return session


async def _refuse(_: Request, error: AlphaZeroError) -> Response:
    """Convert an error into an error response."""
    status = error.status if isinstance(error, RefusedError) else 400
    return error_response(status, str(error))


def _error_handler(status: int, text: str) -> Callable[[Request, Exception], Response]:
    """Return a handler for errors that no route has answered."""
    return lambda _, __: error_response(status, text)


class Server(uvicorn.Server):
    """Closes all sessions, and so their streams, before it waits for connections to close."""

    def __init__(
        self, config: uvicorn.Config, web_app: WebApp, on_start: Callable[[], object]
    ) -> None:
        super().__init__(config)
        self.manager, self.on_start = web_app.manager, on_start

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        self.manager.open()
        await super().startup(sockets)
        self.on_start()

    async def on_tick(self, counter: int) -> bool:
        """Close idle sessions once a minute; follow runs every second."""
        if counter % 600 == 0:
            self.manager.close_idle()
        if counter % 10 == 0:
            self.manager.follow_runs()
        return await super().on_tick(counter)

    async def shutdown(self, sockets: list[socket.socket] | None = None) -> None:
        self.manager.close()
        await super().shutdown(sockets)


def serve(
    catalog: Catalog,
    host: str = "127.0.0.1",
    port: int = 8000,
    *,
    open_browser: bool = False,
    say: Callable[[str], object] = print,
) -> None:
    """Serve until Ctrl-C; port 0 is any free one.

    Raises:
        RunError: when the address is not available.
    """
    listener = listen(host, port)
    address = address_of(listener, host)

    def announce() -> None:
        say(f"players: {', '.join(catalog.players)}")
        if catalog.archives:
            say(f"runs: {', '.join(catalog.archives)}")
        say(f"serving on {address} (Ctrl-C to stop)")
        if not is_loopback(listener):
            say("anyone who can reach this machine can open the page")
        if open_browser:
            webbrowser.open(address)

    make_server(WebApp(SessionManager(catalog)), host, announce).run([listener])


def make_server(web_app: WebApp, host: str, on_start: Callable[[], object] = do_nothing) -> Server:
    """Return a server that does not listen yet."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        track_responses(web_app.app(host)),
        http="h11",
        ws="none",
        lifespan="off",
        log_config=None,
        access_log=False,
        proxy_headers=False,
        server_header=False,
        timeout_keep_alive=30,
        timeout_graceful_shutdown=1,
    )
    limit_connections(config)
    return Server(config, web_app, on_start)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raises:
        RunError: when the port is taken or the host is not on this machine.
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
        why = explain_os_error(error) if isinstance(error, OSError) else "not a valid address"
        raise RunError(
            f"cannot listen on {ascii(host)[1:-1]}, port {port}: {why.partition(';')[0]}; choose "
            "another --port (0 for any free port) or another --host"
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
