"""What runs went through goes out in its order, once, and waits while NATS is away."""

import asyncio
from contextlib import suppress
from datetime import datetime

import pytest

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.contracts.events import EventData
from rlaif.testing.data.events import run_iterated
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually
from rlaif.trainer.service import past_teller
from rlaif.trainer.service.past_teller import tell_pasts


class Pasts:
    """Three pieces that wait."""

    def __init__(self) -> None:
        self.waiting: list[EventData] = [run_iterated(n, n + 1) for n in range(3)]

    def next_past(self) -> EventData | None:
        return self.waiting[0] if self.waiting else None

    def told_past(self, event: EventData, now: datetime) -> None:
        assert event is self.waiting.pop(0)


@pytest.mark.parametrize(
    ("error", "told"), [(BusUnavailableError("no NATS"), 3), (EventRefusedError("too large"), 0)]
)
async def test_an_outage_is_waited_out_and_what_can_never_be_told_holds_nothing_up(
    monkeypatch: pytest.MonkeyPatch, error: Exception, told: int
) -> None:
    monkeypatch.setattr(past_teller, "_RETRY_SECONDS", 0.001)
    pasts, publisher = Pasts(), RecordingPublisher()
    publisher.error = error
    task = asyncio.create_task(tell_pasts(pasts, publisher))
    await asyncio.sleep(0)
    publisher.error = None if told else error
    await eventually(lambda: not pasts.waiting, "all of them")
    assert len(publisher.published) == told
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task
