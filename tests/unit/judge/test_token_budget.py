from datetime import UTC, datetime, timedelta
from typing import Any

from rlaif.judge.trust.token_budget import MeteredModel, TokenBudget
from rlaif.llm.ports import Answer, CompletionRequest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError

REQUEST = CompletionRequest("m", (), "s", {}, seed=0, temperature=0.0, max_tokens=10)


class Clock:
    def __init__(self) -> None:
        self.at = datetime(2026, 3, 1, 22, 0, tzinfo=UTC)

    def __call__(self) -> datetime:
        return self.at

    def passes(self, **time: float) -> None:
        self.at += timedelta(**time)


def _budget(clock: Clock, replica: str = "one", per_day: int | None = 1000) -> TokenBudget:
    return TokenBudget(per_day, replica=replica, now=clock)


async def test_when_the_tokens_of_the_day_are_spent_judging_waits_for_midnight() -> None:
    clock = Clock()
    budget = _budget(clock)
    budget.spend(999)
    assert (budget.seconds_to_wait(), budget.check()) == (0.0, None)
    budget.spend(1)
    assert budget.seconds_to_wait() == 2 * 3600
    reported = budget.check() or ""
    assert "1,000 of 1,000 tokens" in reported
    assert "2026-03-02 00:00 UTC" in reported
    assert "JUDGE_TOKENS_PER_DAY" in reported
    clock.passes(hours=2)
    assert (budget.seconds_to_wait(), budget.spent) == (0.0, 0)


async def test_without_a_limit_nothing_is_held_back_or_stored(store: ObjectStore) -> None:
    budget = _budget(Clock(), per_day=None)
    budget.spend(10**9)
    await budget.refresh(store)
    assert (budget.seconds_to_wait(), budget.spent) == (0.0, 10**9)
    assert list(store.list()) == []


async def test_replicas_share_one_budget(store: ObjectStore) -> None:
    clock = Clock()
    one, other = _budget(clock), _budget(clock, "other")
    one.spend(600)
    other.spend(500)
    await one.refresh(store)
    await other.refresh(store)
    assert other.spent == 1100
    assert other.seconds_to_wait() > 0
    clock.passes(seconds=11)
    await one.refresh(store)
    assert one.spent == 1100


async def test_a_restart_does_not_give_the_tokens_back(store: ObjectStore) -> None:
    clock = Clock()
    before = _budget(clock)
    before.spend(700)
    await before.refresh(store)
    after = _budget(clock)
    after.spend(100)
    await after.refresh(store)
    assert after.spent == 800
    clock.passes(seconds=11)
    await after.refresh(store)
    assert after.spent == 800


async def test_there_is_one_object_a_day_and_replica_and_old_ones_go(store: ObjectStore) -> None:
    clock = Clock()
    for _ in range(12):
        budget = _budget(clock)
        for _ in range(5):
            budget.spend(10)
            await budget.refresh(store)
            clock.passes(seconds=11)
        clock.passes(days=1)
    listed = [info.key for info in store.list(keys.SPENT_TOKENS)]
    assert len(listed) <= 9
    assert listed[-1] == keys.spent_tokens("2026-03-12", "one")


async def test_the_store_is_asked_every_few_seconds_at_most(store: ObjectStore) -> None:
    class Counted:
        asked = 0

        def __getattr__(self, name: str) -> Any:
            Counted.asked += 1
            return getattr(store, name)

    clock, counted = Clock(), Counted()
    budget = _budget(clock)
    await budget.refresh(counted)
    first = Counted.asked
    for _ in range(50):
        budget.spend(1)
        await budget.refresh(counted)
    assert Counted.asked == first


async def test_a_store_that_is_away_does_not_lift_the_limit() -> None:
    class Away:
        def __getattr__(self, name: str) -> Any:
            def fail(*args: Any, **options: Any) -> Any:
                raise StoreUnavailableError("away")

            return fail

    budget = _budget(Clock())
    budget.spend(2000)
    await budget.refresh(Away())
    assert budget.seconds_to_wait() > 0


async def test_what_others_wrote_that_cannot_be_read_counts_as_nothing(store: ObjectStore) -> None:
    clock = Clock()
    for name, junk in (("a", b""), ("b", b"[]"), ("c", b'{"tokens": -5}'), ("d", b'{"tokens": 5}')):
        store.put(keys.spent_tokens("2026-03-01", name), junk)
    budget = _budget(clock)
    await budget.refresh(store)
    assert budget.spent == 5


async def test_tokens_are_the_servers_or_an_estimate() -> None:
    answers = iter(
        [Answer("x" * 30, "stop", 100, 7), Answer("x" * 30), Answer("", "length", 50, 256)]
    )

    class Model:
        async def complete(self, request: CompletionRequest) -> Answer:
            return next(answers)

    spent: list[int] = []
    model = MeteredModel(Model(), prompt_tokens=lambda request: 90, on_spent=spent.append)
    for _ in range(3):
        await model.complete(REQUEST)
    assert spent == [107, 90 + 11, 306]
