"""How a handler answers for an event: it returns, or it raises one of these.

    Outcome
    ├── Retry     try again later; the event is not at fault
    ├── Suspect   try again a few times; then the event goes to the dead letters
    └── Reject    never again; the event goes to the dead letters

A plain return acknowledges. Any other exception is treated as a `Suspect`, so a bug neither loses
an event nor spins on it.
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
    """Try again a few times, for what may pass and may be the event's own fault.

    Such as an object that the store does not have: perhaps it comes late, perhaps it was deleted.
    Tries are counted in the event, so neither a restart nor another worker starts from zero.

    `reason` is a stable word for machines, such as `missing_object`; `detail` one sentence that
    says what, why and how to fix it. There are `tries` attempts, `max_attempts` if
    None.
    """

    def __init__(self, reason: str, detail: str, *, tries: int | None = None) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
        self.tries = tries


class Reject(Outcome):
    """Give the event up: write a dead letter, as for `Suspect`, and never deliver it again."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(f"{reason}: {detail}")
        self.reason = reason
        self.detail = detail
