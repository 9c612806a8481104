"""HTTP clients for own services and servers, without the proxies of the environment."""

import ssl
from functools import cache
from typing import Any

import httpx


def peer_client(url: str, **options: Any) -> httpx.AsyncClient:
    """A client for URLs of this scheme that ignores proxies and `.netrc`."""
    verify = _authorities() if url.startswith("https:") else False
    return httpx.AsyncClient(trust_env=False, verify=verify, **options)


@cache
def _authorities() -> ssl.SSLContext:
    try:
        return httpx.create_ssl_context()
    except OSError:
        return httpx.create_ssl_context(trust_env=False)
