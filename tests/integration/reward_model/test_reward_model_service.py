"""The whole service on real NATS and real S3."""

import asyncio
import hashlib
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from datetime import UTC, datetime
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from rlaif.bus.connection import Bus
from rlaif.contracts.events import (
    EventData,
    RewardModelPublished,
    RewardModelRejected,
    SegmentScored,
)
from rlaif.contracts.judging.comparisons import ComparisonRecord, WantedComparisons, WantedPair
from rlaif.contracts.reward_models import Champion
from rlaif.reward_model.app import create_app
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.reward_net import artifact
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.junk import JUNK
from rlaif.testing.data.scored_segments import ScoredSegment, play, write_scored
from rlaif.testing.waiting import all_answered, eventually

SIGNAL = play(episodes=7, each=8, signal=True, distractors=2, wrong=0.0)
LONG = play(episodes=10, each=8, signal=True, distractors=2, wrong=0.0)

TOKEN = {"Authorization": "Bearer secret"}

Start = Callable[..., Awaitable[httpx.AsyncClient]]


LINEAR_GAME = CandidateSettings(
    fit=FitSettings(epochs=60),
    gate=GateSettings(
        simple_margin=-1.0,
    ),
)
"""No network can beat a linear fit of the made-up game, and few labels are chance perhaps."""


@asynccontextmanager
async def lived(app: FastAPI) -> AsyncIterator[httpx.AsyncClient]:
    """The app with its lifespan, without a port."""
    async with app.router.lifespan_context(app):
        transport = httpx.ASGITransport(app)
        async with httpx.AsyncClient(transport=transport, base_url="http://rm") as client:
            yield client


async def is_ready(client: httpx.AsyncClient) -> bool:
    return (await client.get("/readyz")).status_code == 200


@pytest.fixture
async def start(
    nats_url: str, episodes_store: ObjectStore, models_store: ObjectStore
) -> AsyncIterator[Start]:
    """Starts services and waits until they are ready; each is stopped at the end."""
    async with AsyncExitStack() as stack:

        async def begin(**timing: Any) -> httpx.AsyncClient:
            settings = RewardModelSettings(nats_url=nats_url, api_token=SecretStr("secret"))
            app = create_app(
                settings,
                stores=(episodes_store, models_store),
                candidate=LINEAR_GAME,
                timing=TrainingSettings(**timing),
            )
            client = await stack.enter_async_context(lived(app))
            await eventually(lambda: is_ready(client), "the service is ready")
            return client

        yield begin


class Ring:
    """The judge before the service and the trainer behind it."""

    def __init__(self, bus: Bus, episodes: ObjectStore, models: ObjectStore) -> None:
        self.bus = bus
        self.episodes = episodes
        self.models = models

    async def score(self, segments: list[ScoredSegment]) -> list[SegmentScored]:
        """Write scored segments; gives their events without publishing them."""

        def write() -> list[SegmentScored]:
            return [write_scored(self.episodes, segment) for segment in segments]

        return await asyncio.to_thread(write)

    async def tell(self, events: list[SegmentScored]) -> None:
        publisher = self.bus.publisher("judge")
        for event in events:
            await publisher.publish(event)

    async def told(self, *kinds: type[EventData], count: int) -> list[Any]:
        """The first `count` events of these classes."""
        feed = self.bus.feed().follow(*kinds, history=True)
        async with asyncio.timeout(120):
            return [(await anext(feed)).data for _ in range(count)]

    async def stored(self) -> int:
        """Events in the stream of reward models."""
        return int((await self.bus.jetstream.stream_info("REWARD_MODELS")).state.messages)

    def wanted(self) -> list[WantedPair]:
        """The pairs that judges are asked to compare; none before the first list."""
        if self.models.head(keys.WANTED_COMPARISONS) is None:
            return []
        data = self.models.get(keys.WANTED_COMPARISONS)
        return list(WantedComparisons.model_validate_json(data).pairs)

    def compare(self, pair: WantedPair) -> None:
        """Store what a judge said of a pair: the first is better, in both orders."""
        config = "config-1"
        digests = [
            hashlib.sha256(self.episodes.get(keys.score(config, name))).hexdigest()
            for name in (pair.first, pair.second)
        ]
        record = ComparisonRecord(
            judge_config=config,
            judge="puzzle",
            first=pair.first,
            second=pair.second,
            first_score_sha256=digests[0],
            second_score_sha256=digests[1],
            first_shown_first="first",
            second_shown_first="first",
            soft=1.0,
            calls=(),
            created_at=datetime(2026, 1, 1, tzinfo=UTC),
            why=pair.why,
        )
        key = keys.comparison(config, pair.first, pair.second)
        self.episodes.put_once(key, record.model_dump_json().encode())

    def champion(self) -> Champion:
        return Champion.model_validate_json(self.models.get(keys.CHAMPION))


