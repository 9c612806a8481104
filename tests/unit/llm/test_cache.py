import asyncio
from dataclasses import replace

import pytest

from rlaif.llm.cache import AnswerCache, request_key
from rlaif.llm.ports import Answer, CompletionRequest, UnavailableError

REQUEST = CompletionRequest("m", (), "s", {}, seed=0, temperature=0.0, max_tokens=10)


def _cache(limit: int) -> AnswerCache[str, Answer]:
    return AnswerCache(limit)


class Model:
    def __init__(self) -> None:
        self.calls = 0
        self.gate = asyncio.Event()
        self.cancelled = False
        self.error: Exception | None = None

    async def __call__(self) -> Answer:
        self.calls += 1
        try:
            await self.gate.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        if self.error:
            raise self.error
        return Answer(f"answer {self.calls}")


async def test_equal_requests_at_once_share_one_call() -> None:
    cache, model = _cache(10), Model()
    asked = [asyncio.create_task(cache.answer("k", model)) for _ in range(5)]
    await asyncio.sleep(0)
    model.gate.set()
    found = await asyncio.gather(*asked)
    assert model.calls == 1
    assert {answer.text for answer, _ in found} == {"answer 1"}
    assert sorted(use for _, use in found) == ["miss", *["shared"] * 4]


async def test_an_answer_is_kept_until_newer_ones_take_its_place() -> None:
    cache, model = _cache(1), Model()
    model.gate.set()
    answer, use = await cache.answer("k", model)
    assert use == "miss"
    assert await cache.answer("k", model) == (answer, "hit")
    cache.keep("other", answer)
    assert (await cache.answer("k", model))[1] == "miss"
    assert model.calls == 2


def test_an_answer_expires() -> None:
    now = 0.0
    cache: AnswerCache[str, str] = AnswerCache(10, 60.0, clock=lambda: now)
    cache.keep("k", "answer")
    now = 59.9
    assert cache.get("k") == "answer"
    now = 60.0
    assert cache.get("k") is None
    assert len(cache) == 0


async def test_a_caller_that_leaves_does_not_end_the_call_of_the_others() -> None:
    cache, model = _cache(10), Model()
    first, second = (asyncio.create_task(cache.answer("k", model)) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    await asyncio.sleep(0)
    model.gate.set()
    assert (await second)[0].text == "answer 1"
    assert not model.cancelled


async def test_a_call_without_a_waiting_caller_is_ended() -> None:
    cache, model = _cache(10), Model()
    only = asyncio.create_task(cache.answer("k", model))
    for _ in range(3):
        await asyncio.sleep(0)
    only.cancel()
    with pytest.raises(asyncio.CancelledError):
        await only
    await asyncio.sleep(0)
    assert model.cancelled


async def test_an_outage_reaches_all_who_wait_and_is_not_kept() -> None:
    cache, model = _cache(10), Model()
    model.error = UnavailableError("down")
    model.gate.set()
    results = await asyncio.gather(
        cache.answer("k", model), cache.answer("k", model), return_exceptions=True
    )
    assert all(isinstance(result, UnavailableError) for result in results)
    model.error = None
    assert (await cache.answer("k", model))[1] == "miss"


@pytest.mark.parametrize(
    "change",
    [
        {"model": "n"},
        {"messages": ({"role": "user"},)},
        {"schema": {"x": 1}},
        {"seed": 1},
        {"temperature": 0.1},
        {"max_tokens": 11},
    ],
)
def test_the_key_follows_everything_that_the_answer_depends_on(change: dict[str, object]) -> None:
    key = request_key(REQUEST, route="/dialog")
    assert key == request_key(REQUEST, route="/dialog")
    assert key != request_key(replace(REQUEST, **change), route="/dialog")  # type: ignore[arg-type]  # one field each
    assert key != request_key(REQUEST, route="/puzzle")
