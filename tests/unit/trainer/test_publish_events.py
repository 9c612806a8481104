"""Events of runs are published in order, once, and wait while NATS is unavailable."""

import asyncio
from contextlib import suppress
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.outbox import Outbox
from rlaif.contracts.events import EventData
from rlaif.testing.data.events import run_iterated
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually
from rlaif.trainer.service import runtime
from rlaif.trainer.service.runtime import publish_events


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
