"""Security checks, made before a request is handled.

A page of another site can make a browser send requests here, and can even pretend that our address
is its own name (DNS rebinding). So the Host must be an address or a known own name, and requests
that a browser marks as cross-site are refused.

Connections and sessions are limited. At the limit, the client with the most loses one.
"""

import asyncio
import ipaddress
import json
import re
from collections.abc import Mapping
from typing import Any, Final

from starlette.requests import ClientDisconnect, Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from alphazero.errors import AlphaZeroError

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
    """Passes requests to `app` that come from our own page, or from no page."""

    def __init__(self, app: ASGIApp, host: str) -> None:
        """`host` is the name or address that the server listens on."""
        self.app = app
        self.names = {"localhost", host.lower().strip("[]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Handle or refuse a request."""
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                told = [(key.encode().lower(), value.encode()) for key, value in HEADERS.items()]
                known = {key for key, _ in told}
                kept = [pair for pair in message["headers"] if pair[0].lower() not in known]
                message = {**message, "headers": [*kept, *told]}
            await send(message)

        fault = self._fault(Request(scope))
        if fault:
            await error_response(403, fault)(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _fault(self, request: Request) -> str:
        """Return why a request is refused; empty if it is not."""
        hosts = request.headers.getlist("host")
        if len(hosts) != 1 or not self._is_ours(hosts[0]):
            return "the Host of this request is not this server's; open it by its address"
        origins = request.headers.getlist("origin")
        if any(origin not in (f"http://{hosts[0]}", f"https://{hosts[0]}") for origin in origins):
            return "the request comes from another site"
        site = request.headers.get("sec-fetch-site", "none")
        if request.url.path.startswith("/api/") and site not in ("same-origin", "none"):
            return "the request comes from another site"
        return ""

    def _is_ours(self, host: str) -> bool:
        """Whether a Host is an address or an own name: a foreign name could be rebound."""
        found = _HOST.fullmatch(host)
        if not found:
            return False
        name = found[1].strip("[]").lower()
        try:
            ipaddress.ip_address(name)
        except ValueError:
            return name in self.names
        return True


def client_of(address: tuple[str, int] | None) -> str:
    """Return the key by which a client is counted: its IPv4 address, or its IPv6 network (/64).

    A machine can have any number of addresses in such a network.
    """
    if address is None:
        return ""
    own = ipaddress.ip_address(address[0])
    if isinstance(own, ipaddress.IPv6Address):
        return str(own.ipv4_mapped or ipaddress.ip_network((own.packed, 64), strict=False))
    return str(own)


def greediest(counts: Mapping[str, int], newcomer: str) -> str:
    """Return the client with the largest count; the newcomer among equals."""
    return max(counts, key=lambda client: (counts[client], client == newcomer))


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request body.

    Raises:
        RefusedError: when it is too long, too slow, of another type or no object.
    """
    kind = request.headers.get("content-type", "").partition(";")[0].strip().lower()
    if kind != "application/json":
        raise RefusedError(400, "expected Content-Type: application/json")
    length = request.headers.get("content-length", "0")
    if not length.isdigit() or int(length[:20]) > BODY_LIMIT:
        raise RefusedError(413, f"a request has at most {BODY_LIMIT:,} bytes")
    body = bytearray()

    async def read() -> None:
        async for chunk in request.stream():
            body.extend(chunk)
            if len(body) > BODY_LIMIT:
                raise RefusedError(413, f"a request has at most {BODY_LIMIT:,} bytes")

    try:
        await asyncio.wait_for(read(), BODY_SECONDS)
    except TimeoutError:
        raise RefusedError(400, f"the request did not arrive in {BODY_SECONDS:g} s") from None
    except ClientDisconnect:
        raise RefusedError(400, "the request was broken off") from None
    try:
        content = json.loads(body or b"{}")
    except (ValueError, RecursionError):
        raise RefusedError(400, "the body is no JSON") from None
    if not isinstance(content, dict):
        raise RefusedError(400, "the body is no JSON object")
    return content


def error_response(status: int, text: str) -> Response:
    """Return an error response."""
    body = json.dumps({"error": " ".join(text.split())})
    headers = {"Connection": "close"} if status == 413 else None
    return Response(body, status, headers, "application/json")


def refusal_of(error: AlphaZeroError) -> Response:
    """Return the response for an error."""
    return error_response(error.status if isinstance(error, RefusedError) else 400, str(error))
