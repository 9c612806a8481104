import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.judge.breaker import Breaker
from rlaif.judge.ports import (
    Answer,
    CompletionRequest,
    InvalidReplyError,
    ModelError,
    ThrottledError,
    UnavailableError,
)
from rlaif.judge.routes import RetryPolicy, Route

REQUEST = CompletionRequest("m", (), "s", {}, seed=0, temperature=0.0, max_tokens=10)


class Clock:
    """Time that passes only when somebody sleeps."""

    def __init__(self) -> None:
        self.now = 0.0
        self.slept: list[float] = []

    def __call__(self) -> float:
        return self.now

    async def sleep(self, seconds: float) -> None:
        self.slept.append(seconds)
        self.now += seconds


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
        chosen: dict[str, Any] = {
            "slots": asyncio.Semaphore(8),
            "retry": RetryPolicy(attempts=3, base_seconds=1, longest_wait_seconds=5),
            "breaker": Breaker(limit=5, pause=30),
        } | options
        return Route("/dialog", model, clock=clock, sleep=clock.sleep, **chosen)

    return make


class Failures:
    def __init__(self) -> None:
        self.seen: list[ModelError] = []

    async def __call__(self, error: ModelError, seconds: float) -> None:
        self.seen.append(error)


async def test_a_passing_fault_is_tried_again_with_growing_waits(
    clock: Clock, route: Callable[..., Route]
) -> None:
    model, failures = Scripted(UnavailableError("a"), UnavailableError("b")), Failures()
    answer, _ = await route(model).complete(REQUEST, failed=failures)
    assert answer.text == "{}"
    assert clock.slept == [1, 2]
    assert [str(error) for error in failures.seen] == ["a", "b"]


async def test_the_servers_wish_for_a_pause_is_honoured(
    clock: Clock, route: Callable[..., Route]
) -> None:
    await route(Scripted(ThrottledError("slow down", 4.0))).complete(REQUEST, failed=Failures())
    assert clock.slept == [4.0]


async def test_a_pause_too_long_to_wait_for_is_given_to_the_caller(
    clock: Clock, route: Callable[..., Route]
) -> None:
    model = Scripted(ThrottledError("slow down", 60.0))
    with pytest.raises(ThrottledError) as raised:
        await route(model).complete(REQUEST, failed=Failures())
    assert raised.value.retry_after == 60.0
    assert (clock.slept, model.calls) == ([], 1)


async def test_a_lasting_fault_is_given_up_after_the_attempts(
    route: Callable[..., Route],
) -> None:
    model = Scripted(*[UnavailableError("down")] * 9)
    with pytest.raises(UnavailableError):
        await route(model).complete(REQUEST, failed=Failures())
    assert model.calls == 3


async def test_a_resting_route_is_not_called(clock: Clock, route: Callable[..., Route]) -> None:
    model = Scripted(*[UnavailableError("down")] * 5)
    made = route(model, breaker=Breaker(limit=3, pause=30))
    for _ in range(2):
        with pytest.raises(UnavailableError):
            await made.complete(REQUEST, failed=Failures())
    assert model.calls == 3
    assert made.resting == 30
    clock.now += 30
    model.errors.clear()
    await made.complete(REQUEST, failed=Failures())
    assert made.resting == 0


async def test_a_call_does_not_wait_for_a_route_that_went_to_rest(
    clock: Clock, route: Callable[..., Route]
) -> None:
    made = route(Scripted(*[UnavailableError("down")] * 5), breaker=Breaker(limit=2, pause=30))
    with pytest.raises(UnavailableError, match="down"):
        await made.complete(REQUEST, failed=Failures())
    assert clock.slept == [1]


async def test_a_faulty_reply_is_not_tried_again_and_does_not_rest_the_route(
    route: Callable[..., Route],
) -> None:
    model = Scripted(InvalidReplyError("html"))
    made = route(model, breaker=Breaker(limit=1, pause=30))
    with pytest.raises(InvalidReplyError):
        await made.complete(REQUEST, failed=Failures())
    assert (model.calls, made.resting) == (1, 0)


async def test_no_more_calls_at_once_than_slots(route: Callable[..., Route]) -> None:
    model = Scripted()
    made = route(model, slots=asyncio.Semaphore(2))
    await asyncio.gather(*(made.complete(REQUEST, failed=Failures()) for _ in range(9)))
    assert (model.calls, model.most_at_once) == (9, 2)


async def test_health_tells_calls_failures_and_the_last_error(
    route: Callable[..., Route],
) -> None:
    made = route(Scripted(UnavailableError("connection refused")))
    assert made.health.p50_seconds() is None
    await made.complete(REQUEST, failed=Failures())
    assert (made.health.calls, made.health.failures) == (2, 1)
    assert made.health.last_error == "connection refused"
    assert made.health.p50_seconds() is not None
