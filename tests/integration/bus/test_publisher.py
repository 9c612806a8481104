import asyncio
from datetime import timedelta

import pytest

from rlaif.bus.connection import connect
from rlaif.bus.errors import BusUnavailableError, EventRefusedError
from rlaif.bus.topology import TopologySettings
from rlaif.contracts.catalog import parse_event, spec_of
from rlaif.contracts.events import RunIterated, SegmentCaptured
from rlaif.testing.data.events import run_iterated, segment_captured, segment_exported
from rlaif.testing.waiting import eventually
from rlaif.tracing.spans import span

STREAM = spec_of(SegmentCaptured).stream


async def backlog_becomes(bus, count):
    """The server counts a new event a moment after it confirmed the publish."""

    async def right():
        return await bus.backlog(SegmentCaptured, "exporter") == count

    await eventually(right, f"backlog {count}")


async def stored(bus):
    return (await bus.jetstream.stream_info(STREAM)).state.messages


async def test_an_event_published_twice_is_stored_once(bus):
    publisher = bus.publisher("trainer")
    assert await publisher.publish(segment_captured()) is True
    assert await publisher.publish(segment_captured()) is False
    assert await bus.publisher("reconciler").publish(segment_captured()) is False
    assert await stored(bus) == 1


async def test_an_event_says_who_published_it_and_carries_its_trace_on(bus):
    await bus.publisher("trainer").publish(segment_captured())
    cause = parse_event((await bus.jetstream.get_msg(STREAM, 1)).data)
    with span("handle", cause=cause.traceparent):
        await bus.publisher("exporter").publish(segment_exported())
    effect = parse_event((await bus.jetstream.get_msg("SEGMENTS", 1)).data)
    assert cause.source == "rlaif/trainer"
    assert effect.source == "rlaif/exporter"
    assert effect.subject == "segment-1"
    assert cause.traceparent is not None
    assert effect.traceparent is not None
    cause_parts, effect_parts = cause.traceparent.split("-"), effect.traceparent.split("-")
    assert cause_parts[1] == effect_parts[1]
    assert cause_parts[2] != effect_parts[2]


async def test_publishing_waits_for_nats_to_come_back(bus, nats_server):
    await asyncio.to_thread(nats_server.kill)
    publishing = asyncio.create_task(bus.publisher("trainer").publish(segment_captured()))
    await eventually(lambda: not bus.connected, "disconnected")
    await asyncio.to_thread(nats_server.start)
    assert await publishing is True
    assert await stored(bus) == 1


async def test_publishing_gives_up_at_its_deadline_with_the_reason(bus, nats_server):
    await asyncio.to_thread(nats_server.kill)
    try:
        publisher = bus.publisher("trainer", deadline=timedelta(milliseconds=200))
        with pytest.raises(BusUnavailableError, match=r"captured:segment-1 .* within 0.2 s"):
            await publisher.publish(segment_captured())
    finally:
        await asyncio.to_thread(nats_server.start)


async def test_an_event_over_the_size_limit_is_refused_at_once(bus):
    huge = segment_captured(capture_key="k" * 70_000)
    with pytest.raises(EventRefusedError, match="store large data as an object"):
        await bus.publisher("trainer").publish(huge)
    beyond_the_server = segment_captured(capture_key="k" * 1_100_000)
    with pytest.raises(EventRefusedError, match="store large data as an object"):
        await bus.publisher("trainer").publish(beyond_the_server)


async def test_a_deleted_stream_is_made_again_by_publishing(bus):
    await bus.jetstream.delete_stream(STREAM)
    assert await bus.publisher("trainer").publish(segment_captured()) is True
    await backlog_becomes(bus, 1)


async def test_a_closed_bus_publishes_nothing(bus, nats_url):
    other = await connect(nats_url, name="other")
    publisher = other.publisher("trainer")
    await other.close()
    with pytest.raises(BusUnavailableError):
        await publisher.publish(segment_captured())


@pytest.fixture
async def small_bus(bus, nats_url):
    """A bus whose streams take 20 KB."""
    await bus.delete_topology()
    opened = await connect(
        nats_url, name="small", settings=TopologySettings(max_bytes=20_000, max_ack_pending=1000)
    )
    await opened.ensure_topology()
    yield opened
    await opened.close()


async def fill(bus, start=0):
    """Publish until the stream refuses; how many fit."""
    publisher = bus.publisher("trainer", deadline=timedelta(milliseconds=300))
    for i in range(start, start + 100):
        try:
            await publisher.publish(segment_captured(f"segment-{i}"))
        except BusUnavailableError:
            return i - start
    raise AssertionError("the stream never filled")


async def test_a_full_stream_refuses_and_keeps_every_unhandled_event(small_bus):
    count = await fill(small_bus)
    assert count > 10
    await backlog_becomes(small_bus, count)
    publisher = small_bus.publisher("trainer", deadline=timedelta(milliseconds=50))
    with pytest.raises(BusUnavailableError, match="maximum bytes exceeded"):
        await publisher.publish(segment_captured("one-more"))


async def test_a_full_stream_makes_room_by_dropping_handled_events(small_bus, start_worker):
    count = await fill(small_bus)
    handled: set[str] = set()

    async def handler(event):
        if len(handled) == count - 3:
            await asyncio.Event().wait()  # this one and those behind it stay unhandled
        handled.add(event.data.segment_id)

    worker = start_worker(handler, on=small_bus, stop_timeout=timedelta(milliseconds=10))

    async def most_handled():
        return await small_bus.backlog(SegmentCaptured, "exporter") == 3

    await eventually(most_handled, "all but three handled")
    await worker.stop()
    assert await fill(small_bus, start=1000) == count - 3
    await backlog_becomes(small_bus, count)


async def test_a_full_stream_for_people_who_look_back_drops_its_oldest(small_bus):
    """An unhandled event must never block its publisher."""
    publisher = small_bus.publisher("trainer", deadline=timedelta(milliseconds=300))
    for step in range(0, 40_000, 1000):
        await publisher.publish(run_iterated(step, step + 1000, gained=[1, 2]))
    state = (await small_bus.jetstream.stream_info(spec_of(RunIterated).stream)).state
    assert 1 < state.first_seq <= state.last_seq == 40
