"""Forwards HTTP requests to other services for the data that they own.

Nothing is cached. Reads are open. A write carries the bearer token of its request, never one of the
HUD.
"""

import asyncio
import json
import re
from collections.abc import Callable, Coroutine, Iterable
from typing import Any
from urllib.parse import quote

import httpx
from fastapi import APIRouter, Request, Response
from pydantic import ValidationError

from rlaif.network.addresses import without_credentials
from rlaif.service.app import FORWARDED
from rlaif.service.peers import peer_client
from rlaif.service.problems import MEDIA_TYPE, Problem, ProblemDocument
from rlaif.tracing.spans import current_traceparent

CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 20.0
"""Limit of one call; a comparison of two models takes a few seconds, the longest."""

MAX_ANSWER = 8 * 1024 * 1024
"""Bytes; a page of fifty models' records takes about 200 kB."""

_SENT_ON = ("content-type", "idempotency-key")
_SENT_BACK = ("www-authenticate", "retry-after")


class Upstream:
    """One other service. Every failure is a `Problem`, the service's own one if it sent one.

    Args:
        name: Name in messages.
        base_url: Such as `http://reward-model:8084`, without a path.
        seconds: Maximum duration of a call.
        transport: For tests.
    """

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        seconds: float = TOTAL_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        self.name = name
        self._base = base_url.rstrip("/")
        self._seconds = seconds
        self._transport = transport

    async def forward(self, request: Request, path: str) -> Response:
        body = await request.body()  # the server closes a connection whose request is incomplete
        is_read = request.method == "GET"
        unsure = "" if is_read else " It may have succeeded: check before repeating it."
        try:
            async with asyncio.timeout(self._seconds):
                answer, content = await self._exchange(request, path, body)
        except (TimeoutError, httpx.ReadTimeout) as error:
            raise Problem(
                504,
                "service-silent",
                "A service did not answer in time",
                f"{self.name} sent no complete answer within {self._seconds:g} s.{unsure}",
            ) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Problem(
                502,
                "service-unreachable",
                "A service cannot be reached",
                f"{self.name} at {without_credentials(self._base)} cannot be reached: "
                f"{_reason(error)}. Check that it is running and that this is its address.",
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreadable(f"{_reason(error)}.{unsure}") from error
        self._check(answer, content)
        headers = {name: answer.headers[name] for name in _SENT_BACK if name in answer.headers}
        headers["Cache-Control"] = "no-store"
        media = answer.headers.get("content-type")
        return Response(content, answer.status_code, headers, media_type=media)

    async def _exchange(
        self, request: Request, path: str, body: bytes
    ) -> tuple[httpx.Response, bytes]:
        """One call on its own connection: a cancelled one leaves no pool half open."""
        async with (
            peer_client(
                self._base,
                timeout=httpx.Timeout(self._seconds, connect=CONNECT_SECONDS),
                transport=self._transport,
            ) as client,
            client.stream(
                request.method,
                f"{self._base}{path}",
                params=str(request.query_params) or None,
                content=body or None,
                headers=_headers_of(request),
            ) as answer,
        ):
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > MAX_ANSWER:
                    raise self._unreadable(f"it sent more than {MAX_ANSWER:,} bytes")
            return answer, bytes(content)

    def _check(self, answer: httpx.Response, content: bytes) -> None:
        """Accept JSON, and problem documents as errors."""
        media = answer.headers.get("content-type", "").partition(";")[0].strip()
        try:
            if answer.status_code >= 400 and media == MEDIA_TYPE:
                ProblemDocument.model_validate_json(content)
            elif not answer.is_success:
                raise self._unreadable(f"it returned status {answer.status_code}")
            elif content:
                json.loads(content)
        except (ValidationError, ValueError) as error:
            raise self._unreadable("its response is not JSON") from error

    def _unreadable(self, reason: str) -> Problem:
        return Problem(
            502, "service-unreadable", "A service sent an invalid answer", f"{self.name}: {reason}"
        )


def forwarding_router(
    service: Upstream, tag: str, routes: Iterable[tuple[str, str, str]]
) -> APIRouter:
    """Routes forwarded to `service`: (method, path, path at the service, if different).

    Their parameters and bodies are documented and checked by the service.
    """
    router = APIRouter(tags=[tag])
    for method, path, target in routes:
        router.add_api_route(
            path,
            _endpoint(service, target or path),
            methods=[method],
            summary=f"Answered by the {service.name} service",
            openapi_extra={
                FORWARDED: service.name,
                "parameters": [
                    {
                        "name": name,
                        "in": "path",
                        "required": True,
                        "description": f"As at the {service.name} service.",
                        "schema": {"type": "string"},
                    }
                    for name in re.findall(r"\{(\w+)\}", path)
                ],
            },
        )
    return router


def _endpoint(service: Upstream, target: str) -> Callable[[Request], Coroutine[Any, Any, Response]]:
    async def forward(request: Request) -> Response:
        values = {name: _segment(value) for name, value in request.path_params.items()}
        return await service.forward(request, target.format(**values))

    return forward


def _segment(value: str) -> str:
    """A value as one segment of a path; httpx would resolve `..` even if it is escaped once."""
    return quote(value, safe="").replace(".", "%2E")


def _headers_of(request: Request) -> dict[str, str]:
    sent = {"Accept": "application/json"}
    sent |= {name: request.headers[name] for name in _SENT_ON if name in request.headers}
    token = request.headers.get("authorization", "")
    if request.method != "GET" and token.lower().startswith("bearer "):
        sent["Authorization"] = token
    if (trace := current_traceparent()) is not None:
        sent["traceparent"] = trace
    return sent


def _reason(error: Exception) -> str:
    return str(error) or type(error).__name__
