"""For how long a route has owed a sign of life, known before any time-out is over."""

import asyncio
from dataclasses import dataclass, field

from rlaif.llm.ports import CallTimeoutError


@dataclass
class Silence:
    """The calls of one route that are under way; time is passed in, in seconds."""

    _under_way: int = field(default=0, init=False)
    _since: float | None = field(default=None, init=False)

    def called(self, now: float) -> None:
        """A call goes out."""
        self._under_way += 1
        if self._since is None:
            self._since = now

    def ended(self, now: float, error: BaseException | None) -> None:
        """A call ended; what is neither a time-out nor our own leaving is a sign of life."""
        self._under_way -= 1
        if not self._under_way:
            self._since = None
        elif not isinstance(error, CallTimeoutError | asyncio.CancelledError):
            self._since = now

    def seconds(self, now: float) -> float | None:
        """Seconds without a sign of life; None when no call waits for one."""
        return None if self._since is None else now - self._since
