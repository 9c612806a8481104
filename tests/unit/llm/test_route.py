import asyncio
from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from rlaif.llm.ports import (
    Answer,
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    OutageError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.route import Route, RouteLimits

REQUEST = CompletionRequest("m", (), "s", {}, seed=0, temperature=0.0, max_tokens=10)


DEFAULTS = RouteLimits(pause_seconds=30, retry_seconds=1, max_retry_seconds=5, patience_seconds=10)


class Clock:
    """Time that passes only in `sleep`."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds
        await asyncio.sleep(0)


class Scripted:
    """Gives the scripted errors in turn, then answers."""

    def __init__(self, *errors: ModelError | None) -> None:
        self.errors = list(errors)
        self.calls = 0
        self.at_once = 0
        self.most_at_once = 0

    async def complete(self, request: CompletionRequest) -> Answer:
        self.calls += 1
        self.at_once += 1
        self.most_at_once = max(self.most_at_once, self.at_once)
        await asyncio.sleep(0)
        self.at_once -= 1
        error = self.errors.pop(0) if self.errors else None
        if error is not None:
            raise error
        return Answer("{}")


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def route(clock: Clock) -> Callable[..., Route]:
    def make(model: Scripted, **options: Any) -> Route:
        limits = replace(DEFAULTS, **options)
        return Route("/dialog", model, limits, clock=clock, sleep=clock.sleep, jitter=lambda: 0.5)

    return make


class Failures:
    def __init__(self) -> None:
        self.seen: list[ModelError] = []

    async def __call__(self, error: ModelError, seconds: float) -> None:
        self.seen.append(error)


async def test_a_passing_fault_is_tried_again_with_growing_waits(clock, route):
    model, failures = Scripted(UnavailableError("a"), UnavailableError("b")), Failures()
    found = await route(model).complete(REQUEST, on_failure=failures)
    assert found.answer.text == "{}"
    assert clock.slept == [0.75, 1.5]
    assert [str(error) for error in failures.seen] == ["a", "b"]


async def test_the_servers_wish_for_a_pause_is_honoured(clock, route):
    await route(Scripted(ThrottledError("slow down", 4.0))).complete(REQUEST)
    assert clock.slept == [pytest.approx(4.2)]


async def test_a_pause_too_long_to_wait_for_is_given_to_the_caller(clock, route):
    model = Scripted(ThrottledError("slow down", 60.0))
    with pytest.raises(ThrottledError) as raised:
        await route(model).complete(REQUEST)
    assert raised.value.retry_after == 60.0
    assert (clock.slept, model.calls) == ([], 1)


async def test_a_call_waits_for_a_short_pause_and_then_tries_the_route(clock, route):
    model = Scripted(*[UnavailableError("down")] * 2)
    made = route(model, failures=2, pause_seconds=5)
    await made.complete(REQUEST)
    assert model.calls == 3
    assert clock.slept == [0.75, 1.5, pytest.approx(3.5)]


async def test_a_resting_route_is_not_called(clock: Clock, route: Callable[..., Route]) -> None:
    model = Scripted(*[UnavailableError("down")] * 5)
    made = route(model, failures=3, pause_seconds=30)
    for match in ("down", "paused for 30 s"):  # three attempts, then none
        with pytest.raises(OutageError, match=match):
            await made.complete(REQUEST)
    assert model.calls == 3
    assert made.resting == 30
    clock.now += 30
    model.errors.clear()
    await made.complete(REQUEST)
    assert made.resting == 0


async def test_after_a_pause_one_call_tries_the_route_and_the_others_wait_for_it(clock, route):
    class Probed(Scripted):
        async def complete(self, request: CompletionRequest) -> Answer:
            for _ in range(20):
                await asyncio.sleep(0)
            return await super().complete(request)

    model = Probed(UnavailableError("down"))
    made = route(model, failures=1, pause_seconds=5, attempts=1)
    with pytest.raises(UnavailableError):
        await made.complete(REQUEST)
    clock.now += 5
    first = asyncio.create_task(made.complete(REQUEST))
    await asyncio.sleep(0)
    others = [asyncio.create_task(made.complete(REQUEST)) for _ in range(3)]
    await first
    assert model.calls == 2
    await asyncio.gather(*others)
    assert (model.calls, made.resting) == (5, 0)


async def test_a_throttled_route_keeps_all_calls_back_until_the_server_wants_them(clock, route):
    model = Scripted(ThrottledError("slow down", 8.0))
    made = route(model)
    with pytest.raises(ThrottledError):
        await made.complete(REQUEST)
    assert made.resting == 8.0
    await made.complete(REQUEST)
    assert clock.now == 8.0
    assert model.calls == 2


class Hangs:
    """Answers after `event`, or never."""

    def __init__(self) -> None:
        self.event = asyncio.Event()
        self.calls = 0

    async def complete(self, request: CompletionRequest) -> Answer:
        self.calls += 1
        await self.event.wait()
        return Answer("{}")


async def test_a_hanging_call_ends_after_a_few_times_the_slowest_answer(route):
    model = Hangs()
    made = route(model, attempts=1, least_seconds=0.05)
    assert made.deadline() == 90.0
    made.stats.latencies.append(0.001)
    assert made.deadline() == 0.05
    with pytest.raises(CallTimeoutError, match="gave no answer in"):
        await made.complete(REQUEST)
    made.stats.latencies.append(0.1)
    assert made.deadline() == pytest.approx(0.4)
    await made.close()


async def test_a_call_that_tries_a_resting_route_is_not_waited_for_long(clock, route):
    model = Hangs()
    made = route(
        model,
        attempts=1,
        total_seconds=0.1,
        least_seconds=0.1,
        failures=1,
        pause_seconds=30,
        patience_seconds=1000,
        trial_seconds=0.01,
    )
    for seconds in (0.1, 0.0):
        with pytest.raises(CallTimeoutError, match=f"no answer in {seconds:.1f} s"):
            await made.complete(REQUEST)
    assert model.calls == 2
    await made.close()


async def test_a_call_that_tries_a_slow_route_gets_the_time_of_its_slowest_answer(route):
    model = Hangs()
    made = route(model, attempts=1, pause_seconds=0, trial_seconds=0.01)
    made.stats.latencies.append(0.1)
    made.limiter.rest(0.0, 0.0)  # as a 429 of a route that answers
    with pytest.raises(CallTimeoutError, match=r"no answer in 0\.1 s"):
        await made.complete(REQUEST)
    await made.close()


async def test_a_slow_route_is_distinguished_from_a_dead_one_by_its_late_answer(clock, route):
    model = Hangs()
    made = route(model, attempts=1, least_seconds=0.01, failures=1, pause_seconds=30)
    made.stats.latencies.append(0.001)
    with pytest.raises(CallTimeoutError):
        await made.complete(REQUEST)
    assert made.resting == 30
    clock.now += 8
    model.event.set()
    for _ in range(5):
        await asyncio.sleep(0)
    assert made.resting == 0
    assert made.deadline() == 32.0


async def test_a_faulty_reply_is_not_retried_and_does_not_pause_the_route(route):
    model = Scripted(InvalidReplyError("html"))
    made = route(model, failures=1, pause_seconds=30)
    with pytest.raises(InvalidReplyError):
        await made.complete(REQUEST)
    assert (model.calls, made.resting) == (1, 0)


async def test_health_reports_calls_failures_and_the_last_error(route):
    made = route(Scripted(UnavailableError("connection refused")))
    assert made.stats.p50_seconds() is None
    await made.complete(REQUEST)
    assert (made.stats.calls, made.stats.failures) == (2, 1)
    assert made.stats.last_error == "connection refused"
    assert made.stats.p50_seconds() is not None


async def test_optional_calls_wait_for_their_turn_and_not_for_a_pause(clock, route):
    made = route(Scripted(), per_second=1.0, burst=1)
    await made.complete(REQUEST, retry=False)
    await made.complete(REQUEST, retry=False)
    assert clock.now == pytest.approx(1.0)
    held = route(Scripted(ThrottledError("slow down", 4.0)))
    for _ in range(2):
        with pytest.raises(OutageError):
            await held.complete(REQUEST, retry=False)
    assert clock.now == pytest.approx(1.0)
    assert held.stats.calls == 1
