"""The whole service on real NATS and real S3."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import AsyncExitStack, asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI
from pydantic import SecretStr

from rlaif.bus.connection import Bus
from rlaif.contracts.events import (
    EventData,
    RewardModelPublished,
    SegmentScored,
)
from rlaif.contracts.reward_models import Champion
from rlaif.reward_model.app import create_app
from rlaif.reward_model.learning.settings import CandidateSettings, FitSettings, GateSettings
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.reward_net import artifact
from rlaif.reward_net.potential import PotentialFunction
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import ScoredSegment, play, write_scored
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


class Pipeline:
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

    async def publish(self, events: list[SegmentScored]) -> None:
        publisher = self.bus.publisher("judge")
        for event in events:
            await publisher.publish(event)

    async def published(self, *kinds: type[EventData], count: int) -> list[Any]:
        """The first `count` events of these classes."""
        feed = self.bus.feed().follow(*kinds, history=True)
        async with asyncio.timeout(120):
            return [(await anext(feed)).data for _ in range(count)]

    async def stored(self) -> int:
        """Events in the stream of reward models."""
        return int((await self.bus.jetstream.stream_info("REWARD_MODELS")).state.messages)

    def champion(self) -> Champion:
        return Champion.model_validate_json(self.models.get(keys.CHAMPION))


@pytest.fixture
def pipeline(bus: Bus, episodes_store: ObjectStore, models_store: ObjectStore) -> Pipeline:
    return Pipeline(bus, episodes_store, models_store)


async def test_scores_become_version_1_then_2_and_a_person_rolls_back(
    pipeline: Pipeline, start: Start
):
    # Only events can wake it: the pauses are longer than the test.
    client = await start(poll_seconds=300.0, relist_seconds=300.0, retrain_min_new=40)
    await pipeline.publish(await pipeline.score(LONG[:40]))
    (first,) = await pipeline.published(RewardModelPublished, count=1)
    assert (first.version, first.activation, first.parent_version) == (1, 1, None)
    assert first.labels == 40
    assert first.heldout_accuracy > 0.5

    data = pipeline.models.get(first.model_key)
    loaded = artifact.load(data, sha256=first.model_sha256, layout_version="layout-1")
    phi = PotentialFunction(loaded.net)
    assert phi(LONG[0].observations).shape == (len(LONG[0].observations),)

    await pipeline.publish(await pipeline.score(LONG[40:]))
    _, second = await pipeline.published(RewardModelPublished, count=2)
    assert (second.version, second.parent_version) == (2, 1)
    assert second.labels == len(LONG)
    assert pipeline.champion().version == 2

    assert (await client.post("/api/v1/reward-models/1/activate")).status_code == 401
    answer = await client.post("/api/v1/reward-models/1/activate", headers=TOKEN)
    assert answer.status_code == 200
    *_, back = await pipeline.published(RewardModelPublished, count=3)
    assert (back.version, back.activation, back.model_sha256) == (1, 3, first.model_sha256)
    assert pipeline.champion().version == 1

    await eventually(
        lambda: all_answered(pipeline.bus, SegmentScored, "reward-model"),
        "every event is acknowledged",
    )
    assert await pipeline.bus.dead_letters() == []


async def test_a_restart_publishes_the_champion_again_and_the_stream_keeps_one(
    pipeline: Pipeline, start: Start
):
    await pipeline.score(SIGNAL)
    await start()
    await pipeline.published(RewardModelPublished, count=1)
    again = await start()

    async def looked() -> bool:
        body = (await again.get("/api/v1/training")).json()
        return bool(body["waiting_for"] == ["0 new labels, needs 12"])

    await eventually(looked, "the second process looked")
    assert await pipeline.stored() == 1
    assert pipeline.champion().activation == 1
