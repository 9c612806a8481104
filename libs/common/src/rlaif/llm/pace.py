"""How fast a route may be called: a token bucket, and the pause that a server asked for."""

from dataclasses import dataclass, field

from rlaif.pacing.token_bucket import TokenBucket


@dataclass
class RoutePace:
    """The pace of one route, without limit by default; time is in seconds of any steady clock."""

    per_second: float | None = None
    burst: int = 4
    _bucket: TokenBucket | None = field(default=None, init=False)
    _held_until: float = field(default=float("-inf"), init=False)

    def hold(self, now: float, seconds: float) -> None:
        """The server wants no call for `seconds`."""
        self._held_until = max(self._held_until, now + seconds)

    def held(self, now: float) -> float:
        """Seconds of the server's pause that are left."""
        return max(0.0, self._held_until - now)

    def claim(self, now: float) -> float:
        """Claim a call: 0 when it may go, else the seconds after which to ask again."""
        held = self.held(now)
        if held or self.per_second is None:
            return held
        if self._bucket is None:
            self._bucket = TokenBucket(self.per_second, self.burst, self.burst)
        return self._bucket.take(now)
