"""Middleware of every request: limits, trace context, access log, metrics, unhandled errors.

HEAD is answered as GET without its body.
"""

import asyncio
import logging
import time

import h11
from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send
from uvicorn.protocols.http.h11_impl import H11Protocol

from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import Problem, internal_error
from rlaif.tracing.spans import current_traceparent, span

PROBE_PATHS = frozenset({"/livez", "/healthz", "/readyz", "/metrics"})
"""Polled every few seconds by probes; logged at debug level only."""

REQUEST_SECONDS = 10.0
"""Maximum time from the connection, or the first byte of a later request, to the request's end.
"""

_log = logging.getLogger("rlaif.service.access")

MAX_BODY_BYTES = 1_000_000
_TOO_LARGE = Problem(
    413,
    "body-too-large",
    "The request body is too large",
    f"It may have {MAX_BODY_BYTES:,} bytes.",
)
_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})


class Connection(H11Protocol):
    """A connection that is closed if a request is not complete in time.

    uvicorn itself closes connections that are idle between requests.
    """

    _deadline: asyncio.TimerHandle | None = None

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        super().connection_made(transport)
        self._deadline = self.loop.call_later(REQUEST_SECONDS, transport.close)

    def data_received(self, data: bytes) -> None:
        super().data_received(data)
        incomplete = self.conn.their_state in (h11.IDLE, h11.SEND_BODY)
        if not incomplete or self.transport.get_protocol() is not self:  # now a WebSocket's
            self._cancel()
        elif self._deadline is None:
            self._deadline = self.loop.call_later(REQUEST_SECONDS, self.transport.close)

    def connection_lost(self, exc: Exception | None) -> None:
        self._cancel()
        super().connection_lost(exc)

    def _cancel(self) -> None:
        if self._deadline is not None:
            self._deadline.cancel()
            self._deadline = None


class BodyLimit:
    """ASGI middleware that reads the body of a write before the app and rejects large ones."""

    def __init__(self, app: ASGIApp) -> None:
        self._app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] in _READS:
            await self._app(scope, receive, send)
            return
        body = await _body(scope, receive)
        if body is None:
            await _TOO_LARGE.response(scope["path"])(scope, receive, send)
            return

        async def receive_read() -> Message:
            nonlocal body
            if body is None:
                return await receive()
            message, body = {"type": "http.request", "body": body, "more_body": False}, None
            return message

        await self._app(scope, receive_read, send)


async def _body(scope: Scope, receive: Receive) -> bytes | None:
    """The body as far as it was sent; None if it exceeds `MAX_BODY_BYTES`."""
    announced = Headers(scope=scope).get("content-length", "0")
    if announced.isdecimal() and int(announced) > MAX_BODY_BYTES:
        return None
    body, more = bytearray(), True
    while more:
        message = await receive()
        body += message.get("body", b"")
        more = message.get("more_body", False)
        if len(body) > MAX_BODY_BYTES:
            return None
    return bytes(body)


class RequestMiddleware:
    """ASGI middleware: trace context, metrics, access log, and 500 for unhandled errors."""

    def __init__(self, app: ASGIApp, *, metrics: ServiceMetrics) -> None:
        self._app = app
        labels = ("method", "route", "status")
        self._requests = metrics.counter("http_requests", "HTTP requests answered.", labels)
        self._seconds = metrics.histogram(
            "http_request_seconds", "Time to the end of the response.", ("method", "route")
        )

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] not in ("http", "websocket"):
            await self._app(scope, receive, send)
            return
        socket = scope["type"] == "websocket"
        if not socket and scope["method"] == "HEAD":
            scope, send = {**scope, "method": "GET"}, _without_body(send)
        with span(
            "websocket" if socket else scope["method"],
            kind="server",
            cause=Headers(scope=scope).get("traceparent", ""),
            attributes={"url.path": scope["path"]},
            recorded=not socket and scope["path"] not in PROBE_PATHS,
        ) as made:
            if socket:
                await self._app(scope, receive, send)
            else:
                await self._request(scope, receive, send)
                made.update_name(f"{scope['method']} {_template(scope)}")

    async def _request(self, scope: Scope, receive: Receive, send: Send) -> None:
        status = 0
        started = time.perf_counter()

        async def send_traced(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                headers = MutableHeaders(scope=message)
                headers["traceparent"] = current_traceparent() or ""
                headers["x-content-type-options"] = "nosniff"
            await send(message)

        try:
            await self._app(scope, receive, send_traced)
        except Exception:
            _log.exception("request failed", extra={"path": scope["path"]})
            if status:  # too late for another answer: the server closes the connection
                raise
            await internal_error().response(scope["path"])(scope, receive, send_traced)
        finally:
            self._note(scope, status, time.perf_counter() - started)

    def _note(self, scope: Scope, status: int, seconds: float) -> None:
        method = scope["method"] if scope["method"] in _METHODS else "other"
        route = _template(scope)
        self._requests.labels(method, route, str(status)).inc()
        self._seconds.labels(method, route).observe(seconds)
        # Polling pages would flood the log: reads of existing and of missing resources are quiet.
        quiet = scope["path"] in PROBE_PATHS or (
            method in _READS and (200 <= status < 400 or status == 404)
        )
        level = logging.DEBUG if quiet else logging.INFO
        _log.log(
            level,
            "%s %s %s",
            scope["method"],
            scope["path"],
            status,
            extra={"status": status, "seconds": round(seconds, 6), "route": route},
        )


def _without_body(send: Send) -> Send:
    """Send only status and headers, for HEAD requests, also of endless streams."""
    ended = False

    async def send_head(message: Message) -> None:
        nonlocal ended
        if message["type"] == "http.response.body":
            if ended:
                return
            ended, message = True, {"type": message["type"], "body": b"", "more_body": False}
        await send(message)

    return send_head


def _template(scope: Scope) -> str:
    """The route's template, not the path: ids must not become labels."""
    return str(getattr(scope.get("route"), "path", "unmatched"))