@pytest.fixture
def ring(bus: Bus, episodes_store: ObjectStore, models_store: ObjectStore) -> Ring:
    return Ring(bus, episodes_store, models_store)


async def test_scores_become_version_1_then_2_and_a_person_goes_back(ring: Ring, start: Start):
    # Only events can wake it: the pauses are longer than the test. It waits for all of them, as
    # below.
    client = await start(poll_seconds=300.0, relist_seconds=300.0, retrain_min_new=40)
    await ring.tell(await ring.score(LONG[:40]))
    (first,) = await ring.told(RewardModelPublished, count=1)
    assert (first.version, first.activation, first.parent_version) == (1, 1, None)
    assert first.labels == 40
    assert first.heldout_accuracy > 0.5

    data = ring.models.get(first.model_key)
    loaded = artifact.load(data, sha256=first.model_sha256, layout_version="layout-1")
    phi = PotentialFunction(loaded.net)
    assert phi(LONG[0].observations).shape == (len(LONG[0].observations),)

    await ring.tell(await ring.score(LONG[40:]))
    _, second = await ring.told(RewardModelPublished, count=2)
    assert (second.version, second.parent_version) == (2, 1)
    assert second.labels == len(LONG)
    assert ring.champion().version == 2

    assert (await client.post("/api/v1/reward-models/1/activate")).status_code == 401
    answer = await client.post("/api/v1/reward-models/1/activate", headers=TOKEN)
    assert answer.status_code == 200
    *_, back = await ring.told(RewardModelPublished, count=3)
    assert (back.version, back.activation, back.model_sha256) == (1, 3, first.model_sha256)
    assert ring.champion().version == 1

    await eventually(
        lambda: all_answered(ring.bus, SegmentScored, "reward-model"),
        "every event is acknowledged",
    )
    assert await ring.bus.dead_letters() == []


async def test_the_pairs_that_it_wants_come_back_as_comparisons_and_are_learned(
    ring: Ring, start: Start
):
    # The listings that find comparisons are frequent; nothing but a request trains.
    client = await start(poll_seconds=0.2, relist_seconds=0.2, retrain_min_new=1000)
    await ring.tell(await ring.score(SIGNAL))

    async def read() -> bool:
        return bool((await client.get("/api/v1/training")).json()["labels"] == len(SIGNAL))

    await eventually(read, "every label is read")
    assert (await client.post("/api/v1/reward-models", headers=TOKEN)).status_code == 202

    async def asked() -> bool:
        return bool(await asyncio.to_thread(ring.wanted))

    await eventually(asked, "the reward model says what should be compared", seconds=240)
    wanted = ring.wanted()
    assert {pair.why for pair in wanted} <= {"uncertain", "uniform"}
    teaching = next(pair for pair in wanted if pair.why == "uncertain")
    await asyncio.to_thread(ring.compare, teaching)

    async def exported() -> bool:
        lines = (await client.get("/api/v1/labels/export")).text.splitlines()
        return any(json.loads(line)["preferred"] for line in lines)

    await eventually(exported, "the comparison is read")
    assert (await client.post("/api/v1/reward-models", headers=TOKEN)).status_code == 202

    async def learned() -> bool:
        shown = [pair async for pair in _preferences(client)]
        told = [{pair["a"], pair["b"]} for pair in shown if pair["side_by_side"]]
        return told == [{teaching.first, teaching.second}]

    await eventually(learned, "the next training learns from it", seconds=240)

    def answered() -> bool:
        left = {(pair.first, pair.second) for pair in ring.wanted()}
        return (teaching.first, teaching.second) not in left

    await eventually(answered, "it is not wanted again")


