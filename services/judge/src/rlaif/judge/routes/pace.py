"""How fast a route may be called: a token bucket, and the pause that a server asked for."""

from dataclasses import dataclass, field


@dataclass
class Pace:
    """The pace of one route; time is passed in, in seconds of any steady clock.

    Attributes:
        per_second: Calls a second in the long run; None for no limit.
        burst: Calls that may come at once after a quiet time.
    """

    per_second: float | None = None
    burst: int = 4
    _tokens: float = field(default=0.0, init=False)
    _at: float | None = field(default=None, init=False)
    _held_until: float = field(default=float("-inf"), init=False)

    def hold(self, now: float, seconds: float) -> None:
        """The server wants no call for `seconds`."""
        self._held_until = max(self._held_until, now + seconds)

    def held(self, now: float) -> float:
        """Seconds of the server's pause that are left."""
        return max(0.0, self._held_until - now)

    def take(self, now: float) -> float:
        """Take a token: 0 when taken, else the seconds after which to ask again."""
        held = self.held(now)
        if held or self.per_second is None:
            return held
        if self._at is None:
            self._tokens = float(self.burst)
        else:
            self._tokens += (now - self._at) * self.per_second
        self._at = now
        self._tokens = min(self._tokens, float(self.burst))
        if self._tokens < 1:
            return (1 - self._tokens) / self.per_second
        self._tokens -= 1
        return 0.0
