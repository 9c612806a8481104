"""The trainer beside a run: connected to the pipeline."""

import asyncio
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.events import RunStarted
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually
from rlaif.trainer.run_folder.protocol import Started
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runtime import Trainer
from rlaif.trainer.settings import TrainerSettings

Ring = Lifecycle[Any, Bus, Any]


@pytest.fixture
def settings(tmp_path: Path, nats_url: str) -> TrainerSettings:
    return TrainerSettings(
        data_dir=tmp_path / "runs",
        nats_url=nats_url,
        episodes_store=f"file://{tmp_path}/episodes",
        models_store=f"file://{tmp_path}/models",
    )


@pytest.fixture
def trainer(settings: TrainerSettings) -> Trainer:
    return Trainer(settings)


@pytest.fixture
def readiness(trainer: Trainer) -> Readiness:
    return trainer.readiness


@pytest.fixture
def runs(trainer: Trainer) -> RunManager:
    return trainer.runs


@pytest.fixture
def ring(trainer: Trainer) -> Ring:
    return trainer.pipeline


async def details(readiness: Readiness) -> dict[str, str | None]:
    return {name: check.detail for name, check in (await readiness.report()).checks.items()}


async def test_it_is_ready_when_nats_is_and_stops_on_request(
    ring: Ring, readiness: Readiness, bus: Bus
):
    assert (await details(readiness))["bus"] == "not tried yet"
    async with ring.running(readiness):
        await eventually(lambda: ring.job is not None and ring.job.healthy, "it is at work")
        found = await details(readiness)
        assert (found["bus"], found["episodes store"], found["champion"]) == (None, None, None)
    assert (ring.job, ring.bus) == (None, None)


async def test_the_history_of_a_run_is_published_as_events(
    ring: Ring, runs: RunManager, settings: TrainerSettings, readiness: Readiness, bus: Bus
):
    past = RunPast("r-1", settings.data_dir, settings)
    past.note(Started(env_steps=0, iteration=0, restored_from=None), datetime.now(UTC), 0)
    runs._pasts.append(past)
    feed: Any = bus.feed().follow(RunStarted, history=True)
    async with ring.running(readiness):
        event = await asyncio.wait_for(anext(feed), timeout=PATIENCE_SECONDS)
        assert (event.data.run_id, event.data.attempt) == ("r-1", 0)
        await eventually(lambda: past.is_empty, "it is reported once")
    await feed.aclose()
