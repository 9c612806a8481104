"""W3C trace context: a segment is one trace from its capture to its score."""

import re
import secrets

_TRACEPARENT = re.compile(r"^00-([0-9a-f]{32})-[0-9a-f]{16}-([0-9a-f]{2})$")


def next_traceparent(cause: str | None) -> str:
    """The `traceparent` of an event that follows from `cause`.

    Args:
        cause: The `traceparent` of the event that led to this one, or None.

    Returns:
        The same trace with a new span; a new, sampled trace when there is no readable cause.
    """
    match = _TRACEPARENT.match(cause or "")
    trace, flags = match.groups() if match else (secrets.token_hex(16), "01")
    return f"00-{trace}-{secrets.token_hex(8)}-{flags}"
