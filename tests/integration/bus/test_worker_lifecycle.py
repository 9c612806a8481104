import asyncio
from datetime import timedelta

import pytest
from nats.js import JetStreamContext

from rlaif.bus.connection import connect
from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.waiting import all_answered, backlog_of, eventually


async def never_called(event):
    raise AssertionError(event)


STREAM = spec_of(SegmentCaptured).stream


async def test_stop_waits_for_the_running_handler(bus, start_worker):
    entered, finish, finished = asyncio.Event(), asyncio.Event(), False

    async def handler(event):
        nonlocal finished
        entered.set()
        await finish.wait()
        finished = True

    await bus.publisher("trainer").publish(segment_captured())
    await bus.publisher("trainer").publish(segment_captured("segment-2"))
    worker = start_worker(handler)
    await entered.wait()
    stopping = asyncio.create_task(worker.stop())
    await asyncio.wait([stopping], timeout=0.2)
    assert not stopping.done()
    finish.set()
    await stopping
    assert finished
    await backlog_of(bus, SegmentCaptured, "exporter", 1)  # the second stays for the next


async def test_a_handler_that_outlasts_stop_is_cancelled_and_its_event_given_back(
    bus, start_worker
):
    entered, calls = asyncio.Event(), 0

    async def handler(event):
        nonlocal calls
        calls += 1
        entered.set()
        if calls == 1:
            await asyncio.Event().wait()

    await bus.publisher("trainer").publish(segment_captured())
    worker = start_worker(
        handler, ack_wait=timedelta(hours=1), stop_timeout=timedelta(milliseconds=50)
    )
    await entered.wait()
    await worker.stop()
    start_worker(handler, ack_wait=timedelta(hours=1))
    await eventually(lambda: calls == 2, "given back at once, not after ack_wait")


async def test_an_idle_worker_stops_within_one_fetch(bus, start_worker, monkeypatch):
    fetches = 0
    fetch = JetStreamContext.PullSubscription.fetch

    async def counted(*arguments, **options):
        nonlocal fetches
        fetches += 1
        return await fetch(*arguments, **options)

    monkeypatch.setattr(JetStreamContext.PullSubscription, "fetch", counted)
    worker = start_worker(None, fetch_timeout=timedelta(milliseconds=200))
    await eventually(lambda: worker.healthy, "healthy")
    before = fetches
    await worker.stop()
    assert fetches - before <= 1
    assert not worker.healthy


async def test_stop_before_run_returns(bus):
    worker = DurableWorker(bus, SegmentCaptured, "exporter", never_called)
    await worker.stop()
    await worker.run()
    assert not worker.healthy


async def test_no_event_is_lost_when_nats_is_killed_in_the_middle(bus, nats_server, start_worker):
    ids = {f"segment-{i}" for i in range(60)}
    handled, stored = set(), []
    half = asyncio.Event()

    async def handler(event):
        handled.add(event.data.segment_id)
        await asyncio.sleep(0.005)
        if len(handled) >= 15:
            half.set()

    async def publish_all():
        publisher = bus.publisher("trainer")
        for segment_id in sorted(ids):
            stored.append(await publisher.publish(segment_captured(segment_id)))
            await asyncio.sleep(0.01)

    start_worker(handler, concurrency=2)
    publishing = asyncio.create_task(publish_all())
    await half.wait()
    await asyncio.to_thread(nats_server.restart)
    await publishing
    await eventually(lambda: handled == ids, "every event handled")
    info = await bus.jetstream.stream_info(STREAM)
    assert info.state.messages == len(ids)  # no event is stored twice

    async def finished():
        return await all_answered(bus, SegmentCaptured, "exporter")

    await eventually(finished, "every event answered")
    assert await bus.dead_letters() == []


@pytest.mark.parametrize(("end", "most_calls"), [("stop", 1), ("kill", 2)])
async def test_a_handler_that_ends_while_nats_is_away_is_acknowledged_afterwards(
    bus, nats_server, start_worker, end, most_calls
):
    """A killed NATS may forget that it delivered the event, so it may come twice."""
    entered, finish, calls = asyncio.Event(), asyncio.Event(), 0

    async def handler(event):
        nonlocal calls
        calls += 1
        entered.set()
        await finish.wait()

    await bus.publisher("trainer").publish(segment_captured())
    worker = start_worker(handler, ack_wait=timedelta(seconds=20))
    await entered.wait()
    await asyncio.to_thread(getattr(nats_server, end))
    finish.set()
    await eventually(lambda: not worker.healthy, "unhealthy while NATS is away")
    await asyncio.to_thread(nats_server.start)

    async def finished():
        return bus.connected and await all_answered(bus, SegmentCaptured, "exporter")

    await eventually(finished, "every event answered")
    await eventually(lambda: worker.healthy, "healthy again")
    assert calls <= most_calls


@pytest.mark.parametrize("what", ["stream", "consumer"])
async def test_a_deleted_stream_or_consumer_is_made_again(bus, start_worker, what):
    handled = []

    async def handler(event):
        handled.append(event.data.segment_id)

    worker = start_worker(handler)
    await eventually(lambda: worker.healthy, "healthy")
    if what == "stream":
        await bus.jetstream.delete_stream(STREAM)
    else:
        await bus.jetstream.delete_consumer(STREAM, "exporter")
    await bus.publisher("trainer").publish(segment_captured())
    await eventually(lambda: handled == ["segment-1"], "handled after the repair")


async def test_a_worker_sets_its_ack_wait_and_reports_it(bus, start_worker, caplog):
    worker = start_worker(None, ack_wait=timedelta(seconds=7))
    await eventually(lambda: worker.healthy, "healthy")
    info = await bus.jetstream.consumer_info(STREAM, "exporter")
    assert info.config.ack_wait == 7
    assert info.config.max_deliver == 20
    assert "changing ack_wait of consumer exporter" in caplog.text


async def test_run_ends_with_an_error_when_the_connection_is_gone_for_good(bus, nats_url):
    other = await connect(nats_url, name="other")
    worker = DurableWorker(other, SegmentCaptured, "exporter", never_called)
    await other.close()
    with pytest.raises(BusUnavailableError, match="lost its connection"):
        await worker.run()
