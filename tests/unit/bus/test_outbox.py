"""Events are published in order, retried while NATS is unavailable, and never block forever."""

import asyncio
from contextlib import suppress

from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.outbox import Outbox
from rlaif.testing.data.events import champion_changed
from rlaif.testing.publisher import RecordingPublisher
from rlaif.testing.waiting import eventually

EVENTS = [champion_changed(version) for version in (1, 2, 3)]


async def test_events_are_retried_in_order_until_nats_accepts_them() -> None:
    publisher = RecordingPublisher()
    publisher.error = BusUnavailableError("no NATS")
    outbox = Outbox(publisher, retry_seconds=0.001)
    task = asyncio.create_task(outbox.run())
    for event in EVENTS:
        outbox.put(event)
    await asyncio.sleep(0)
    assert publisher.published == []
    assert len(outbox) == 3
    publisher.error = None
    await eventually(lambda: publisher.published == EVENTS, "all of them, in order")
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


async def test_flush_reports_whether_events_are_left() -> None:
    publisher = RecordingPublisher()
    publisher.error = BusUnavailableError("no NATS")
    outbox = Outbox(publisher)
    await outbox.publish(EVENTS[0])
    assert not await outbox.flush()
    publisher.error = None
    assert await outbox.flush()
    assert publisher.published == EVENTS[:1]


async def test_a_rejected_event_does_not_block_the_next_one() -> None:
    publisher = RecordingPublisher()
    publisher.error = EventRefusedError("too large")
    outbox = Outbox(publisher)
    done: list[int] = []
    outbox.put(EVENTS[0], on_done=lambda: done.append(1))
    assert await outbox.flush()
    publisher.error = None
    await outbox.publish(EVENTS[1])
    assert (publisher.published, done) == (EVENTS[1:2], [1])


async def test_a_full_outbox_drops_the_oldest_event() -> None:
    publisher = RecordingPublisher()
    outbox = Outbox(publisher, max_waiting=2)
    done: list[int] = []
    for number, event in enumerate(EVENTS):
        outbox.put(event, on_done=lambda number=number: done.append(number))  # type: ignore[misc]
    assert done == [0]
    await outbox.flush()
    assert (publisher.published, done) == (EVENTS[1:], [0, 1, 2])
