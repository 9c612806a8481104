"""A token bucket: a limited average rate with a small burst after idle time."""

from dataclasses import dataclass


@dataclass
class TokenBucket:
    """Fills with `per_second` up to `burst`; `now` is in seconds of any monotonic clock."""

    per_second: float
    burst: float
    tokens: float
    _at: float | None = None

    def level(self, now: float) -> float:
        if self._at is not None:
            self.tokens += (now - self._at) * self.per_second
        self._at = now
        self.tokens = min(self.tokens, self.burst)
        return self.tokens

    def wait(self, now: float) -> float:
        missing = 1 - self.level(now)
        if missing <= 0:
            return 0.0
        return missing / self.per_second if self.per_second else float("inf")

    def take(self, now: float) -> float:
        """Take one token and return 0, or return the seconds until one is available."""
        wait = self.wait(now)
        self.tokens -= not wait
        return wait

    def spend(self, tokens: float) -> None:
        """Take tokens for work already done; the level stays at least 0."""
        self.tokens = max(0.0, self.tokens - tokens)
