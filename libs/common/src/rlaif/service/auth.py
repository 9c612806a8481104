"""Guards of all routes: allowed host names and authorization of writes.

A page whose name resolves to this machine could read like the service's own page (DNS rebinding),
so the names in `Host` are limited, also for WebSockets. Every request except GET, HEAD and OPTIONS
needs the bearer token. Without a configured token, writes are accepted on a loopback address only,
and not from pages of another origin.
"""

import hmac
import ipaddress
from collections.abc import Set
from urllib.parse import urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send
from starlette.websockets import WebSocket

from rlaif.network.addresses import host_of, is_address, is_own_address
from rlaif.service.problems import Problem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})
_LONGEST_HOST = 253


def is_loopback(host: str) -> bool:
    """Whether `host` is localhost, in 127.0.0.0/8 or ::1."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


class HostGuard:
    """ASGI middleware that answers 421 to a `Host` that does not name this service.

    IP addresses, names of this machine or cluster, and `public` names are admitted; rebinding needs
    a name, not an address. `*` admits every name: for a service that is reached only through a
    router that checks its names.
    """

    def __init__(self, app: ASGIApp, *, public: Set[str]) -> None:
        self._app = app
        self._public = public

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] in ("http", "websocket"):
            host = Headers(scope=scope).get("host")
            # HTTP/1.0 clients may omit it; browsers never do.
            if host is not None and not self._admits(host):
                response = _misdirected(host).response(scope["path"])
                if scope["type"] == "websocket":
                    await WebSocket(scope, receive, send).send_denial_response(response)
                else:
                    await response(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _admits(self, host: str) -> bool:
        name = host_of(host)
        return bool(self._public & {"*", name}) or is_address(name) or is_own_address(host)


class WriteGuard:
    """ASGI middleware that rejects unauthorized writes."""

    def __init__(self, app: ASGIApp, *, token: str | None, host: str) -> None:
        self._app = app
        self._token = token
        self._local = is_loopback(host)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http" and scope["method"] not in SAFE_METHODS:
            problem = self._objection(Headers(scope=scope))
            if problem is not None:
                await problem.response(scope["path"])(scope, receive, send)
                return
        await self._app(scope, receive, send)

    def _objection(self, headers: Headers) -> Problem | None:
        if self._token is None:
            return self._objection_without_token(headers.get("origin"), headers.get("host"))
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            return _unauthorized("missing", "Bearer", "Send `Authorization: Bearer <token>`.")
        if not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            return _unauthorized(
                "wrong", 'Bearer error="invalid_token"', "The token is not RLAIF_API_TOKEN's."
            )
        return None

    def _objection_without_token(self, origin: str | None, host: str | None) -> Problem | None:
        if not self._local:
            return Problem(
                403,
                "writes-disabled",
                "Writes are disabled",
                "This service listens beyond loopback and has no token; set RLAIF_API_TOKEN and "
                "send it as a bearer token.",
            )
        if origin is not None and not is_same_origin(origin, host):
            return Problem(
                403,
                "foreign-origin",
                "Writes from other sites are disabled",
                f"The request came from a page of {origin!r}; use a page of this service, or set "
                "RLAIF_API_TOKEN.",
            )
        return None


def is_same_origin(origin: str, host: str | None) -> bool:
    """Whether a page of `origin` was served by the host in the header `Host`."""
    try:
        return bool(host) and urlsplit(origin).netloc == host
    except ValueError:  # such as `http://[::1`
        return False


def _misdirected(host: str) -> Problem:
    return Problem(
        421,
        "unknown-host",
        "This service has no such name",
        f"The request is for {host[:_LONGEST_HOST]!r}. Use the address of the machine, localhost "
        'or the name of the service; for the page, set HUD_ALLOWED_ORIGINS=["https://<name>"].',
    )


def _unauthorized(state: str, challenge: str, detail: str) -> Problem:
    return Problem(
        401,
        f"token-{state}",
        f"The bearer token is {state}",
        detail,
        headers={"WWW-Authenticate": challenge},
    )
