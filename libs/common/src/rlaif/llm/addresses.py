"""Addresses of OpenAI-compatible servers: endpoints below a base URL, and what they are behind."""

import ipaddress
import os
import re
import urllib.request
from urllib.parse import urlsplit, urlunsplit

from rlaif.network.addresses import is_own_address

_VERSION = re.compile(r"v\d+(?:alpha|beta)?\d*")


def endpoint(url: str, name: str = "chat/completions") -> str:
    """An endpoint below a base URL, with or without a version such as `/v1` in its path.

    A query is kept, as Azure's `?api-version=…`; an address of the chat endpoint is one already.
    """
    parts = urlsplit(url)
    path = parts.path.rstrip("/").removesuffix("/chat/completions")
    if not _is_versioned(path):
        path += "/v1"
    return urlunsplit(parts._replace(path=f"{path}/{name}"))


def routed(base: str, route: str) -> tuple[str, str | None]:
    """(URL of a route below a gateway's base URL, the base URL if that may be the server itself).

    A base URL with a version that is not at its end, or with a query, has no routes below it.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    plain = path.removesuffix("/v1")
    if parts.query or _is_versioned(plain):
        return base, None
    return urlunsplit(parts._replace(path=plain + route)), base


def proxy_of(url: str) -> tuple[str, str] | None:
    """(variable of the environment, proxy) that a request to `url` goes by; None for none.

    Our own addresses need none, whatever the environment says.
    """
    parts = urlsplit(url)
    host = parts.hostname or ""
    found = urllib.request.getproxies_environment()
    scheme = next((name for name in (parts.scheme, "all") if found.get(name)), None)
    if scheme is None or is_own_address(url) or _bypasses(host, found.get("no", ""), url):
        return None
    name = f"{scheme}_proxy"
    return (name if os.environ.get(name) else name.upper()), found[scheme]


def _is_versioned(path: str) -> bool:
    parts = path.split("/")
    return "deployments" in parts or any(_VERSION.fullmatch(part) for part in parts)


def _bypasses(host: str, listed: str, url: str) -> bool:
    """Whether NO_PROXY names a host: by a suffix, by itself, or by a network that it is in."""
    if urllib.request.proxy_bypass(urlsplit(url).netloc.rpartition("@")[2]):
        return True
    address = _address(host)
    for entry in listed.split(","):
        try:
            if address is not None and address in ipaddress.ip_network(entry.strip(), strict=False):
                return True
        except ValueError:
            continue  # a name
    return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
