"""A route to one language model: limits, deadlines, retries, circuit breaker, cache and health.

By default a call waits for a slot and is retried after an outage; if it still fails, its error says
whether the server or the request is at fault. With `wait=False` it is made immediately or fails.
"""

import asyncio
import contextlib
import random
import time
from collections import deque
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from statistics import median

from rlaif.llm.cache import AnswerCache, Use, request_key
from rlaif.llm.limiter import Limiter
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
from rlaif.llm.probing import Probe, Prober
from rlaif.pacing.backoff import backoff

OnFailure = Callable[[ModelError, float], Awaitable[None]]
"""Called after every failed attempt, with its seconds."""

_TIMES_SLOWEST = 4.0


@dataclass(frozen=True)
class RouteLimits:
    """Limits of the calls of a route; times are in seconds.

    Attributes:
        concurrency: Maximum calls in flight.
        per_second: Maximum sustained calls per second; None for no limit.
        burst: Maximum calls that may start at once after idle time.
        total_seconds: Timeout of one call. Once there are answers, a call gets four times the
            slowest of the last 20, at least `least_seconds`.
        trial_seconds: Timeout of a trial call after a rest, if no recent answer took longer.
            Short, because each timeout delays the recovery; a late answer counts nevertheless.
        attempts: Maximum attempts of one call.
        retry_seconds: Pause before the second attempt; doubles, with jitter.
        max_retry_seconds: Longest pause before an attempt; fail if the server asks for more.
        patience_seconds: How long a call waits for a resting route.
        late_calls: Maximum calls that continue after their deadline, to distinguish a slow server
            from a dead one.
        failures: Failures in a row after which the route rests.
        pause_seconds: Rest of a failing route.
    """

    concurrency: int = 8
    per_second: float | None = None
    burst: float = 4.0
    total_seconds: float = 90.0
    least_seconds: float = 5.0
    trial_seconds: float = 3.0
    attempts: int = 3
    retry_seconds: float = 0.25
    max_retry_seconds: float = 5.0
    patience_seconds: float = 20.0
    late_calls: int = 2
    failures: int = 5
    pause_seconds: float = 3.0

    def limiter(self) -> Limiter:
        """Limiter of this route; callers queue for calls in flight themselves."""
        return Limiter(
            failures=self.failures,
            pause_seconds=self.pause_seconds,
            per_second=self.per_second,
            burst=self.burst,
        )

    def deadline(self, slowest: float | None, total_seconds: float | None = None) -> float:
        """Timeout of a call in seconds, given the slowest of the last answers."""
        total = self.total_seconds if total_seconds is None else total_seconds
        if slowest is None:
            return total
        return min(total, max(self.least_seconds, _TIMES_SLOWEST * slowest))

    def retry_pause(self, attempt: int, error: ModelError, jitter: float) -> float | None:
        """Seconds before the next attempt, or None to give up; `jitter` is in [0, 1)."""
        if attempt >= self.attempts or not isinstance(error, OutageError):
            return None
        asked = error.retry_after
        wait = backoff(attempt, base=self.retry_seconds) if asked is None else asked
        if wait > self.max_retry_seconds:
            return None
        # Never before the time that the server asked for.
        return wait * (0.5 + 0.5 * jitter) if asked is None else wait * (1 + 0.1 * jitter)


@dataclass
class RouteStats:
    """Calls of a route since the start of the process."""

    calls: int = 0
    failures: int = 0
    retries: int = 0
    last_error: str | None = None
    latencies: deque[float] = field(default_factory=lambda: deque(maxlen=200))

    def p50_seconds(self) -> float | None:
        return median(self.latencies) if self.latencies else None

    def slowest_seconds(self) -> float | None:
        return max(list(self.latencies)[-20:], default=None)


@dataclass(frozen=True)
class Completion:
    """An answer, the seconds of its call (0 if another caller made it), and its source."""

    answer: Answer
    seconds: float
    use: Use = "miss"


