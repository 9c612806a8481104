"""A language model behind an OpenAI-compatible `chat/completions` endpoint.

One call is one HTTP request with one deadline for all of it, so a server that hangs or sends a byte
a second cannot hold a slot. The body is read up to a cap.
"""

import asyncio
import importlib.util
import ssl
import sys
from collections.abc import Mapping
from pathlib import Path
from urllib.parse import urlsplit

import httpx

from rlaif.llm.connections import Connections
from rlaif.llm.dialect import payload
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    Phase,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.reply import read_completion
from rlaif.llm.settings import PLAIN, CallSettings, DialectSettings

BODY_CAP_BYTES = 256 * 1024
"""Largest reply that is read; a valid one has about 2 kB."""

_DETAIL_BYTES = 200
_TOO_EARLY = (408, 425)
"""Statuses of the 4xx that say "later" and not "no"."""
_RETRY_AFTER_CAP = 600.0


def endpoint(url: str) -> str:
    """The chat endpoint of a base URL, with or without `/v1` at its end."""
    return f"{url.rstrip('/').removesuffix('/v1')}/v1/chat/completions"


def connections_to(
    calls: CallSettings, *, api_key: str | None, ca_file: Path | None = None
) -> Connections:
    """The connections that all routes share; a PEM `ca_file` replaces the public authorities.

    A proxy of the environment is not used for this machine's own addresses.

    Raises:
        OSError: `ca_file` cannot be read, or is not a PEM file.
    """
    _remember_that_it_is_missing("sniffio")
    # Made once: it reads all authorities.
    verify = ssl.create_default_context(cafile=ca_file) if ca_file else httpx.create_ssl_context()

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=verify,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            timeout=httpx.Timeout(calls.read_seconds, connect=calls.connect_seconds),
            limits=httpx.Limits(max_connections=1),
            mounts={"all://127.0.0.1": None, "all://localhost": None},
        )

    return Connections(client, key=api_key)


def _remember_that_it_is_missing(module: str) -> None:
    """Let an import of a module that is not installed fail at once from now on.

    httpcore tries to import `sniffio` four times a call. Python remembers no import that failed and
    looks through all of its path each time: a tenth of what a call costs the processor.
    """
    if module not in sys.modules and importlib.util.find_spec(module) is None:
        sys.modules[module] = None  # type: ignore[assignment]  # what Python itself takes so


class OpenAiModel:
    """One route of an OpenAI-compatible server."""

    def __init__(
        self,
        connections: Connections,
        url: str,
        calls: CallSettings,
        dialect: DialectSettings = PLAIN,
    ) -> None:
        self._connections = connections
        self._dialect = dialect
        self._endpoint = endpoint(url)
        # Errors go into scores and telemetry, which should not name a cluster's hosts.
        self._path = urlsplit(self._endpoint).path
        self._calls = calls

    async def complete(self, request: CompletionRequest) -> Answer:
        """Ask once; raises as `rlaif.llm.ports` says."""
        try:
            async with asyncio.timeout(self._calls.total_seconds):
                status, headers, body = await self._post(request)
        except (TimeoutError, httpx.TimeoutException) as error:
            raise self._timeout(error) from error
        except httpx.DecodingError as error:
            raise InvalidReplyError(f"{self._path}: reply cannot be unpacked: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            what = str(error) or type(error).__name__
            raise UnavailableError(f"{self._path} cannot be reached: {what}") from error
        self._check_status(status, headers, body)
        return read_completion(body)

    def _timeout(self, error: Exception) -> CallTimeoutError:
        connect, read = self._calls.connect_seconds, self._calls.read_seconds
        phase: Phase
        match error:
            case httpx.ConnectTimeout():
                phase, what = "connect", f"no connection within {connect:g} s"
            case httpx.ReadTimeout():
                phase, what = "read", f"silent for {read:g} s"
            case httpx.WriteTimeout():
                phase, what = "write", f"did not take the request for {read:g} s"
            case _:
                phase, what = "total", f"no whole answer in {self._calls.total_seconds:g} s"
        return CallTimeoutError(f"{self._path}: {what}", phase)

    async def _post(self, request: CompletionRequest) -> tuple[int, Mapping[str, str], bytes]:
        async with (
            self._connections.one() as client,
            client.stream("POST", self._endpoint, json=payload(request, self._dialect)) as reply,
        ):
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if reply.status_code != 200 and len(body) > _DETAIL_BYTES:
                    break
                if len(body) > BODY_CAP_BYTES:
                    raise InvalidReplyError(f"reply is larger than {BODY_CAP_BYTES} bytes")
            return reply.status_code, reply.headers, bytes(body)

    def _check_status(self, status: int, headers: Mapping[str, str], body: bytes) -> None:
        if status == 200:
            return
        detail = f"HTTP {status}: {self._without_key(body[:_DETAIL_BYTES])}"
        retry_after = _seconds(headers.get("retry-after"))
        if status == 429:
            raise ThrottledError(detail, retry_after, status=status)
        if status >= 500 or status in _TOO_EARLY:
            raise UnavailableError(detail, retry_after, status=status)
        # Also a redirect: another address is for people to set.
        raise RefusedError(detail, status)

    def _without_key(self, body: bytes) -> str:
        """What the server said; some repeat the key that they refuse, and all may read this."""
        key = self._connections.key
        said = body.decode(errors="replace")
        return said.replace(key, "…") if key else said


def _seconds(value: str | None) -> float | None:
    """Seconds of a Retry-After header; its date form is not read, as clocks may differ."""
    # Not `isdigit` alone: it also takes digits that are no number to `float`, such as "²".
    if value is None or not (value.strip().isascii() and value.strip().isdigit()):
        return None
    return min(float(value), _RETRY_AFTER_CAP)
