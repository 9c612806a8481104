import asyncio
from datetime import UTC, datetime
from typing import Any

from rlaif.judge.panel.shared_answers import SharedAnswers, delete_before
from rlaif.judge.routes.cache import AnswerCache
from rlaif.llm.ports import Answer
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore, StoreUnavailableError

ANSWER = Answer('{"rationale": "because", "puzzle": 2}', "stop", 100, 20, 64, "an-engine")


class Clock:
    def __init__(self) -> None:
        self.day = 1

    def __call__(self) -> datetime:
        return datetime(2026, 3, self.day, 23, 59, tzinfo=UTC)


class Replica:
    """One judge's cache over the shared store, and how often it had to ask."""

    def __init__(
        self, store: ObjectStore | None, clock: Clock | None = None, config: str = "j1"
    ) -> None:
        self.shared = SharedAnswers(config, now=clock or Clock())
        self.shared.use(store)
        self.cache = AnswerCache(10, self.shared)
        self.calls = 0

    async def ask(self, key: str = "k" * 64) -> tuple[Answer, str]:
        async def call() -> tuple[Answer, float]:
            self.calls += 1
            return ANSWER, 0.5

        answer, _, use = await self.cache.answer(key, call)
        self.cache.keep(key, answer, use=use)
        await self.shared.close()
        return answer, use


async def test_what_one_replica_was_told_costs_the_other_no_call(store: ObjectStore) -> None:
    one, other = Replica(store), Replica(store)
    assert await one.ask() == (ANSWER, "miss")
    assert await other.ask() == (ANSWER, "stored")
    assert (one.calls, other.calls) == (1, 0)
    assert await other.ask() == (ANSWER, "hit")


async def test_answers_outlive_a_restart_and_not_their_day(store: ObjectStore) -> None:
    clock = Clock()
    await Replica(store, clock).ask()
    assert (await Replica(store, clock).ask())[1] == "stored"
    clock.day = 2
    assert (await Replica(store, clock).ask())[1] == "miss"
    days = {info.key.split("/")[1] for info in store.list(keys.SHARED_ANSWERS)}
    assert days == {"2026-03-02"}


async def test_judges_of_another_configuration_share_nothing(store: ObjectStore) -> None:
    await Replica(store).ask()
    assert (await Replica(store, config="j2").ask())[1] == "miss"


async def test_without_a_store_every_replica_asks() -> None:
    assert (await Replica(None).ask())[1] == "miss"


async def test_junk_in_the_store_is_asked_for_anew(store: ObjectStore) -> None:
    for number, junk in enumerate((b"", b"[]", b'{"text": 1, "more": 2}', b"x" * 100_000)):
        key = str(number) * 64
        store.put(keys.shared_answer("2026-03-01", "j1", key), junk)
        assert (await Replica(store).ask(key))[1] == "miss"


class Away:
    """A store that is away, and counts who asks for it."""

    def __init__(self, *, hangs: bool = False) -> None:
        self.asked = 0

    def __getattr__(self, name: str) -> Any:
        def fail(*args: Any, **options: Any) -> Any:
            self.asked += 1
            raise StoreUnavailableError("S3 is away")

        return fail


async def test_a_store_that_is_away_costs_the_cache_alone_and_is_left_in_peace() -> None:
    away = Away()
    replica = Replica(away)
    for number in range(20):
        assert (await replica.ask(str(number) * 32))[1] == "miss"
    assert replica.calls == 20
    assert away.asked <= 2


async def test_equal_questions_at_once_look_and_ask_once(store: ObjectStore) -> None:
    replica = Replica(store)
    found = await asyncio.gather(*(replica.ask() for _ in range(5)))
    assert replica.calls == 1
    assert sorted(use for _, use in found) == ["miss", *["shared"] * 4]


def test_of_earlier_days_everything_goes_and_of_today_nothing(store: ObjectStore) -> None:
    for day in ("2026-02-27", "2026-02-28", "2026-03-01"):
        for number in range(3):
            store.put(keys.shared_answer(day, "j1", str(number) * 64), b"{}")
    assert delete_before(store, keys.SHARED_ANSWERS, "2026-03-01") == 6
    assert len(list(store.list(keys.SHARED_ANSWERS))) == 3
