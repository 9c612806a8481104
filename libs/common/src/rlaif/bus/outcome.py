"""Exceptions by which a handler rejects or postpones an event.

A normal return acknowledges it. Any other exception is treated as a `Suspect`, so a bug neither
loses an event nor repeats it forever.
"""

from datetime import timedelta


class Outcome(Exception):
    """Base class of the outcomes other than success."""


class Retry(Outcome):
    """Redeliver the event after `after` plus jitter; None for the worker's back-off."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


class Suspect(Outcome):
    """Retry a few times: the cause, such as a missing object, may be transient or permanent.

    Attempts are counted in the event, across all workers and restarts. `reason` is a stable code,
    `detail` a sentence with the fix, and `tries` a limit that replaces `max_attempts`.
    """

    def __init__(self, reason: str, detail: str, *, tries: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.tries = tries


class Reject(Outcome):
    """Write a dead letter immediately and never redeliver the event."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
