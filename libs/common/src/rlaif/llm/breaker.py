"""A circuit breaker: after failures in a row a route rests, then one call at a time tries it."""

from dataclasses import dataclass, field

from rlaif.llm.settings import BreakerSettings

PROBE_POLL_SECONDS = 0.1
"""How often a call looks whether the one that tries the route has ended."""


@dataclass
class Breaker:
    """The state of one route; time is passed in, in seconds of any steady clock."""

    settings: BreakerSettings = field(default_factory=BreakerSettings)
    _failures: int = field(default=0, init=False)
    _until: float | None = field(default=None, init=False)
    _probing: bool = field(default=False, init=False)

    @property
    def open(self) -> bool:
        """Whether the route is taken for broken: it rests, or is being tried."""
        return self._until is not None

    def wait(self, now: float) -> float:
        """Seconds until a call may be tried; 0 when it may be now."""
        if self._until is None:
            return 0.0
        if now < self._until:
            return self._until - now
        return PROBE_POLL_SECONDS if self._probing else 0.0

    def enter(self) -> None:
        """A call begins; the first after a rest keeps the others back until it ends."""
        if self._until is not None:
            self._probing = True

    def succeeded(self) -> None:
        """The route answered: it is well again."""
        self._failures = 0
        self._until = None
        self._probing = False

    def failed(self, now: float) -> None:
        """The route did not answer; a failure right after a rest starts another."""
        self._failures += 1
        self._probing = False
        if self._failures >= self.settings.failures:
            self._until = now + self.settings.pause_seconds

    def rest(self, now: float, seconds: float) -> None:
        """The server itself wants no call for so long; then one call tries it first."""
        self._probing = False
        self._until = max(self._until or now, now + seconds)

    def abandoned(self) -> None:
        """A call ended without telling anything of the route, such as by being cancelled."""
        self._probing = False
