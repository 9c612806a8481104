"""A route to one language model: its pace, retries, a circuit breaker, deadlines, and its health.

A call that may not go now waits here for a little, inside its event: one call tries the route after
each rest, and the first answer lets all others go. Whether a failure is the route's or the
request's own, and whether the route is in use at all, is the examiner's to say.
"""

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

from rlaif.judge.routes.examining import Examination, Examiner
from rlaif.judge.settings import RouteSettings
from rlaif.llm.breaker import Breaker
from rlaif.llm.pace import RoutePace
from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    FaultyReplyError,
    InvalidReplyError,
    LanguageModel,
    Modality,
    ModelError,
    OutageError,
    RefusedError,
    RouteWaitsError,
    ThrottledError,
    UnreadableAnswerError,
)
from rlaif.llm.settings import BreakerSettings
from rlaif.pacing.backoff import backoff

OnFailure = Callable[[ModelError, float], Awaitable[None]]
"""Called after every failed attempt, with its seconds."""

_LATE_CALLS = 2
"""Calls that may continue after their deadline, to learn whether the route is slow or dead."""

_TIMES_SLOWEST = 4.0
"""A call gets this many times the slowest of the last answers."""


@dataclass(frozen=True)
class RetryWaits:
    """How long a call waits inside the route before it is tried again.

    Attributes:
        base_seconds: Wait before the second try; doubles, and half of it is jitter.
        longest_seconds: A server that asks for more is believed, and the call gives up.
        patience_seconds: How long a call waits for a route that rests or is held. Higher: fewer
            deliveries, more segments' places taken by one route.
    """

    base_seconds: float = 0.25
    longest_seconds: float = 5.0
    patience_seconds: float = 20.0

    def wait(self, attempt: int, asked: float | None, jitter: float) -> float | None:
        """Seconds before try number `attempt` + 1, or None to give up; `jitter` is in [0, 1)."""
        wait = backoff(attempt, base=self.base_seconds) if asked is None else asked
        if wait > self.longest_seconds:
            return None
        # Never before the server's time; else anywhere in the second half of the wait.
        return wait * (0.5 + 0.5 * jitter) if asked is None else wait * (1 + 0.1 * jitter)


@dataclass(frozen=True)
class RouteLimits:
    """How a route may be called.

    Attributes:
        burst: Calls that may come at once after a quiet time.
        probe_seconds: Deadline of a call that tries a resting route. Short, because each one that
            hangs delays the recovery; a late answer counts nevertheless.
    """

    calls: RouteSettings = field(default_factory=RouteSettings)
    breaker: BreakerSettings = field(default_factory=BreakerSettings)
    waits: RetryWaits = RetryWaits()
    burst: int = 4
    probe_seconds: float = 3.0


@dataclass
class RouteHealth:
    """What a route went through since the service started."""

    calls: int = 0
    failures: int = 0
    retries: int = 0
    last_error: str | None = None
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=200))

    def p50_seconds(self) -> float | None:
        """Median of the last 200 answers; None before the first."""
        return median(self.latencies) if self.latencies else None

    def slowest_seconds(self) -> float | None:
        """Slowest of the last 20 answers; None before the first."""
        return max(list(self.latencies)[-20:], default=None)


