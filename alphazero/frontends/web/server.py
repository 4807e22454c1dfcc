"""`alphazero serve`: the page and its API over HTTP, on this machine by default."""

import asyncio
import contextlib
import ipaddress
import json
import logging
import re
import secrets
import socket
import time
import webbrowser
from collections.abc import AsyncIterator, Callable
from pathlib import Path
from typing import Any, Final

import uvicorn
from starlette.applications import Starlette
from starlette.requests import Request
from starlette.responses import Response, StreamingResponse
from starlette.routing import Route

from alphazero.errors import AlphaZeroError, RunError
from alphazero.frontends.web.catalog import Catalog
from alphazero.frontends.web.commands import COMMANDS, SLOW_COMMANDS, RequestFields, new_sides
from alphazero.frontends.web.security import (
    RefusedError,
    SecurityMiddleware,
    error_response,
    read_json,
)
from alphazero.frontends.web.session import WebSession
from alphazero.frontends.web.session_manager import SessionManager
from alphazero.frontends.web.view import search_json, view_of
from alphazero.games.registry import name_of
from alphazero.utils.files import explain_os_error

HEARTBEAT: Final = 15.0
"""Seconds between comments in a stream, which detect disconnected pages."""

NOT_FOUND: Final = "not found"

MEDIA_TYPES: Final = {
    ".html": "text/html; charset=utf-8",
    ".css": "text/css; charset=utf-8",
    ".js": "text/javascript; charset=utf-8",
    ".svg": "image/svg+xml",
}
"""Media types of the page's files by suffix; other files are not served."""


def page_files() -> dict[str, bytes]:
    """Read all files of the page, by path below `static/`."""
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

    def app(self, host: str, token: str = "") -> SecurityMiddleware:
        """Return the application with its security checks; see `SecurityMiddleware`."""
        session = "/api/sessions/{id}"
        routes = [
            Route("/", self.get_file, methods=["GET"]),
            Route("/static/{name:path}", self.get_file, methods=["GET"]),
            Route("/api/setup", self.get_setup, methods=["GET"]),
            Route("/api/sessions", self.create_session, methods=["POST"]),
            Route(f"{session}/events", self.stream_events, methods=["GET"]),
            Route(f"{session}/save", self.save_game, methods=["GET"]),
            Route(f"{session}/{{command}}", self.run_command, methods=["POST"]),
        ]
        exception_handlers: dict[Any, Any] = {
            404: _answer(404, NOT_FOUND),
            405: _answer(405, "method not allowed"),
            AlphaZeroError: _refuse,
            Exception: _answer(500, "internal error; see the server's terminal"),
        }
        starlette = Starlette(routes=routes, exception_handlers=exception_handlers)
        return SecurityMiddleware(starlette, host, token)

    async def get_file(self, request: Request) -> Response:
        name = request.path_params.get("name", "index.html")
        if name not in self.files:
            raise RefusedError(404, NOT_FOUND)
        return Response(self.files[name], media_type=MEDIA_TYPES[Path(name).suffix])

    async def get_setup(self, _: Request) -> Response:
        return _json(self.manager.catalog.json())

    async def create_session(self, request: Request) -> Response:
        fields = RequestFields(await read_json(request))
        catalog = self.manager.catalog
        game = catalog.game(fields.string("game"))
        sides = await asyncio.to_thread(new_sides, catalog, game, fields)
        return _json(view_of(self.manager.create_session(game, sides)))

    async def run_command(self, request: Request) -> Response:
        session, command = self._session(request), request.path_params["command"]
        fields = RequestFields(await read_json(request))
        if command not in COMMANDS:
            raise RefusedError(404, "unknown command")
        if command in SLOW_COMMANDS:
            apply = await asyncio.to_thread(COMMANDS[command], session, fields)
        else:
            apply = COMMANDS[command](session, fields)
        if session.id not in self.manager.sessions:
            raise RefusedError(404, "this session has ended")
        apply()
        return _json(view_of(session))

    async def save_game(self, request: Request) -> Response:
        session = self._session(request)
        kind = request.query_params.get("format", "json")
        text, name = session.export(kind), f"{name_of(session.game)}.{kind}"
        headers = {"Content-Disposition": f'attachment; filename="{name}"'}
        data = text.encode(errors="replace")  # halves of characters from a file's names
        return Response(data, headers=headers, media_type="application/octet-stream")

    async def stream_events(self, request: Request) -> Response:
        return StreamingResponse(_events(self._session(request)), media_type="text/event-stream")

    def _session(self, request: Request) -> WebSession:
        session = self.manager.sessions.get(request.path_params["id"])
        if session is None:
            raise RefusedError(404, "this session has ended; start a new one")
        session.last_used = time.monotonic()
        return session


