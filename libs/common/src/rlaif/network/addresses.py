"""Classifies addresses, and masks credentials in URLs."""

import ipaddress
import re
from urllib.parse import urlsplit

_OWN_SUFFIXES = (".localhost", ".svc", ".cluster.local", ".internal")
"""Domains of this machine, of Kubernetes clusters, and of container hosts."""


def is_own_address(url: str) -> bool:
    """Whether the host is this machine, or a service in the same cluster or stack.

    Proxies are not used for these. A name without a dot belongs to a cluster or container network.
    """
    host = host_of(url)
    try:
        address = ipaddress.ip_address(host)
    except ValueError:
        return bool(host) and ("." not in host or host.endswith(_OWN_SUFFIXES))
    return address.is_loopback or address.is_unspecified


def host_of(url: str) -> str:
    """Name or address of the host in a URL or `host:port`, in lower case; empty if it has none."""
    try:
        return (urlsplit(url if "//" in url else f"//{url}").hostname or "").rstrip(".")
    except ValueError:
        return ""


def is_address(host: str) -> bool:
    """Whether `host` is an IP address, not a name."""
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def is_http_url(url: str) -> bool:
    """Whether `url` is an address that an HTTP client can use."""
    try:
        parts = urlsplit(url)
        return parts.scheme in ("http", "https") and bool(parts.hostname) and parts.port != 0
    except ValueError:
        return False


def without_credentials(text: str) -> str:
    """Mask the credentials of URLs: everything from `//` to the last `@`."""
    return re.sub(r"//.*@", "//***@", text, flags=re.DOTALL)
