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

    def __init__(self, app: ASGIApp, host: str) -> None:
        """`host` is the name or address that the server listens on."""
        self.app = app
        self.names = {"localhost", host.lower().strip("[]")}

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            return

        async def send_guarded(message: Message) -> None:
            if message["type"] == "http.response.start":
                own = {name.lower().encode(): value.encode() for name, value in HEADERS.items()}
                others = [pair for pair in message["headers"] if pair[0].lower() not in own]
                message = {**message, "headers": [*others, *own.items()]}
            await send(message)

        reason = self._reason_to_refuse(Request(scope))
        if reason:
            await error_response(403, reason)(scope, receive, send_guarded)
            return
        await self.app(scope, receive, send_guarded)

    def _reason_to_refuse(self, request: Request) -> str:
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


def client_key(address: tuple[Any, ...] | None) -> str:
    """Return the key that identifies a client: its IPv4 address, or its IPv6 network (/64).

    A machine can have any number of addresses in such a network.
    """
    if address is None:
        return ""
    own = ipaddress.ip_address(address[0])
    if isinstance(own, ipaddress.IPv6Address):
        return str(own.ipv4_mapped or ipaddress.ip_network((own.packed, 64), strict=False))
    return str(own)


def client_with_most(counts: Mapping[str, int], newcomer: str) -> str:
    """Return the client with the largest count; the newcomer among equals."""
    return max(counts, key=lambda client: (counts[client], client == newcomer))


async def read_json(request: Request) -> dict[str, Any]:
    """Return the JSON object in a request body.

    Raises:
        RefusedError: when it is too long, too slow, of another type or not an object.
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
