"""How many segments may be captured now: what the judges can take, not what PPO can make."""

from rlaif.pacing.token_bucket import TokenBucket

BURST_MINUTES = 0.1
"""Share of a minute's segments that may be captured at once."""


class CaptureBudget:
    """A token bucket that closes while `backlog_limit` segments wait behind the trainer."""

    def __init__(self, per_minute: float, backlog_limit: int) -> None:
        self._backlog_limit = backlog_limit
        # After a pause the judges are not flooded, and segments come from many episodes.
        burst = max(1.0, per_minute * BURST_MINUTES)
        self._bucket = TokenBucket(per_minute / 60.0, burst, tokens=1.0)

    def grant(self, now: float, backlog: int | None) -> int:
        """Segments that may be captured from `now` on; an unknown backlog grants none."""
        tokens = int(self._bucket.level(now))
        if backlog is None:
            return 0
        return max(0, min(tokens, self._backlog_limit - backlog))

    def spend(self, segments: int) -> None:
        """Take tokens for segments that were captured."""
        self._bucket.spend(segments)
