"""Answers of a handler for an event: it returns, or it raises one of these.

A return acknowledges. Any other exception is treated as a `Suspect`, so a bug neither loses an
event nor repeats it forever.
"""

from datetime import timedelta


class Outcome(Exception):
    """Base of the answers that are not "done"."""


class Retry(Outcome):
    """Deliver the event again, after `after` plus jitter; None: the worker's back-off."""

    def __init__(self, reason: str, after: timedelta | None = None) -> None:
        super().__init__(reason)
        self.reason = reason
        self.after = after


class Suspect(Outcome):
    """Retry a few times: the cause may pass, or the event may be at fault.

    Such as a missing object. Attempts are counted in the event, over all workers and restarts.
    `reason` is a stable code, `detail` a sentence with the remedy; `tries` None: `max_attempts`.
    """

    def __init__(self, reason: str, detail: str, *, tries: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.tries = tries


class Reject(Outcome):
    """Reject the event: write a dead letter at once and never deliver it again."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
