"""HTTP requests to other services for the data that they own.

Nothing is cached. Reads are open. A write carries the bearer token that the person entered, never
one of the HUD.
"""

import asyncio
import json
from collections.abc import Mapping
from typing import Annotated, Any, Literal, TypeVar

import httpx
from fastapi import Depends, Request
from pydantic import BaseModel, SecretStr, ValidationError

from rlaif.network.addresses import without_credentials
from rlaif.service.peers import peer_client
from rlaif.service.problems import MEDIA_TYPE, Problem, ProblemDocument
from rlaif.tracing.spans import current_traceparent

Method = Literal["POST", "PUT", "PATCH", "DELETE"]
Parameters = Mapping[str, str | int | float | bool | None]

CONNECT_SECONDS = 3.0
TOTAL_SECONDS = 20.0
"""Of one call; a comparison of two models takes the longest, a few seconds."""

LARGEST_ANSWER = 8 * 1024 * 1024
"""Bytes; a page of fifty models' records takes about 200 kB."""

_PASSED_ON = ("www-authenticate", "retry-after")

M = TypeVar("M", bound=BaseModel)


def bearer_of(request: Request) -> SecretStr | None:
    """The `Authorization` header of a request when it is a bearer token; it is in no schema."""
    given = request.headers.get("authorization", "")
    return SecretStr(given) if given.lower().startswith("bearer ") else None


Bearer = Annotated[SecretStr | None, Depends(bearer_of)]
"""Type of a route's parameter that a write passes on. Printed or logged, it shows stars."""


class Upstream:
    """One other service. Every failure is a `Problem`, that service's own one where it sent one."""

    def __init__(
        self,
        name: str,
        base_url: str,
        *,
        seconds: float = TOTAL_SECONDS,
        transport: httpx.AsyncBaseTransport | None = None,
    ) -> None:
        """`name` is for people; `base_url` such as `http://reward-model:8084`, without a path."""
        self.name = name
        self._base = base_url.rstrip("/")
        self._seconds = seconds
        self._transport = transport

    async def read(self, kind: type[M], path: str, parameters: Parameters | None = None) -> M:
        """GET a path, parsed as a model; parameters that are None are left out."""
        return self._as(kind, await self._ask("GET", path, parameters=parameters))

    async def change(
        self,
        kind: type[M],
        method: Method,
        path: str,
        body: object = None,
        *,
        bearer: SecretStr | None,
        headers: Mapping[str, str] | None = None,
    ) -> M:
        """Write with the token of the person; returns the answer as a model."""
        sent = dict(headers or {})
        if bearer is not None:
            sent["Authorization"] = bearer.get_secret_value()
        return self._as(kind, await self._ask(method, path, body=body, headers=sent))

    async def _ask(
        self,
        method: str,
        path: str,
        *,
        parameters: Parameters | None = None,
        body: object = None,
        headers: Mapping[str, str] | None = None,
    ) -> Any:
        unsure = "" if method == "GET" else " It may have succeeded: check before repeating it."
        try:
            async with asyncio.timeout(self._seconds):
                status, answered, content = await self._exchange(
                    method, path, parameters, body, headers
                )
        except (TimeoutError, httpx.ReadTimeout) as error:
            raise Problem(
                504,
                "service-silent",
                "A service did not answer in time",
                f"{self.name} gave no whole answer within {self._seconds:g} s.{unsure}",
            ) from error
        except (httpx.ConnectError, httpx.ConnectTimeout) as error:
            raise Problem(
                502,
                "service-unreachable",
                "A service cannot be reached",
                f"{self.name} at {without_credentials(self._base)} cannot be reached: "
                f"{_why(error)}. Is it running, and is this its address?",
            ) from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            raise self._unreadable(f"{_why(error)}.{unsure}") from error
        return self._judged(status, answered, content)

    async def _exchange(
        self,
        method: str,
        path: str,
        parameters: Parameters | None,
        body: object,
        headers: Mapping[str, str] | None,
    ) -> tuple[int, httpx.Headers, bytes]:
        """One call on a connection of its own: a cancelled one leaves no pool half open."""
        sent = {"Accept": "application/json", **(headers or {})}
        if (trace := current_traceparent()) is not None:
            sent["traceparent"] = trace
        async with (
            peer_client(
                self._base,
                timeout=httpx.Timeout(self._seconds, connect=CONNECT_SECONDS),
                transport=self._transport,
            ) as client,
            client.stream(
                method,
                f"{self._base}{path}",
                params={k: v for k, v in (parameters or {}).items() if v is not None},
                json=body,
                headers=sent,
            ) as answer,
        ):
            content = bytearray()
            async for part in answer.aiter_bytes():
                content += part
                if len(content) > LARGEST_ANSWER:
                    raise self._unreadable(f"it sent more than {LARGEST_ANSWER:,} bytes")
            return answer.status_code, answer.headers, bytes(content)

    def _judged(self, status: int, headers: httpx.Headers, content: bytes) -> Any:
        media = headers.get("content-type", "").partition(";")[0].strip()
        if media == MEDIA_TYPE and status >= 400:
            raise _passed_on(status, headers, self._parsed(content))
        if not 200 <= status < 300:
            raise self._unreadable(f"it answered {status}")
        return None if status == 204 or not content else self._parsed(content)

    def _parsed(self, content: bytes) -> Any:
        try:
            return json.loads(content)
        except ValueError as error:
            raise self._unreadable("it sent something else than JSON") from error

    def _as(self, kind: type[M], value: object) -> M:
        try:
            return kind.model_validate(value)
        except ValidationError as error:
            where = ".".join(str(part) for part in error.errors()[0]["loc"])
            raise self._unreadable(
                f"what it sent is not what this version knows (at {where!r})"
            ) from error

    def _unreadable(self, why: str) -> Problem:
        return Problem(
            502, "service-unreadable", "A service answered otherwise", f"{self.name}: {why}"
        )


def _passed_on(status: int, headers: httpx.Headers, document: object) -> Problem:
    """The service's own problem, as if the HUD had it; both have one trace id."""
    try:
        told = ProblemDocument.model_validate(document)
    except ValidationError:
        return Problem(502, "service-unreadable", "A service answered otherwise", f"{status}")
    kept = {name: headers[name] for name in _PASSED_ON if name in headers}
    return Problem(
        status, told.type.removeprefix("/problems/"), told.title, told.detail, headers=kept
    )


def _why(error: Exception) -> str:
    return str(error) or type(error).__name__
