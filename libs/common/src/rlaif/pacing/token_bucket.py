"""A token bucket: a steady rate in the long run, and a small burst after a quiet time."""

from dataclasses import dataclass


@dataclass
class TokenBucket:
    """Tokens that arrive steadily, up to `burst`, and are spent one by one; time is passed in."""

    per_second: float
    burst: float
    tokens: float
    _at: float | None = None

    def level(self, now: float) -> float:
        """Tokens in it at `now`, seconds of any steady clock."""
        if self._at is not None:
            self.tokens += (now - self._at) * self.per_second
        self._at = now
        self.tokens = min(self.tokens, self.burst)
        return self.tokens

    def take(self, now: float) -> float:
        """Take one token: 0 when taken, else the seconds until there is one."""
        missing = 1 - self.level(now)
        if missing > 0:
            return missing / self.per_second if self.per_second else float("inf")
        self.tokens -= 1
        return 0.0

    def spend(self, tokens: float) -> None:
        """Take tokens for what was done already; the bucket is never in debt."""
        self.tokens = max(0.0, self.tokens - tokens)
