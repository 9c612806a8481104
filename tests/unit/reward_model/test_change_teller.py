"""Changes of the champion go out in their order, and hold nothing up."""

import asyncio
from contextlib import suppress

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.reward_model import change_teller
from rlaif.reward_model.change_teller import ChangeTeller
from rlaif.testing.data.events import champion_changed
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually


async def test_what_nats_does_not_take_waits_in_its_order(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(change_teller, "_RETRY_SECONDS", 0.001)
    publisher = RecordingPublisher()
    publisher.error = BusUnavailableError("no NATS")
    teller = ChangeTeller(publisher)
    task = asyncio.create_task(teller.run())
    changes = [champion_changed(version) for version in (1, 2, 3)]
    for change in changes:
        teller.note(change)
    await asyncio.sleep(0)
    assert publisher.published == []
    publisher.error = None
    await eventually(lambda: publisher.published == changes, "all of them, in their order")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