async def _preferences(client: httpx.AsyncClient) -> AsyncIterator[dict[str, Any]]:
    """Every pair of the last training."""
    params = {"limit": "100"}
    while True:
        page = (await client.get("/api/v1/preferences", params=params)).json()
        for pair in page["items"]:
            yield pair
        if page["next_cursor"] is None:
            return
        params["cursor"] = page["next_cursor"]


async def test_noise_is_rejected_and_told(ring: Ring, start: Start):
    noise = play(episodes=6, each=6, signal=False, seed=3, run="noise")
    await ring.score(noise)
    client = await start()
    (event,) = await ring.told(RewardModelRejected, count=1)
    assert event.labels == 36
    assert any("permutation test" in reason for reason in event.reasons)
    assert (await client.get("/api/v1/reward-models/champion")).status_code == 404
    shown = (await client.get("/api/v1/training")).json()["last_rejection"]
    assert shown["reasons"] == list(event.reasons)
    assert "rlaif_reward_model_attempts_total" in (await client.get("/metrics")).text


async def test_scores_without_any_event_are_found(ring: Ring, start: Start):
    # It looks while the scores are written. It waits for all of them: the gate may refuse a part,
    # and then too few new ones are left for another try.
    client = await start(relist_seconds=0.1, poll_seconds=0.1, retrain_min_new=len(SIGNAL))
    await ring.score(SIGNAL)
    (event,) = await ring.told(RewardModelPublished, count=1)
    assert (event.version, event.labels) == (1, len(SIGNAL))

    async def learned() -> bool:
        return (await client.get("/api/v1/training")).json()["labels"] == len(SIGNAL)

    await eventually(learned, "every label is known")


async def test_a_restart_tells_of_the_champion_and_the_stream_keeps_one(ring: Ring, start: Start):
    await ring.score(SIGNAL)
    await start()
    await ring.told(RewardModelPublished, count=1)
    again = await start()

    async def looked() -> bool:
        body = (await again.get("/api/v1/training")).json()
        return bool(body["waiting_for"] == ["0 new labels, needs 12"])

    await eventually(looked, "the second process looked")
    assert await ring.stored() == 1
    assert ring.champion().activation == 1


async def test_junk_in_the_place_of_the_champion_stops_nothing(
    ring: Ring, start: Start, models_store: ObjectStore
):
    models_store.put(keys.CHAMPION, JUNK["nested objects"])
    # It waits for all of them, as below: the gate may refuse a part.
    client = await start(poll_seconds=0.2, retrain_min_new=40)
    await ring.tell(await ring.score(SIGNAL[:40]))
    await ring.told(RewardModelPublished, count=1)
    before = ring.champion()
    assert before.version == 1
    for junk in (JUNK["binary"], JUNK["a list"]):
        models_store.put(keys.CHAMPION, junk)
        await eventually(lambda: is_back(ring, before), "the champion is rebuilt")
    assert (await client.get("/api/v1/reward-models/champion")).json()["version"] == 1

    # The file is restored shortly before the check that repaired it ends.
    await eventually(lambda: is_ready(client), "the service is ready again")


def is_back(ring: Ring, champion: Champion) -> bool:
    return ring.models.get(keys.CHAMPION) == champion.model_dump_json().encode()
