"""Write guard in front of every route.

Every request except GET, HEAD and OPTIONS needs the bearer token. WebSocket routes check it
themselves. Without a configured token, writes are accepted on a loopback address only, and not from
pages of other machines (`Origin`).
"""

import hmac
import ipaddress
from urllib.parse import SplitResult, urlsplit

from starlette.datastructures import Headers
from starlette.types import ASGIApp, Receive, Scope, Send

from rlaif.service.problems import Problem

SAFE_METHODS = frozenset({"GET", "HEAD", "OPTIONS"})


def is_loopback(host: str) -> bool:
    """True for localhost, 127.0.0.0/8 and ::1."""
    if host.lower() == "localhost":
        return True
    try:
        return ipaddress.ip_address(host.strip("[]")).is_loopback
    except ValueError:
        return False


def split_origin(origin: str) -> SplitResult | None:
    """The parts of an `Origin` header; None for an invalid address, such as `http://[::1`."""
    try:
        return urlsplit(origin)
    except ValueError:
        return None


class WriteGuard:
    """ASGI middleware that admits writes with the token."""

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
            return self._objection_without_token(headers.get("origin"))
        scheme, _, given = headers.get("authorization", "").partition(" ")
        if scheme.lower() != "bearer" or not given.strip():
            return _unauthorized("missing", "Bearer", "Send `Authorization: Bearer <token>`.")
        if not hmac.compare_digest(given.strip().encode(), self._token.encode()):
            return _unauthorized(
                "wrong", 'Bearer error="invalid_token"', "The token is not RLAIF_API_TOKEN's."
            )
        return None

    def _objection_without_token(self, origin: str | None) -> Problem | None:
        if not self._local:
            return Problem(
                403,
                "writes-disabled",
                "Writes are off",
                "This service listens beyond loopback and has no token; set RLAIF_API_TOKEN and "
                "send it as a bearer token.",
            )
        if origin is not None and not _is_local(origin):
            return Problem(
                403,
                "foreign-origin",
                "Writes from other sites are off",
                f"The request came from a page of {origin!r}; use a page of this machine, or set "
                "RLAIF_API_TOKEN.",
            )
        return None


def _is_local(origin: str) -> bool:
    parts = split_origin(origin)
    return parts is not None and is_loopback(parts.hostname or "")


def _unauthorized(state: str, challenge: str, detail: str) -> Problem:
    return Problem(
        401,
        f"token-{state}",
        f"The bearer token is {state}",
        detail,
        headers={"WWW-Authenticate": challenge},
    )
