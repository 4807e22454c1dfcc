"""Security checks, made before a request is handled.

A page of another site can make a browser send requests here, and can even pretend that our address
is its own name (DNS rebinding). So the Host must be an address or a known own name, and requests
that a browser marks as cross-site are refused. A page that other machines can reach also needs a
token: in the address that the server prints, then in a cookie.
"""

import asyncio
import ipaddress
import json
import re
import secrets
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alphazero.errors import AlphaZeroError
from alphazero.utils.checked_json import parse_object

BODY_LIMIT: Final = 1 << 20
"""Maximum bytes of a request body."""

BODY_SECONDS: Final = 20.0
"""Maximum seconds to receive a request body."""

_HOST = re.compile(r"(\[[0-9A-Fa-f:.]{2,45}\]|[A-Za-z0-9._-]{1,253})(?::[0-9]{1,5})?")

HEADERS: Final = {
    "Content-Security-Policy": (
        "default-src 'none'; script-src 'self'; style-src 'self'; style-src-attr 'unsafe-inline'; "
        "img-src 'self' data:; connect-src 'self'; base-uri 'none'; form-action 'none'; "
        "frame-ancestors 'none'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "no-referrer",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Cache-Control": "no-store",
}
"""Headers of every response: the page loads nothing from elsewhere and cannot be framed."""


class RefusedError(AlphaZeroError):
    """A refused request, with its HTTP status."""

    def __init__(self, status: int, text: str) -> None:
        super().__init__(text)
        self.status = status


class SecurityMiddleware:
    """Passes on to `app` the requests of our own page and of programs other than browsers."""

    def __init__(self, app: ASGIApp, host: str, token: str = "") -> None:
        """`host` is the name or address that the server listens on; an empty token is not asked."""
        self.app, self.token = app, token
        self.names = {"localhost", host.lower().strip("[]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return
        request = Request(scope)
        # Cookies do not tell ports apart, so that the name has the port.
        cookie = f"alphazero-token-{(scope.get('server') or ('', 0))[1]}"
        own = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
        if self.token and "token" in request.query_params:
            # Lax, so that a link to a game opens from another site; the API refuses other sites.
            own[b"set-cookie"] = f"{cookie}={self.token}; Path=/; HttpOnly; SameSite=Lax".encode()

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                others = [pair for pair in message["headers"] if pair[0].lower() not in own]
                message = {**message, "headers": [*others, *own.items()]}
            await send(message)

        reason = self._reason_to_refuse(request, cookie)
        if reason:
            own.pop(b"set-cookie", None)
            await error_response(403, reason)(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _reason_to_refuse(self, request: Request, cookie: str) -> str:
        """Return why a request must be refused; empty if it may pass."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._is_own_host(hosts[0]):
            return "unknown Host; open the page by the address that the server has printed"
        origins = request.headers.getlist("origin")
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "the request comes from another site"
        site = request.headers.get("sec-fetch-site", "none")
        if request.url.path.startswith("/api/") and site not in ("same-origin", "none"):
            return "the request comes from another site"
        token = request.query_params.get("token", request.cookies.get(cookie, ""))
        if self.token and not secrets.compare_digest(token.encode(), self.token.encode()):
            return "wrong or no token; open the page by the address that the server has printed"
        return ""

    def _is_own_host(self, host: str) -> bool:
        """Whether a Host is an address or an own name; another name could be rebound."""
        match = _HOST.fullmatch(host)
        if not match:
            return False
        name = match[1].strip("[]").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return True


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request body.

    Raise RefusedError when it is too long, too slow, of another type or not an object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(400, "expected Content-Type: application/json")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length[:20]) > BODY_LIMIT:
        raise RefusedError(413, f"the request body has more than {BODY_LIMIT:,} bytes")
    body = bytearray()

    async def read() -> None:
        async for chunk in request.stream():
            body.extend(chunk)
            if len(body) > BODY_LIMIT:
                raise RefusedError(413, f"the request body has more than {BODY_LIMIT:,} bytes")

    try:
        await asyncio.wait_for(read(), BODY_SECONDS)
    except TimeoutError:
        raise RefusedError(400, f"the request did not arrive within {BODY_SECONDS:g} s") from None
    except ClientDisconnect:
        raise RefusedError(400, "the client has disconnected") from None
    try:
        return parse_object(bytes(body) or b"{}")
    except ValueError:
        raise RefusedError(400, "the request body is not valid JSON") from None
    except TypeError:
        raise RefusedError(400, "the request body is not a JSON object") from None


def error_response(status: int, text: str) -> Response:
    """Return `{"error": text}` in one line; 413 also closes the connection."""
    body = json.dumps({"error": " ".join(text.split())})
    headers = {"Connection": "close"} if status == 413 else None
    return Response(body, status, headers, "application/json")
