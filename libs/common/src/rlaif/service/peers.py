"""HTTP clients for the project's own services and servers, on this machine or in the cluster.

The proxies of a user's environment are for addresses outside: a request to a peer that went through
one would fail, or send its token to another host.
"""

import ssl
from functools import cache
from typing import Any

import httpx


def peer_client(url: str, **options: Any) -> httpx.AsyncClient:
    """A client for the peer at `url`, and for others with the same scheme.

    It ignores proxies and `.netrc` of the environment. `options` are those of `httpx.AsyncClient`.
    """
    verify = _authorities() if url.startswith("https:") else False
    return httpx.AsyncClient(trust_env=False, verify=verify, **options)


@cache
def _authorities() -> ssl.SSLContext:
    """Those of SSL_CERT_FILE or SSL_CERT_DIR; the public ones where these cannot be read."""
    try:
        return httpx.create_ssl_context()
    except OSError:
        return httpx.create_ssl_context(trust_env=False)
