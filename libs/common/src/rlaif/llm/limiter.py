"""Admission of calls by calls in flight, calls per second, pauses and failures."""

import threading
from dataclasses import dataclass
from typing import Literal

from rlaif.pacing.token_bucket import TokenBucket

TRIAL_POLL_SECONDS = 0.1
"""Interval at which a caller checks whether the trial call has ended."""


@dataclass(frozen=True)
class Held:
    """Reason why a call may not start now, and the seconds until the next check.

    `busy`: calls in flight; `paced`: calls per second; `resting`: failures or a server's request.
    """

    reason: Literal["busy", "resting", "paced"]
    seconds: float


class Limiter:
    """Limits and circuit breaker of one route. Thread-safe; `now` is in monotonic seconds.

    After `failures` in a row no call starts for `pause_seconds`, then one trial call at a time.
    """

    def __init__(
        self,
        *,
        failures: int = 5,
        pause_seconds: float = 3.0,
        per_second: float | None = None,
        burst: float = 4.0,
        max_in_flight: int | None = None,
        shared: "Limiter | None" = None,
    ) -> None:
        """`shared` limits the calls of several routes together, except for their failures."""
        self._lock: threading.RLock = shared._lock if shared else threading.RLock()
        self._shared = shared
        self._max_failures = failures
        self._pause_seconds = pause_seconds
        self._bucket = TokenBucket(per_second, burst, burst) if per_second is not None else None
        self._max_in_flight = max_in_flight
        self._in_flight = 0
        self._failures = 0
        self._until: float | None = None
        self._on_trial = False

    @property
    def open(self) -> bool:
        return self._until is not None

    def resting(self, now: float) -> float:
        """Seconds until a call may start after failures; 0 if it may start now."""
        if self._until is None:
            return 0.0
        if now < self._until:
            return self._until - now
        return TRIAL_POLL_SECONDS if self._on_trial else 0.0

    def held(self, now: float) -> Held | None:
        with self._lock:
            both = (self, self._shared) if self._shared else (self,)
            if any(each._is_full for each in both):
                return Held("busy", TRIAL_POLL_SECONDS)
            if seconds := self.resting(now):
                return Held("resting", seconds)
            if seconds := max(each._bucket.wait(now) if each._bucket else 0.0 for each in both):
                return Held("paced", seconds)
        return None

    def enter(self, now: float) -> Held | None:
        """Start a call unless it is held; `leave` must follow."""
        with self._lock:
            if (held := self.held(now)) is not None:
                return held
            self._on_trial = self._until is not None
            for each in (self, self._shared) if self._shared else (self,):
                each._in_flight += 1
                if each._bucket is not None:
                    each._bucket.spend(1)
        return None

    def leave(self) -> None:
        """End a call; without `succeeded` or `failed` its outcome is not counted."""
        with self._lock:
            self._on_trial = False
            for each in (self, self._shared) if self._shared else (self,):
                each._in_flight -= 1

    def succeeded(self) -> None:
        with self._lock:
            self._failures, self._until, self._on_trial = 0, None, False

    def failed(self, now: float) -> None:
        with self._lock:
            self._failures += 1
            if self._failures >= self._max_failures:
                self._until = now + self._pause_seconds

    def rest(self, now: float, seconds: float) -> None:
        """Start no call for `seconds`, as the server requested; then one trial call."""
        with self._lock:
            self._until = max(self._until or now, now + seconds)

    @property
    def _is_full(self) -> bool:
        return self._max_in_flight is not None and self._in_flight >= self._max_in_flight
