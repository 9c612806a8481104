"""A route to one language model: retries, a circuit breaker, a limit of calls, and its health."""

import asyncio
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

from rlaif.judge.breaker import Breaker
from rlaif.judge.ports import (
    Answer,
    CompletionRequest,
    FaultyReplyError,
    LanguageModel,
    ModelError,
    OutageError,
    UnavailableError,
)

FailureHook = Callable[[ModelError, float], Awaitable[None]]
"""Told of every failed attempt and how many seconds it took."""


@dataclass(frozen=True)
class RetryPolicy:
    """How often one call is tried again inside the route, before the whole event is.

    Attributes:
        attempts: Tries of one call, the first included.
        base_seconds: Wait before the second try; doubles.
        longest_wait_seconds: A server that asks for more is believed, and the call gives up.
    """

    attempts: int = 3
    base_seconds: float = 0.25
    longest_wait_seconds: float = 5.0

    def wait(self, attempt: int, asked: float | None) -> float | None:
        """Seconds before try number `attempt` + 1, or None to give up."""
        if attempt >= self.attempts:
            return None
        wait = self.base_seconds * 2 ** (attempt - 1) if asked is None else asked
        return wait if wait <= self.longest_wait_seconds else None


@dataclass
class RouteHealth:
    """What a route went through since the service started."""

    calls: int = 0
    failures: int = 0
    last_error: str | None = None
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=200))

    def p50_seconds(self) -> float | None:
        """Median of the last 200 answers; None before the first."""
        return median(self.latencies) if self.latencies else None


class Route:
    """One language model with the manners to call it."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        *,
        slots: asyncio.Semaphore,
        retry: RetryPolicy = RetryPolicy(),
        breaker: Breaker | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
    ) -> None:
        """Call `model`, at most as many times at once as `slots` (shared by all routes) allows."""
        self.name = name
        self.health = RouteHealth()
        self._model = model
        self._slots = slots
        self._retry = retry
        self._breaker = breaker or Breaker()
        self._clock = clock
        self._sleep = sleep

    @property
    def resting(self) -> float:
        """Seconds for which the breaker keeps calls back; 0 when the route may be used."""
        return self._breaker.wait(self._clock())

    async def complete(
        self, request: CompletionRequest, *, failed: FailureHook
    ) -> tuple[Answer, float]:
        """Ask until answered or given up.

        Returns:
            The answer, and the seconds that its own call took.

        Raises:
            OutageError: Still failing after the retries, or the route rests.
            FaultyReplyError: This call gave nothing to read; not tried again here.
        """
        attempt = 0
        while True:
            attempt += 1
            try:
                return await self._once(request, failed)
            except OutageError as error:
                wait = self._retry.wait(attempt, error.retry_after)
                if wait is None or self.resting:
                    raise
            # The slot is free while this call waits.
            await self._sleep(wait)

    async def _once(self, request: CompletionRequest, failed: FailureHook) -> tuple[Answer, float]:
        async with self._slots:
            rest = self.resting
            if rest:
                raise UnavailableError(f"route {self.name} rests for {rest:.0f} s", rest)
            started = self._clock()
            try:
                answer = await self._model.complete(request)
            except ModelError as error:
                seconds = self._clock() - started
                self._note_failure(error)
                await failed(error, seconds)
                raise
            seconds = self._clock() - started
            self.health.calls += 1
            self.health.latencies.append(seconds)
            self._breaker.succeeded()
            return answer, seconds

    def _note_failure(self, error: ModelError) -> None:
        self.health.calls += 1
        self.health.failures += 1
        self.health.last_error = str(error)
        if isinstance(error, FaultyReplyError):
            self._breaker.succeeded()
        elif isinstance(error, OutageError):
            self._breaker.failed(self._clock(), error.retry_after)
