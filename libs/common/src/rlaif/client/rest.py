"""Reads JSON from the REST interface of a service, with readable errors."""

import json
from http.client import HTTPException
from typing import Any
from urllib.error import HTTPError
from urllib.parse import urlencode
from urllib.request import ProxyHandler, Request, build_opener

from rlaif.network.addresses import is_http_url, without_credentials

DEFAULT_HUD = "http://127.0.0.1:8086"
"""Default address of the page of `rlaif demo`."""

_TIMEOUT_SECONDS = 30.0
_OPENER = build_opener(ProxyHandler({}))
"""Ignores the proxies of the environment."""


class ClientError(Exception):
    """A request failed; the message has the reason and the fix."""


def get(address: str, path: str, *, wanted: str, **query: Any) -> Any:
    """Get the JSON object at a path below `/api/v1/` of a service; it must have the key `wanted`.

    Raises:
        ClientError: The service is unreachable, or answered with an error.
    """
    shown = without_credentials(address)
    if not is_http_url(address) or shown != address:
        raise ClientError(f"{shown!r} is not an address; use one like {DEFAULT_HUD}")
    given = urlencode({name: value for name, value in query.items() if value is not None})
    url = f"{address.rstrip('/')}/api/v1/{path}?{given}".rstrip("?")
    request = Request(url, headers={"Accept": "application/json"})
    try:
        with _OPENER.open(request, timeout=_TIMEOUT_SECONDS) as answer:
            found = json.load(answer)
        if not isinstance(found, dict) or wanted not in found:
            raise ValueError(f"its answer has no {wanted!r}")
        return found
    except HTTPError as error:
        with error:
            raise ClientError(f"{url}: {_detail(error)}") from error
    except (OSError, HTTPException, ValueError) as error:
        why = getattr(error, "reason", error)
        raise ClientError(
            f"nothing at {address} answers as the page of a pipeline ({why}); start one with "
            "rlaif demo, or name the address that it printed"
        ) from error


def _detail(error: HTTPError) -> str:
    try:
        problem = json.load(error)
        return str(problem.get("detail") or problem["title"])
    except (ValueError, LookupError, AttributeError):
        return f"{error.code} {error.reason}"
