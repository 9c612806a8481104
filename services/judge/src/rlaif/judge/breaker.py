"""A circuit breaker: after failures in a row a route rests before it is called again."""

from dataclasses import dataclass, field


@dataclass
class Breaker:
    """The state of one route; time is passed in, in seconds of any steady clock.

    Attributes:
        limit: Failures in a row after which the route rests. Higher: more calls into an outage.
        pause: Seconds of rest. Higher: fewer calls into an outage, later recovery.
    """

    limit: int = 5
    pause: float = 15.0
    _failures: int = field(default=0, init=False)
    _until: float | None = field(default=None, init=False)

    def wait(self, now: float) -> float:
        """Seconds until a call may be tried; 0 when it may be now."""
        return 0.0 if self._until is None else max(0.0, self._until - now)

    def succeeded(self) -> None:
        """The route answered: it is well again."""
        self._failures = 0
        self._until = None

    def failed(self, now: float, retry_after: float | None = None) -> None:
        """The route did not answer; a failure right after a rest starts another."""
        self._failures += 1
        if self._failures >= self.limit:
            self._until = now + max(self.pause, retry_after or 0.0)
