"""Events of runs are published in order, once, and wait while NATS is unavailable."""

import asyncio
from contextlib import suppress
from datetime import UTC, datetime
from pathlib import Path
from types import SimpleNamespace
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import EventData
from rlaif.testing.data.events import run_iterated
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import Started
from rlaif.trainer.service import runtime
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runtime import Trainer, publish_events
from rlaif.trainer.settings import TrainerSettings


class Runs:
    """Three events that wait."""

    def __init__(self) -> None:
        self.waiting: list[EventData] = [run_iterated(n, n + 1) for n in range(3)]

    def next_event(self) -> EventData | None:
        return self.waiting[0] if self.waiting else None

    def event_published(self, event: EventData) -> None:
        assert event is self.waiting.pop(0)


@pytest.mark.parametrize(
    ("error", "published"),
    [(BusUnavailableError("no NATS"), 3), (EventRefusedError("too large"), 0)],
)
async def test_events_wait_for_nats_and_rejected_ones_do_not_block_others(
    monkeypatch: pytest.MonkeyPatch, error: Exception, published: int
) -> None:
    monkeypatch.setattr(runtime, "_EVENT_RETRY_SECONDS", 0.001)
    runs: Any = Runs()
    publisher = RecordingPublisher()
    publisher.error = error
    task = asyncio.create_task(publish_events(runs, Outbox(publisher)))
    await asyncio.sleep(0)
    publisher.error = None if published else error
    await eventually(lambda: not runs.waiting, "all of them")
    assert len(publisher.published) == published
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("away", [None, "no NATS"])
async def test_a_command_that_ends_publishes_the_last_events_of_its_run(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, away: str | None
) -> None:
    """The disk of a training job is lost with its pod."""
    settings = TrainerSettings.model_validate(
        {"data_dir": tmp_path, "models_store": str(tmp_path / "m")}
    )
    trainer = Trainer(settings)
    runs, pipeline = trainer.runs, trainer.pipeline
    past = RunPast("r-1", tmp_path, settings)
    past.note(Started(env_steps=0, iteration=0, restored_from=None), datetime.now(UTC), 0)
    monkeypatch.setattr(pipeline, "job", SimpleNamespace(uploader=SimpleNamespace(outage=None)))
    monkeypatch.setattr(pipeline, "check_bus", lambda: away)
    publisher = RecordingPublisher()
    publisher.error = None if away is None else BusUnavailableError(away)
    publishing = asyncio.create_task(publish_events(runs, Outbox(publisher)))
    await asyncio.sleep(0)  # it has nothing to do, and pauses
    runs._pasts = [past]
    await trainer.finish(drain=True)
    assert bool(publisher.published) == (away is None)
    publishing.cancel()
    with suppress(asyncio.CancelledError):
        await publishing
