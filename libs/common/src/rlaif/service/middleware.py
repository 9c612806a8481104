"""What happens around every request: trace context, access log, metrics, the last catch."""

import logging
import time

from starlette.datastructures import Headers, MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import internal_error
from rlaif.tracing.spans import current_traceparent, span

PROBE_PATHS = frozenset({"/livez", "/healthz", "/readyz", "/metrics"})
"""Asked every few seconds by machines; logged at debug only."""

_log = logging.getLogger("rlaif.service.access")


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
                MutableHeaders(scope=message)["traceparent"] = current_traceparent() or ""
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
        # A page that asks every second would bury what happened: reads that succeed are quiet.
        quiet = scope["path"] in PROBE_PATHS or (method in _READS and 200 <= status < 400)
        level = logging.DEBUG if quiet else logging.INFO
        _log.log(
            level,
            "%s %s %s",
            scope["method"],
            scope["path"],
            status,
            extra={"status": status, "seconds": round(seconds, 6), "route": route},
        )


def _template(scope: Scope) -> str:
    """The route's template, not the path: ids must not become labels."""
    return str(getattr(scope.get("route"), "path", "unmatched"))


_READS = frozenset({"GET", "HEAD", "OPTIONS"})
_METHODS = frozenset({"GET", "HEAD", "OPTIONS", "POST", "PUT", "PATCH", "DELETE"})
