"""URLs of OpenAI-compatible servers, and the proxies in front of them."""

import ipaddress
import os
import re
import urllib.request
from urllib.parse import urlsplit, urlunsplit

from rlaif.network.addresses import is_own_address

_VERSION = re.compile(r"v\d+(?:alpha|beta)?\d*")
_CHAT = "/chat/completions"


def endpoint(url: str, name: str = "chat/completions") -> str:
    """The URL of an endpoint; `url` may end with `/v1`, be a chat endpoint, or have a query."""
    parts = urlsplit(url)
    path = parts.path.rstrip("/")
    base = path.removesuffix(_CHAT)
    # A chat endpoint is used as it is: some servers have no version in it.
    version = "/v1" if base == path and not _is_versioned(path) else ""
    return urlunsplit(parts._replace(path=f"{base}{version}/{name}"))


def routed(base: str, route: str) -> tuple[str, str | None]:
    """(URL of a route of a gateway, its base URL as fallback for a server without routes).

    A chat endpoint, and a base URL with a query or a version before its end, have no routes.
    """
    parts = urlsplit(base)
    path = parts.path.rstrip("/")
    plain = path.removesuffix("/v1")
    if parts.query or path.endswith(_CHAT) or _is_versioned(plain):
        return base, None
    return urlunsplit(parts._replace(path=plain + route)), base


def proxy_of(url: str) -> tuple[str, str] | None:
    """(environment variable, proxy) for a request to `url`; None for a direct connection."""
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
    if urllib.request.proxy_bypass(urlsplit(url).netloc.rpartition("@")[2]):
        return True
    address = _address(host)
    for entry in listed.split(","):
        try:
            if address is not None and address in ipaddress.ip_network(entry.strip(), strict=False):
                return True
        except ValueError:
            continue  # a host name
    return False


def _address(host: str) -> ipaddress.IPv4Address | ipaddress.IPv6Address | None:
    try:
        return ipaddress.ip_address(host)
    except ValueError:
        return None
