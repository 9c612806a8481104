"""A client of an OpenAI-compatible `chat/completions` endpoint.

One timeout covers the whole call. A parameter that the server rejects by name is omitted or
renamed; if the path or the model name is wrong, it is discovered with `/models`. The form that
worked is reused.
"""

import asyncio
import importlib.util
import logging
import math
import ssl
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass, replace
from email.utils import parsedate_to_datetime
from pathlib import Path
from typing import Any
from urllib.parse import urlsplit

import httpx

from rlaif.llm.addresses import endpoint, proxy_of
from rlaif.llm.connections import Connections
from rlaif.llm.dialect import Dialect, payload
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    ClientSetupError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    RefusedError,
    UnavailableError,
    UnreadableAnswerError,
)
from rlaif.llm.reply import failure, read_completion
from rlaif.llm.settings import PLAIN, CallSettings, DialectSettings

logger = logging.getLogger(__name__)

BODY_CAP_BYTES = 256 * 1024
"""Maximum size of a reply; a valid one has about 2 kB."""

_ERROR_BYTES = 2000
_RETRY_AFTER_CAP = 600.0
_MAX_CHANGES = 8
"""Maximum changes of the form of one call."""
_MAX_LISTED_MODELS = 10
_DISCOVERY_SECONDS = 5.0


def connections_to(
    calls: CallSettings,
    *,
    api_key: str | None,
    ca_file: Path | None = None,
    urls: Iterable[str] = (),
) -> Connections:
    """Connections shared by all routes; a PEM `ca_file` replaces the public authorities.

    Proxies of the environment are used for `urls` only.

    Raises:
        ClientSetupError: An environment variable is unusable.
        OSError: `ca_file` cannot be read, or is not a PEM file.
    """
    _cache_missing_module("sniffio")
    urls = tuple(urls)
    # Created once: it reads all authorities.
    verify = ssl.create_default_context(cafile=ca_file) if ca_file else _authorities(urls)
    proxies = {f"{urlsplit(url).scheme}://{urlsplit(url).hostname}": _proxy(url) for url in urls}

    def client() -> httpx.AsyncClient:
        return httpx.AsyncClient(
            verify=verify,
            headers={"Authorization": f"Bearer {api_key}"} if api_key else {},
            # No read timeout: a slow model sends nothing for most of the call.
            timeout=httpx.Timeout(None, connect=calls.connect_seconds),
            limits=httpx.Limits(max_connections=1),
            trust_env=False,
            mounts={
                pattern: httpx.AsyncHTTPTransport(proxy=proxy, verify=verify)
                for pattern, proxy in proxies.items()
                if proxy
            },
        )

    return Connections(client, key=api_key)


def _authorities(urls: tuple[str, ...]) -> ssl.SSLContext:
    needed = any(url.startswith("https:") for url in urls)
    try:
        return httpx.create_ssl_context(trust_env=needed)
    except OSError as error:
        raise ClientSetupError(
            f"SSL_CERT_FILE or SSL_CERT_DIR has no readable certificates: {error}; correct or "
            "unset it"
        ) from error


def _proxy(url: str) -> httpx.Proxy | None:
    found = proxy_of(url)
    if found is None:
        return None
    variable, proxy = found
    if proxy.startswith("socks") and importlib.util.find_spec("socksio") is None:
        raise ClientSetupError(
            f"{variable} names a SOCKS proxy, for which the package socksio is missing: install "
            "it, unset the variable, or add the server to NO_PROXY"
        )
    try:
        return httpx.Proxy(proxy if "://" in proxy else f"http://{proxy}")
    except (ValueError, httpx.InvalidURL) as error:
        # Without the value: it may hold a password.
        raise ClientSetupError(
            f"{variable} is not the URL of a proxy; correct or unset it"
        ) from error


def _cache_missing_module(module: str) -> None:
    """Make the import of a module that is not installed fail immediately.

    httpcore tries to import `sniffio` four times per call, which takes 10 % of its CPU time.
    """
    if module not in sys.modules and importlib.util.find_spec(module) is None:
        sys.modules[module] = None  # type: ignore[assignment]  # as documented for sys.modules


@dataclass(frozen=True)
class _Server:
    """Parameters of requests: URL, dialect, and a model that replaces that of the request."""

    url: str
    dialect: Dialect
    model: str | None = None


