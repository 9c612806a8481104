"""How many segments may be captured now: what the judges can take, not what PPO can make."""

from dataclasses import dataclass

BURST_MINUTES = 0.1
"""Share of a minute's segments that may be captured at once."""


@dataclass
class CaptureBudget:
    """A token bucket that closes while the queue behind it is long.

    Attributes:
        per_minute: Tokens that arrive a minute.
        backlog_limit: Segments waiting behind the trainer at which nothing is granted.
    """

    per_minute: float
    backlog_limit: int
    _tokens: float = 1.0
    _at: float | None = None

    def grant(self, now: float, backlog: int | None) -> int:
        """Segments that may be captured from now on.

        Args:
            now: Monotonic seconds.
            backlog: Segments that wait in spool, exporter and judge; None when unknown, then
                nothing is granted.
        """
        if self._at is not None:
            self._tokens += (now - self._at) * self.per_minute / 60.0
        self._at = now
        # After a pause the judges are not flooded, and segments come from many episodes.
        self._tokens = min(self._tokens, max(1.0, self.per_minute * BURST_MINUTES))
        if backlog is None:
            return 0
        return max(0, min(int(self._tokens), self.backlog_limit - backlog))

    def spend(self, segments: int) -> None:
        """Take tokens for segments that were captured."""
        self._tokens = max(0.0, self._tokens - segments)
