import asyncio
import contextlib
from datetime import UTC, datetime, timedelta

import pytest

from rlaif.contracts.catalog import envelop, spec_of
from rlaif.contracts.events import DeadLetter, SegmentCaptured, SegmentExported
from rlaif.testing.data.events import segment_captured, segment_exported
from rlaif.testing.waiting import PATIENCE_SECONDS, backlog_of, eventually

CAPTURED = spec_of(SegmentCaptured)


@pytest.fixture
async def follow(bus):
    """Follow in the background; what came so far is in the list."""
    tasks = []

    async def start(*events, history):
        seen = []

        async def collect():
            async with contextlib.aclosing(bus.feed().follow(*events, history=history)) as feed:
                async for event in feed:
                    seen.append(event.id)

        tasks.append(asyncio.create_task(collect()))
        streams = {spec_of(event).stream for event in events}

        async def reading():
            counts = [(await bus.jetstream.stream_info(s)).state.consumer_count for s in streams]
            fixed = [sum(len(x.consumers) for x in [CAPTURED] if x.stream == s) for s in streams]
            return all(count > least for count, least in zip(counts, fixed, strict=True))

        await eventually(reading, "the feed reads every stream")
        return seen

    yield start
    for task in tasks:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def test_history_gives_stored_events_in_order_then_new_ones(bus, follow):
    publisher = bus.publisher("trainer")
    for i in range(20):
        await publisher.publish(segment_captured(f"segment-{i}"))
    seen = await follow(SegmentCaptured, history=True)
    await publisher.publish(segment_captured("segment-20"))
    await eventually(lambda: len(seen) == 21, "history and the new one")
    assert seen == [f"captured:segment-{i}" for i in range(21)]


async def test_the_time_of_an_event_is_when_it_was_stored(bus):
    claimed = datetime(2031, 1, 1, tzinfo=UTC)
    event = envelop(segment_captured("segment-1"), source="rlaif/test", time=claimed)
    await bus.jetstream.publish(CAPTURED.pattern, event.model_dump_json().encode())
    stored = await bus.jetstream.get_last_msg(CAPTURED.stream, CAPTURED.pattern)
    async with contextlib.aclosing(bus.feed().follow(SegmentCaptured, history=True)) as feed:
        found = await anext(feed)
    assert found.id == event.id
    assert abs(found.time - stored.time) < timedelta(milliseconds=1)


async def test_without_history_only_new_events_come(bus, follow):
    publisher = bus.publisher("trainer")
    await publisher.publish(segment_captured("old"))
    seen = await follow(SegmentCaptured, history=False)
    await publisher.publish(segment_captured("new"))
    await eventually(lambda: seen == ["captured:new"], "the new one alone")


async def test_several_streams_are_followed_at_once_without_acknowledging(bus, follow):
    seen = await follow(SegmentCaptured, DeadLetter, history=True)
    await bus.publisher("trainer").publish(segment_captured())
    await bus.jetstream.publish("dead.OTHER", b"not an event")
    await eventually(lambda: seen == ["captured:segment-1"], "the capture")
    await backlog_of(bus, SegmentCaptured, "exporter", 1)


async def test_a_feed_continues_where_it_was_after_nats_was_killed(bus, nats_server, follow):
    publisher = bus.publisher("trainer")
    seen = await follow(SegmentCaptured, history=True)
    await publisher.publish(segment_captured("segment-1"))
    await eventually(lambda: len(seen) == 1, "before")
    await asyncio.to_thread(nats_server.restart)
    await publisher.publish(segment_captured("segment-2"))
    await eventually(lambda: len(seen) >= 2, "after")
    assert seen == ["captured:segment-1", "captured:segment-2"]


async def test_a_feed_reads_a_rebuilt_stream_from_its_start(bus, follow):
    publisher = bus.publisher("trainer")
    for i in range(3):
        await publisher.publish(segment_captured(f"segment-{i}"))
    seen = await follow(SegmentCaptured, history=False)
    await bus.jetstream.delete_stream(CAPTURED.stream)
    await publisher.publish(segment_captured("rebuilt"))
    await eventually(lambda: seen == ["captured:rebuilt"], "the rebuilt stream's event")


async def test_a_feed_ends_when_the_bus_closes(bus):
    async def drain():
        async for _ in bus.feed().follow(SegmentExported, history=True):
            pass

    await bus.publisher("exporter").publish(segment_exported())
    following = asyncio.create_task(drain())
    await asyncio.wait([following], timeout=0.1)
    await bus.close()
    await asyncio.wait_for(following, PATIENCE_SECONDS)
