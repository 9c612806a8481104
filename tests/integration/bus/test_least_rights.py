"""Services that may do their own work, and neither make, change nor empty streams."""

import asyncio
import contextlib
import json
import logging
from datetime import timedelta

import nats.errors
import pytest

from rlaif.bus.connection import connect, connect_ready
from rlaif.bus.errors import BusUnavailableError, StreamsMissingError
from rlaif.bus.outcome import Reject, Retry
from rlaif.bus.topology import TopologySettings
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT
from rlaif.testing.data.events import segment_captured
from rlaif.testing.waiting import PATIENCE_SECONDS, all_answered, eventually

CAPTURES = spec_of(SegmentCaptured).stream


@pytest.fixture
async def admin(guarded_nats):
    """The bootstrap's connection; small streams, not made yet."""
    settings = TopologySettings(max_bytes=1024 * 1024)
    bus = await connect(guarded_nats.url_of("admin"), name="bootstrap", settings=settings)
    yield bus
    await bus.close()


@pytest.fixture
async def bus(admin, guarded_nats):
    """The exporter's connection, on the streams that the bootstrap made."""
    await admin.align_topology()
    opened = await connect_as(guarded_nats, "exporter")
    yield opened
    await opened.close()


async def connect_as(nats, name):
    return await connect_ready(nats.url_of(name), name="test", manage_streams=False)


async def test_without_the_bootstrap_a_service_says_what_is_missing_and_who_makes_it(guarded_nats):
    with pytest.raises(StreamsMissingError) as caught:
        await connect_as(guarded_nats, "exporter")
    assert "stream CAPTURES, stream SEGMENTS" in str(caught.value)
    assert "python -m rlaif.bootstrap" in str(caught.value)


async def test_a_missing_consumer_is_named(bus, admin, guarded_nats):
    await admin.jetstream.delete_consumer(CAPTURES, "exporter")
    with pytest.raises(StreamsMissingError, match="lacks consumer CAPTURES/exporter"):
        await connect_as(guarded_nats, "exporter")


async def test_all_that_services_do_is_permitted(bus, guarded_nats, start_worker, caplog):
    caplog.set_level(logging.DEBUG)
    seen = []

    async def handler(event):
        seen.append(event.data.segment_id)
        await asyncio.sleep(0.2)  # the work: longer than a heartbeat
        if seen.count("retried") == 1:
            raise Retry("once more")
        if event.data.segment_id == "bad":
            raise Reject("bad", "as the test wants it")

    trainer, hud = [await connect_as(guarded_nats, name) for name in ("trainer", "hud")]
    publisher = trainer.publisher("trainer")
    for name in ("good", "retried", "bad"):
        assert await publisher.publish(segment_captured(segment_id=name))
    worker = start_worker(handler, ack_wait=timedelta(seconds=2), heartbeat=timedelta(seconds=0.1))
    await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "all are answered")
    assert worker.healthy
    assert set(seen) == {"good", "retried", "bad"}
    assert [each.data.reason for each in await hud.dead_letters()] == ["bad"]
    assert await hud.redrive("captured:bad") == "captured:bad#again-1"
    await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "it is dead again")
    assert await trainer.backlog(SegmentCaptured, "exporter") == 0
    events = hud.feed().follow(SegmentCaptured, history=True)
    async with asyncio.timeout(PATIENCE_SECONDS):
        followed = [(await anext(events)).data.segment_id for _ in range(3)]
    await events.aclose()
    assert followed == ["good", "retried", "bad"]
    frames = hud.subscribe(f"{FRAME_SUBJECT}.>")
    first = asyncio.create_task(anext(frames))
    async with asyncio.timeout(PATIENCE_SECONDS):
        while not first.done():
            await trainer.telemetry().send_bytes(f"{FRAME_SUBJECT}.0", b"frame")
            await asyncio.wait((first,), timeout=0.05)
    assert first.result() == (f"{FRAME_SUBJECT}.0", b"frame")
    await frames.aclose()
    await trainer.close()
    await hud.close()
    assert "violation" not in caplog.text.lower()


async def test_a_consumer_that_stays_cannot_be_made_by_the_way_of_feeds(admin, guarded_nats):
    await admin.align_topology()
    hud = await connect_as(guarded_nats, "hud")
    config = {"durable_name": "another", "ack_policy": "none", "deliver_policy": "all"}
    request = json.dumps({"stream_name": CAPTURES, "config": config}).encode()
    answer = await hud.client.request(f"$JS.API.CONSUMER.CREATE.{CAPTURES}", request, timeout=2)
    assert "error" in json.loads(answer.data)
    named = json.dumps({"stream_name": CAPTURES, "config": {**config, "name": "another"}}).encode()
    answer = await hud.client.request(f"$JS.API.CONSUMER.CREATE.{CAPTURES}", named, timeout=2)
    assert "error" in json.loads(answer.data)
    await hud.close()
    consumers = await admin.jetstream.consumers_info(CAPTURES)
    assert [each.name for each in consumers] == ["exporter"]


async def test_a_service_that_manages_streams_cannot_start_there(guarded_nats):
    task = asyncio.create_task(connect_ready(guarded_nats.url_of("exporter"), name="test"))
    with pytest.raises(BusUnavailableError, match=r"could not ensure the streams.*ermissions"):
        await task


async def test_a_full_stream_says_who_makes_room_and_takes_events_once_there_is(
    bus, admin, guarded_nats, caplog
):
    trainer = await connect_as(guarded_nats, "trainer")
    await fill(admin)
    consumer = await admin.jetstream.pull_subscribe_bind("exporter", stream=CAPTURES)
    for message in await consumer.fetch(10, timeout=5):
        await message.ack_sync()
    caplog.clear()
    publishing = asyncio.create_task(trainer.publisher("trainer").publish(segment_captured()))
    await eventually(lambda: "rlaif.bootstrap --make-room" in caplog.text, "it says so")
    assert (await admin.jetstream.stream_info(CAPTURES)).state.first_seq == 1
    assert await admin.make_room(above=0.8) == [CAPTURES]
    assert await publishing
    await trainer.close()


async def test_a_worker_whose_streams_vanish_ends_and_says_why(bus, admin):
    async def handler(event):
        raise AssertionError("nothing was published")

    worker = DurableWorker(bus, SegmentCaptured, "exporter", handler)
    running = asyncio.create_task(worker.run())
    await eventually(lambda: worker.healthy, "it fetches")
    await admin.delete_topology()
    with pytest.raises(StreamsMissingError, match=f"stream {CAPTURES}"):
        async with asyncio.timeout(PATIENCE_SECONDS):
            await running
    assert await admin.jetstream.streams_info() == []


async def test_the_ack_wait_of_a_worker_is_left_to_the_bootstrap(bus, admin, start_worker):
    async def handler(event):
        pass

    start_worker(handler, ack_wait=timedelta(seconds=7))
    await admin.publisher("trainer").publish(segment_captured())
    await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "it is handled")
    assert (await bus.jetstream.consumer_info(CAPTURES, "exporter")).config.ack_wait == 30


async def fill(admin):
    for size in (60_000, 1000, 10):
        with contextlib.suppress(nats.errors.Error):
            while True:
                await admin.jetstream.publish("segment.captured", bytes(size))