class Route:
    """One language model with the manners to call it."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        limits: RouteLimits = RouteLimits(),
        *,
        examination: Examination | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """Without an `examination` a failure is the route's, or the call's own when refused."""
        self.name = name
        self.health = RouteHealth()
        self._model = model
        self._limits = limits
        self._slots = asyncio.Semaphore(limits.calls.concurrency)
        self._breaker = Breaker(limits.breaker)
        self._pace = RoutePace(limits.calls.per_second, limits.burst)
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._late: set[asyncio.Task[Answer]] = set()
        self.examiner: Examiner | None = None
        if examination is not None:
            self.examiner = Examiner(
                name,
                model,
                examination,
                deadline=self.deadline,
                slowest=self.health.slowest_seconds,
                on_answer=self._note_answer,
                clock=clock,
                sleep=sleep,
            )

    @property
    def resting(self) -> float:
        """Seconds for which calls are kept back; 0 when the route may be used."""
        now = self._clock()
        return max(self._breaker.wait(now), self._pace.held(now))

    def deadline(self) -> float:
        """Seconds that a call may take now.

        A fixed deadline that suits a slow model waits far too long for a dead fast one: it follows
        the slowest of the last answers.
        """
        slowest, calls = self.health.slowest_seconds(), self._limits.calls
        if slowest is None:
            return calls.total_seconds
        return min(calls.total_seconds, max(calls.least_seconds, _TIMES_SLOWEST * slowest))

    async def complete(
        self, request: CompletionRequest, *, on_failure: OnFailure, once: bool = False
    ) -> tuple[Answer, float]:
        """The answer and the seconds of its own call; asks until answered or given up.

        With `once` there is one attempt, at once or not at all: for what no score waits for.

        Raises:
            OutageError: Still failing after the retries, or the route rests for too long.
            FaultyReplyError: This call gave nothing to read, or is refused, or fails alone.
            BrokenRouteError: The route is out of use.
        """
        attempt, began = 0, self._clock()
        while True:
            attempt += 1
            try:
                return await self._once(request, on_failure, once)
            except RouteWaitsError:
                raise
            except (OutageError, InvalidReplyError, RefusedError) as error:
                outage = isinstance(error, OutageError)
                wait = self._wait(attempt, error) if outage and not once else None
                if wait is None:
                    unread = isinstance(error, UnreadableAnswerError)
                    if self.examiner is None or (once and (outage or unread)):
                        raise
                    raise await self.examiner.blame(request, error, began) from error
            self.health.retries += 1
            # The slot is free while this call waits.
            await self._sleep(wait)

    def broken(self, modality: Modality) -> str | None:
        """Why the route is out of use for a kind of request, in one sentence; None if it is not."""
        return self.examiner.broken(modality) if self.examiner is not None else None

    def is_well(self, modality: Modality) -> bool:
        """Whether it answered before and nothing is known against a request of this kind now."""
        return self.examiner is None or self.examiner.is_well(modality)

    def voted(self, lost: UnreadableAnswerError | None) -> ModelError | None:
        """Note a vote; gives what a lost one is to end in, None when it is its own fault."""
        return self.examiner.voted(lost) if self.examiner is not None else None

    def _wait(self, attempt: int, error: ModelError) -> float | None:
        if attempt >= self._limits.calls.attempts:
            return None
        asked = error.retry_after if isinstance(error, OutageError) else None
        return self._limits.waits.wait(attempt, asked, self._jitter())

    async def _once(
        self, request: CompletionRequest, on_failure: OnFailure, once: bool
    ) -> tuple[Answer, float]:
        patience = self._limits.waits.patience_seconds
        while True:
            async with self._slots:
                if self.examiner is not None:
                    self.examiner.gate(request)
                wait = self._admit()
                if not wait:
                    return await self._call(request, on_failure)
            # What no score waits for waits for its turn, and for no route to get well.
            if wait > patience or (once and self.resting):
                raise RouteWaitsError(f"route {self.name} rests for {wait:.0f} s", wait)
            patience -= wait
            await self._sleep(wait)

    def _admit(self) -> float:
        """0 when a call may begin now, else the seconds after which to ask again."""
        now = self._clock()
        wait = self._breaker.wait(now) or self._pace.claim(now)
        if not wait:
            self._breaker.enter()
        return wait

    async def _call(
        self, request: CompletionRequest, on_failure: OnFailure
    ) -> tuple[Answer, float]:
        started = self._clock()
        if self.examiner is not None:
            self.examiner.began()
        try:
            answer = await self._in_time(request, started)
            request.check(answer)
        except ModelError as error:
            if isinstance(error, UnreadableAnswerError):
                self.health.latencies.append(self._clock() - started)
            self._note_failure(error)
            self._note_end(request, error)
            await on_failure(error, self._clock() - started)
            raise
        except BaseException as error:
            self._breaker.abandoned()
            self._note_end(request, error)
            raise
        seconds = self._clock() - started
        self.health.calls += 1
        self._note_answer(seconds)
        self._note_end(request, None)
        return answer, seconds

    def _note_end(self, request: CompletionRequest, error: BaseException | None) -> None:
        if self.examiner is not None:
            self.examiner.ended(request, error)

    async def _in_time(self, request: CompletionRequest, started: float) -> Answer:
        """Call within the deadline; a few late calls live on: a slow route is no dead one."""
        task = asyncio.ensure_future(self._model.complete(request))
        deadline = self.deadline()
        if self._breaker.open:
            deadline = min(deadline, self._limits.probe_seconds)
        try:
            await asyncio.wait({task}, timeout=deadline)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        if len(self._late) < _LATE_CALLS:
            self._late.add(task)
            task.add_done_callback(lambda done: self._late_end(done, request, started))
        else:
            task.cancel()
        raise CallTimeoutError(f"route {self.name} gave no answer in {deadline:.1f} s")

    def _late_end(
        self, task: "asyncio.Task[Answer]", request: CompletionRequest, started: float
    ) -> None:
        self._late.discard(task)
        # Also marks an error as seen; its call was counted when the deadline passed.
        if not task.cancelled() and task.exception() is None:
            self._note_answer(self._clock() - started)
            with contextlib.suppress(UnreadableAnswerError):
                request.check(task.result())
                if self.examiner is not None:
                    self.examiner.answered(request)

    def _note_answer(self, seconds: float) -> None:
        self.health.latencies.append(seconds)
        self._breaker.succeeded()

    def _note_failure(self, error: ModelError) -> None:
        self.health.calls += 1
        self.health.failures += 1
        self.health.last_error = str(error)
        now = self._clock()
        if isinstance(error, FaultyReplyError):
            self._breaker.succeeded()
        elif isinstance(error, ThrottledError) and error.retry_after is not None:
            # The server is alive and says when: its word, not the breaker's guess.
            self._pace.hold(now, error.retry_after)
            self._breaker.rest(now, error.retry_after)
        elif isinstance(error, OutageError):
            if error.retry_after:
                self._pace.hold(now, error.retry_after)
            self._breaker.failed(now)

    async def close(self) -> None:
        """End the calls that are still under way."""
        for task in list(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        if self.examiner is not None:
            await self.examiner.close()