def _json(content: dict[str, Any]) -> Response:
    """Return an answer in ASCII, so that texts of other people's files may hold anything."""
    return Response(json.dumps(content), media_type="application/json")


async def _events(session: WebSession) -> AsyncIterator[str]:
    """Yield a session's changes as server-sent events until its end (WHATWG HTML, section 9.2).

    Each event holds the current state: a slow page skips states, and no events pile up.
    """
    pending, has_events = {"view"}, asyncio.Event()

    def on_event(event: str) -> None:
        pending.add(event)
        has_events.set()

    session.watch(on_event)
    try:
        while "end" not in pending:
            kinds = set(pending)
            pending.clear()
            if "view" in kinds:
                yield f"event: view\ndata: {json.dumps(view_of(session))}\n\n"
            elif "search" in kinds:
                yield f"event: search\ndata: {json.dumps(search_json(session))}\n\n"
            else:
                yield ": still here\n\n"
            with contextlib.suppress(TimeoutError):
                await asyncio.wait_for(has_events.wait(), HEARTBEAT)
            has_events.clear()
    finally:
        session.unwatch(on_event)


async def _refuse(_: Request, error: AlphaZeroError) -> Response:
    status = error.status if isinstance(error, RefusedError) else 400
    return error_response(status, str(error))


def _answer(status: int, text: str) -> Callable[[Request, Exception], Response]:
    """Return a handler that answers an error of any route with one text."""
    return lambda _, __: error_response(status, text)


class Server(uvicorn.Server):
    """Closes all sessions, and so their streams, before it waits for connections to close."""

    def __init__(self, config: uvicorn.Config, manager: SessionManager) -> None:
        super().__init__(config)
        self.manager = manager

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
    """Serve until Ctrl-C; port 0 is any free one. Other machines need a token.

    Raise RunError when the address is not available.
    """
    listener = listen(host, port)
    own_address, own_port = listener.getsockname()[:2]
    name = {"0.0.0.0": "127.0.0.1", "::": "[::1]"}.get(host, f"[{host}]" if ":" in host else host)
    address, token = f"http://{name}:{own_port}/", ""
    if not ipaddress.ip_address(own_address).is_loopback:
        token = secrets.token_urlsafe(24)
        address += f"?token={token}"
    say(f"players: {', '.join(catalog.players)}")
    say(f"serving on {address} (Ctrl-C to stop)")
    if token:
        say("whoever has this token can open the page, at any address of this machine")
    if open_browser:
        webbrowser.open(address)  # it waits until the server answers
    make_server(SessionManager(catalog), host, token).run([listener])


def make_server(manager: SessionManager, host: str, token: str = "") -> Server:
    """Return a server; `run` makes it answer."""
    logging.getLogger("uvicorn.error").setLevel(logging.ERROR)
    config = uvicorn.Config(
        WebApp(manager).app(host, token),
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
    return Server(config, manager)


def listen(host: str, port: int) -> socket.socket:
    """Return a listening socket.

    Raise RunError when the port is taken or the host is not on this machine.
    """
    try:
        family, _, _, _, address = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM)[0]
        is_dual = family == socket.AF_INET6 and socket.has_dualstack_ipv6()
        return socket.create_server(address[:2], family=family, dualstack_ipv6=is_dual)
    except (OSError, UnicodeError, OverflowError) as error:
        why = explain_os_error(error) if isinstance(error, OSError) else "not a valid address"
        why = re.split(r"; | \(", why)[0]
        raise RunError(
            f"cannot listen on {ascii(host)[1:-1]}, port {port}: {why}; choose "
            "another --port (0 for any free port) or another --host"
        ) from error