async def _ignore(error: ModelError, seconds: float) -> None:
    pass


@dataclass(frozen=True)
class _Call:
    request: CompletionRequest
    on_failure: OnFailure
    retry: bool
    total_seconds: float | None


class Route:
    """Calls one language model."""

    def __init__(
        self,
        name: str,
        model: LanguageModel,
        limits: RouteLimits = RouteLimits(),
        *,
        limiter: Limiter | None = None,
        probe: Probe | None = None,
        cache: AnswerCache[str, Completion] | None = None,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], Awaitable[None]] = asyncio.sleep,
        jitter: Callable[[], float] = random.random,
    ) -> None:
        """`limiter` replaces that of the limits. Without a `probe` every rejection is a failure."""
        self.name = name
        self.stats = RouteStats()
        self.limiter = limiter or limits.limiter()
        self._model = model
        self._limits = limits
        self._cache = cache
        self._slots = asyncio.Semaphore(limits.concurrency)
        self._clock = clock
        self._sleep = sleep
        self._jitter = jitter
        self._late: set[asyncio.Task[Answer]] = set()
        self.prober: Prober | None = None
        if probe is not None:
            self.prober = Prober(
                name,
                model,
                probe,
                deadline=self.deadline,
                slowest=self.stats.slowest_seconds,
                on_answer=self._note_answer,
                clock=clock,
                sleep=sleep,
            )

    @property
    def resting(self) -> float:
        return self.limiter.resting(self._clock())

    def deadline(self, total_seconds: float | None = None) -> float:
        return self._limits.deadline(self.stats.slowest_seconds(), total_seconds)

    def broken(self, modality: Modality) -> str | None:
        return self.prober.broken(modality) if self.prober is not None else None

    def is_healthy(self, modality: Modality) -> bool:
        return self.prober is None or self.prober.is_healthy(modality)

    def count_vote(self, lost: UnreadableAnswerError | None) -> ModelError | None:
        """Record a readable or an unreadable answer; see `Prober.count_vote`."""
        return self.prober.count_vote(lost) if self.prober is not None else None

    async def complete(
        self,
        request: CompletionRequest,
        *,
        on_failure: OnFailure = _ignore,
        retry: bool = True,
        wait: bool = True,
        cached: bool = False,
        total_seconds: float | None = None,
    ) -> Completion:
        """Call the model until it answers or the attempts are exhausted.

        Args:
            request: The request.
            on_failure: Called after every failed attempt.
            retry: Make several attempts, and wait while the route rests.
            wait: If False, make one call immediately, which `limiter.enter` must have admitted.
            cached: Use the answer to an equal request, if there is a cache.
            total_seconds: Timeout of one call, instead of that of the limits.

        Raises:
            OutageError: The call fails after all attempts, or the route rests for too long.
            FaultyReplyError: There is no usable reply, or the route fails on this request only.
            BrokenRouteError: The outage of the route has lasted too long.
        """
        call = _Call(request, on_failure, retry, total_seconds)
        if not wait:
            return await self._make(call)
        if self._cache is None or not cached:
            return await self._attempts(call)
        key = request_key(request, route=self.name)
        found, use = await self._cache.answer(key, lambda: self._attempts(call))
        return found if use == "miss" else Completion(found.answer, 0.0, use)

    async def _attempts(self, call: _Call) -> Completion:
        attempt, began = 0, self._clock()
        while True:
            attempt += 1
            try:
                return await self._admitted(call)
            except RouteWaitsError:
                raise
            except (OutageError, InvalidReplyError, RefusedError) as error:
                pause = self._limits.retry_pause(attempt, error, self._jitter())
                if pause is None or not call.retry:
                    minor = isinstance(error, OutageError | UnreadableAnswerError)
                    if self.prober is None or (minor and not call.retry):
                        raise
                    raise await self.prober.diagnose(call.request, error, began) from error
            self.stats.retries += 1
            # The slot is free during the pause.
            await self._sleep(pause)

    async def _admitted(self, call: _Call) -> Completion:
        patience = self._limits.patience_seconds
        while True:
            async with self._slots:
                if self.prober is not None:
                    self.prober.admit(call.request)
                held = self.limiter.enter(self._clock())
                if held is None:
                    return await self._make(call)
            if held.seconds > patience or (held.reason == "resting" and not call.retry):
                raise RouteWaitsError(
                    f"route {self.name} is paused for {held.seconds:.0f} s", held.seconds
                )
            patience -= held.seconds
            await self._sleep(held.seconds)

    async def _make(self, call: _Call) -> Completion:
        started = self._clock()
        error: BaseException | None = None
        if self.prober is not None:
            self.prober.call_began()
        try:
            answer = await self._in_time(call, started)
            call.request.check(answer)
        except BaseException as failure:
            error = failure
            if isinstance(failure, ModelError):
                self._note_failure(failure, self._clock() - started)
            raise
        else:
            self.stats.calls += 1
            self._note_answer(self._clock() - started)
            return Completion(answer, self._clock() - started)
        finally:
            self.limiter.leave()
            if self.prober is not None:
                self.prober.call_ended(call.request, error)
            if isinstance(error, ModelError):
                await call.on_failure(error, self._clock() - started)

    async def _in_time(self, call: _Call, started: float) -> Answer:
        """Call within the deadline; a few late calls continue in the background."""
        task = asyncio.ensure_future(self._model.complete(call.request))
        deadline = self.deadline(call.total_seconds)
        if self.limiter.open:
            slowest = self.stats.slowest_seconds() or 0.0
            deadline = min(deadline, max(self._limits.trial_seconds, slowest))
        try:
            await asyncio.wait({task}, timeout=deadline)
        except asyncio.CancelledError:
            task.cancel()
            raise
        if task.done():
            return task.result()
        if len(self._late) < self._limits.late_calls:
            self._late.add(task)
            task.add_done_callback(lambda done: self._late_end(done, call.request, started))
        else:
            task.cancel()
        raise CallTimeoutError(f"route {self.name} gave no answer in {deadline:.1f} s")

    def _late_end(
        self, task: "asyncio.Task[Answer]", request: CompletionRequest, started: float
    ) -> None:
        self._late.discard(task)
        # Also marks an error as retrieved; the call was counted when its deadline passed.
        if not task.cancelled() and task.exception() is None:
            self._note_answer(self._clock() - started)
            with contextlib.suppress(UnreadableAnswerError):
                request.check(task.result())
                if self.prober is not None:
                    self.prober.call_answered(request)

    def _note_answer(self, seconds: float) -> None:
        self.stats.latencies.append(seconds)
        self.limiter.succeeded()

    def _note_failure(self, error: ModelError, seconds: float) -> None:
        if isinstance(error, UnreadableAnswerError):
            self.stats.latencies.append(seconds)
        self.stats.calls += 1
        self.stats.failures += 1
        self.stats.last_error = str(error)
        now = self._clock()
        asked = error.retry_after if isinstance(error, OutageError) else None
        if isinstance(error, ThrottledError) and asked is not None:
            # The server responds and specifies when to call again.
            self.limiter.rest(now, asked)
        elif isinstance(error, FaultyReplyError) and not self._is_failure(error):
            self.limiter.succeeded()
        else:
            self.limiter.failed(now)
            if asked:
                self.limiter.rest(now, asked)

    def _is_failure(self, error: FaultyReplyError) -> bool:
        """Without a probe, a rejection counts: a wrong key, for example, affects all requests."""
        return isinstance(error, RefusedError) and self.prober is None

    async def close(self) -> None:
        for task in list(self._late):
            task.cancel()
        await asyncio.gather(*self._late, return_exceptions=True)
        if self.prober is not None:
            await self.prober.close()
