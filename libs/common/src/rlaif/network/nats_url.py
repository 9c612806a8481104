"""Parser of `NATS_URL`: servers, and one user, password or token for all of them.

Unlike the standard URL parser it accepts `/`, `#` and `?` in a password, and never shows one.
"""

import re
from dataclasses import dataclass, field
from urllib.parse import unquote

DEFAULT_SERVER = "nats://127.0.0.1:4222"

_SCHEME = re.compile(r"(\w+)://", re.ASCII)
_SERVER_BEGINS = re.compile(r",\s*(?=(?:nats|tls)://)", re.ASCII | re.IGNORECASE)
_HOST = re.compile(r"(?P<host>\[[\da-f:.]+\]|[^\s:/?#@\[\]]+)(?::(?P<port>\d{1,5}))?/?", re.I)


@dataclass(frozen=True)
class NatsAddress:
    """Servers as `nats://host:port` without credentials, and the credentials."""

    servers: tuple[str, ...]
    user: str | None = field(default=None, repr=False)
    password: str | None = field(default=None, repr=False)
    token: str | None = field(default=None, repr=False)

    @property
    def tls_only(self) -> bool:
        return any(each.startswith("tls://") for each in self.servers)

    def __str__(self) -> str:
        return ", ".join(each.partition("//")[2] for each in self.servers)


def parse_nats_url(text: str) -> NatsAddress:
    """Parse comma-separated URLs; the first credentials are those of all servers.

    Credentials are percent-decoded. An empty text selects the default.

    Raises:
        ValueError: No valid server; the message does not contain the value.
    """
    servers: list[str] = []
    found: set[str] = set()
    for chunk in _SERVER_BEGINS.split(text.strip().strip(",") or DEFAULT_SERVER):
        scheme = _SCHEME.match(chunk)
        kind = scheme[1].lower() if scheme else "nats"
        credentials, hosts = _divide(chunk[scheme.end() :] if scheme else chunk)
        if credentials:
            found.add(credentials)
        for host in filter(None, map(str.strip, hosts.split(","))):
            match = _HOST.fullmatch(host)
            port = int(match["port"] or 4222) if match else 0
            if match is None or kind not in ("nats", "tls") or not 0 < port < 65_536:
                raise ValueError(
                    f"server {len(servers) + 1} is invalid; write nats://user:password@host:4222"
                    " or tls://…, and an IPv6 address in brackets"
                )
            servers.append(f"{kind}://{match['host']}:{port}")
    if not servers or len(found) > 1:
        raise ValueError(
            "its servers have different users; those of one cluster must be equal"
            if servers
            else "names no server; write nats://user:password@host:4222"
        )
    user, colon, password = found.pop().partition(":") if found else ("", "", "")
    if colon:
        return NatsAddress(tuple(servers), user=_decoded(user), password=_decoded(password))
    return NatsAddress(tuple(servers), token=_decoded(user) or None)


def _divide(chunk: str) -> tuple[str, str]:
    """Split the text after one scheme into credentials and hosts."""
    # "u:p@h1,u:p@h2": credentials are repeated before each host, not part of the password.
    parts = [each.strip().rpartition("@") for each in chunk.split(",")]
    if len({credentials for credentials, _, _ in parts}) == 1:
        return parts[0][0], ",".join(host for _, _, host in parts)
    credentials, _, hosts = chunk.rpartition("@")
    return credentials, hosts


def _decoded(text: str) -> str:
    try:
        return unquote(text, errors="strict")
    except UnicodeDecodeError:
        return text
