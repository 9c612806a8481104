"""The W3C trace context of the request that is being handled.

https://www.w3.org/TR/trace-context/ version 00: `00-<32 hex trace>-<16 hex span>-<2 hex flags>`.
"""

import re
import secrets
from contextvars import ContextVar, Token

_PATTERN = re.compile(r"^00-(?!0{32})([0-9a-f]{32})-(?!0{16})([0-9a-f]{16})-([0-9a-f]{2})$")

# A context variable is per task, so requests do not see each other's trace.
_current: ContextVar[str | None] = ContextVar("rlaif_traceparent", default=None)


def continue_trace(received: str | None) -> str:
    """A traceparent for our own span: of the received trace when valid, else of a new one."""
    match = _PATTERN.match(received) if received else None
    trace_id, flags = (match[1], match[3]) if match else (secrets.token_hex(16), "01")
    return f"00-{trace_id}-{secrets.token_hex(8)}-{flags}"


def enter_trace(traceparent: str) -> Token[str | None]:
    """Make `traceparent` current for this task; give the token to `leave_trace`."""
    return _current.set(traceparent)


def leave_trace(token: Token[str | None]) -> None:
    """Go back to what was current before `enter_trace`."""
    _current.reset(token)


def current_traceparent() -> str | None:
    """The traceparent of the request or event that is being handled."""
    return _current.get()


def current_trace_id() -> str | None:
    """Its trace id: 32 hexadecimal digits."""
    traceparent = _current.get()
    return traceparent.split("-")[1] if traceparent else None