class OpenAiModel:
    """One route of an OpenAI-compatible server."""

    def __init__(
        self,
        connections: Connections,
        url: str,
        calls: CallSettings,
        dialect: DialectSettings = PLAIN,
        *,
        base: str | None = None,
    ) -> None:
        """`base` is the fallback for a server that does not have the route `url`."""
        self._connections = connections
        self._urls = (url,) if base is None else (url, base)
        self._server = _Server(url, Dialect.of(dialect))
        self._calls = calls

    async def complete(self, request: CompletionRequest) -> Answer:
        server = self._server
        for _ in range(_MAX_CHANGES):
            try:
                answer = await self._ask(server, request)
            except UnreadableAnswerError:
                self._remember(server)
                raise
            except ModelError as error:
                changed = await self._changed(server, request, error)
                if changed is None:
                    raise
                server = changed
            else:
                self._remember(server)
                return answer
        return await self._ask(server, request)

    async def is_up(self) -> bool:
        reply = await self._models_reply(self._server.url)
        return reply is not None and reply.status_code < 500

    def _remember(self, server: _Server) -> None:
        before, self._server = self._server, server
        if server != before:
            logger.info(
                "%s of %s: model %s, %s, %s, without %s",
                _path(server.url),
                _path(self._urls[0]),
                server.model or "as configured",
                server.dialect.schema_mode,
                server.dialect.max_tokens,
                ", ".join(sorted(server.dialect.omitted)) or "nothing",
            )

    async def _changed(
        self, server: _Server, request: CompletionRequest, error: ModelError
    ) -> _Server | None:
        """Another form that the server may accept; None if the error suggests none."""
        if isinstance(error, RefusedError) and error.status in (400, 422):
            dialect = server.dialect.adapted(error.message)
            if dialect is not None:
                return replace(server, dialect=dialect)
        misplaced = type(error) is InvalidReplyError or error.status in (200, 400, 404, 405, 422)
        return await self._discovered(server, request, error) if misplaced else None

    async def _discovered(
        self, server: _Server, request: CompletionRequest, error: ModelError
    ) -> _Server | None:
        """The URL and model listed by the server itself; None if they are not new.

        A list can be incomplete: at a new URL, the configured name is tried first.
        """
        url, names = await self.listed()
        asked, model = server.model or request.model, server.model
        if not names:
            # Some servers list no models, or only with another key.
            url = server.url if error.status in (400, 422) else self._urls[-1]
        elif len(names) == 1 and asked not in names:
            model = names[0]
        elif asked not in names and url == server.url:
            listed = ", ".join(names[:_MAX_LISTED_MODELS])
            raise RefusedError(
                f"{error}; {request.model} is not one of its {len(names)} models: {listed}", 404
            ) from error
        found = replace(server, url=url, model=model)
        return found if found != server else None

    async def listed(self) -> tuple[str, list[str]]:
        """The first URL that lists models, and their names; none if no URL does."""
        for url in self._urls:
            if names := await self._model_names(url):
                return url, names
        return self._urls[0], []

    async def _model_names(self, url: str) -> list[str]:
        reply = await self._models_reply(url)
        if reply is None or reply.status_code != 200:
            return []
        try:
            return [str(each["id"]) for each in reply.json()["data"]]
        except (ValueError, LookupError, TypeError):
            return []

    async def _models_reply(self, url: str) -> httpx.Response | None:
        with suppress(TimeoutError, httpx.HTTPError, httpx.InvalidURL):
            async with asyncio.timeout(_DISCOVERY_SECONDS), self._connections.one() as client:
                return await client.get(endpoint(url, "models"))
        return None

    async def _ask(self, server: _Server, request: CompletionRequest) -> Answer:
        # Errors are stored in scores and telemetry, which should not name the hosts of a cluster.
        path = _path(endpoint(server.url))
        try:
            async with asyncio.timeout(self._calls.total_seconds):
                status, headers, body = await self._post(server, request)
        except httpx.ConnectTimeout as error:
            seconds = self._calls.connect_seconds
            raise CallTimeoutError(
                f"{path}: no connection within {seconds:g} s", "connect"
            ) from error
        except (TimeoutError, httpx.TimeoutException) as error:
            seconds = self._calls.total_seconds
            raise CallTimeoutError(f"{path}: no complete answer within {seconds:g} s") from error
        except httpx.DecodingError as error:
            raise InvalidReplyError(f"{path}: reply cannot be decoded: {error}") from error
        except (httpx.HTTPError, httpx.InvalidURL) as error:
            what = str(error) or type(error).__name__
            by = f" via the proxy of {proxy[0]}" if (proxy := proxy_of(server.url)) else ""
            raise UnavailableError(f"{path} cannot be reached{by}: {what}") from error
        if key := self._connections.key:
            # Some servers repeat a rejected key in their message, which is published.
            body = body.replace(key.encode(), "…".encode())
        retry_after = _retry_after(headers)
        if 300 <= status < 400:
            raise failure(status, "redirects are not followed: configure the final address")
        if status >= 300:
            raise failure(status, body.decode(errors="replace"), retry_after)
        return replace(read_completion(body, retry_after), model=server.model)

    async def _post(
        self, server: _Server, request: CompletionRequest
    ) -> tuple[int, Mapping[str, str], bytes]:
        url, key = endpoint(server.url), self._connections.key
        sent: dict[str, Any] = payload(request, server.dialect)
        if server.model is not None:
            sent["model"] = server.model
        headers = {"api-key": key} if key and "/deployments/" in url else {}  # Azure
        async with (
            self._connections.one() as client,
            client.stream("POST", url, json=sent, headers=headers) as reply,
        ):
            body = bytearray()
            async for part in reply.aiter_bytes():
                body += part
                if reply.status_code >= 300 and len(body) > _ERROR_BYTES:
                    break
                if len(body) > BODY_CAP_BYTES:
                    raise InvalidReplyError(f"reply is larger than {BODY_CAP_BYTES} bytes")
            return reply.status_code, reply.headers, bytes(body)


def _path(url: str) -> str:
    return urlsplit(url).path or "/"


def _retry_after(headers: Mapping[str, str]) -> float | None:
    """Seconds of a Retry-After header; its date form is relative to the server's own clock."""
    value = headers.get("retry-after", "")
    seconds = math.nan
    with suppress(ValueError, TypeError, LookupError):
        if value[-1:].isalpha():
            until, now = (parsedate_to_datetime(text) for text in (value, headers["date"]))
            seconds = (until - now).total_seconds()
        else:
            seconds = float(value)
    return min(seconds, _RETRY_AFTER_CAP) if seconds >= 0 else None
