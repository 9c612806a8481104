import asyncio
import itertools
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.topology import MAX_DELIVER
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured, segment_exported
from rlaif.testing.waiting import all_answered, eventually

CAPTURED = spec_of(SegmentCaptured)


async def nothing_left(bus: Bus) -> bool:
    return await all_answered(bus, SegmentCaptured, "exporter")


async def test_a_handled_event_is_acknowledged(bus, start_worker):
    seen = []

    async def handler(event):
        seen.append(event)

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert [event.data for event in seen] == [segment_captured()]
    assert await bus.dead_letters() == []


async def test_a_handler_slower_than_ack_wait_gets_its_event_once(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        await asyncio.sleep(1.0)  # the work: longer than ack_wait and its check

    await bus.publisher("trainer").publish(segment_captured())
    for _ in range(2):
        start_worker(handler, ack_wait=timedelta(milliseconds=300))
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert calls == 1


async def test_retry_after_delays_the_next_delivery(bus, start_worker):
    times = []

    async def handler(event):
        times.append(time.monotonic())
        if len(times) == 1:
            raise Retry("store is away", after=timedelta(milliseconds=400))

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert len(times) == 2
    assert times[1] - times[0] >= 0.39


async def test_retry_without_delay_backs_off_by_attempt(bus, start_worker):
    times = []

    async def handler(event):
        times.append(time.monotonic())
        if len(times) < 5:
            raise Retry("store is away")

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler, retry_cap=timedelta(seconds=5), retry_base=timedelta(milliseconds=40))
    await eventually(lambda: nothing_left(bus), "every event answered")
    gaps = [later - earlier for earlier, later in itertools.pairwise(times)]
    assert gaps[3] >= 0.24  # 40 ms, doubled three times, with the least jitter


async def test_retries_outnumber_the_servers_deliveries_without_loss(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        if calls < 2 * MAX_DELIVER:
            raise Retry("judges are away", after=timedelta(milliseconds=5))

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: calls == 2 * MAX_DELIVER, "every retry")
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert await bus.dead_letters() == []


async def test_a_rejected_event_is_dead_lettered_once_and_never_seen_again(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        raise Reject("ram_hash_mismatch", "the replay ended in another RAM")

    publisher = bus.publisher("trainer")
    await publisher.publish(segment_captured())
    worker = start_worker(handler, ack_wait=timedelta(milliseconds=300))
    await eventually(lambda: nothing_left(bus), "every event answered")
    await worker.stop()
    start_worker(handler)
    await publisher.publish(segment_captured("segment-2"))
    await eventually(lambda: calls == 2, "the second event")
    await eventually(lambda: nothing_left(bus), "every event answered")
    second, first = await bus.dead_letters()
    assert first.data.event_id == "captured:segment-1"
    assert second.data.event_id == "captured:segment-2"
    assert first.data.reason == "ram_hash_mismatch"
    assert first.data.detail == "the replay ended in another RAM"
    assert first.data.consumer == "exporter"
    assert first.data.stream == CAPTURED.stream
    assert first.data.attempts == 1
    assert first.data.original["data"] == segment_captured().model_dump(mode="json")
    assert first.subject == "captured:segment-1"


async def test_an_unexpected_exception_is_tried_again_then_dead_lettered(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        raise KeyError("frames")

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert calls == 3
    [letter] = await bus.dead_letters()
    assert letter.data.reason == "handler_failed"
    assert letter.data.detail == "KeyError: 'frames'"
    assert letter.data.attempts == 3


async def test_retries_do_not_use_up_the_attempts_of_exceptions(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        if calls <= 4:
            raise Retry("judges are away", after=timedelta(milliseconds=5))
        if calls <= 6:
            raise KeyError("frames")

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert calls == 7
    assert await bus.dead_letters() == []


async def test_a_suspect_is_tried_a_few_times_then_dead_lettered_under_its_own_word(
    bus, start_worker
):
    times = []

    async def handler(event):
        times.append(time.monotonic())
        raise Suspect("missing_object", "captures/a is not in the store")

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler, retry_base=timedelta(milliseconds=100), retry_cap=timedelta(seconds=1))
    await eventually(lambda: nothing_left(bus), "every event answered")
    [letter] = await bus.dead_letters()
    assert (letter.data.reason, letter.data.attempts) == ("missing_object", 3)
    assert letter.data.detail == "captures/a is not in the store"
    first, second, third = times
    assert second - first >= 0.07  # 100 ms with the least jitter
    assert third - second >= 0.14


async def test_a_suspect_may_ask_for_fewer_tries(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        raise Suspect("replay_hung", "no end in 20 s", tries=2)

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert calls == 2


async def test_tries_are_counted_over_restarts_and_between_workers(bus, start_worker):
    """Each worker handles one delivery and is gone; none of them could count to three."""
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        raise Suspect("missing_object", "it is not there")

    await bus.publisher("trainer").publish(segment_captured())
    for tried in (1, 2, 3):
        worker = start_worker(handler, retry_base=timedelta(milliseconds=500))
        await eventually(lambda: calls == tried, "one more try")  # noqa: B023  # awaited at once
        await worker.stop()
    assert calls == 3
    assert [letter.data.reason for letter in await bus.dead_letters()] == ["missing_object"]


async def test_an_outage_in_between_neither_adds_nor_forgets_tries(bus, start_worker):
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        if calls in (1, MAX_DELIVER + 5):
            raise Suspect("missing_object", "it is not there")
        if calls < MAX_DELIVER + 10:
            raise Retry("the store is away", after=timedelta(milliseconds=5))
        raise Suspect("missing_object", "it is not there")

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert calls == MAX_DELIVER + 10
    assert [letter.data.reason for letter in await bus.dead_letters()] == ["missing_object"]


async def test_headers_that_are_not_ours_count_nothing(bus, start_worker):
    handled = []

    async def handler(event):
        handled.append(event)

    data = await stored_event(bus)
    for number, junk in enumerate(("²", "-1", "1e9", "nan", "9" * 5000, "")):
        headers = {"Rlaif-Tries": junk, "Rlaif-Wait": junk, "Nats-Msg-Id": str(number)}
        await bus.jetstream.publish(CAPTURED.subject, data, headers=headers)
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert len(handled) == 7


async def stored_event(bus):
    await bus.publisher("trainer").publish(segment_captured())
    return (await bus.jetstream.get_msg(CAPTURED.stream, 1)).data


async def test_a_letter_that_its_stream_refuses_is_written_without_the_original(bus, start_worker):
    config = (await bus.jetstream.stream_info("DEAD")).config
    await bus.jetstream.update_stream(config.evolve(max_msg_size=4096))
    await bus.jetstream.publish(CAPTURED.subject, b"x" * 60_000)
    start_worker(None)
    await eventually(lambda: nothing_left(bus), "every event answered")
    [letter] = await bus.dead_letters()
    assert letter.data.original == "too large to be kept here; it is message 1 of stream CAPTURES"


async def test_an_event_whose_letter_finds_no_room_outlives_the_servers_deliveries(
    bus, start_worker
):
    """A full stream of dead letters refuses them; none is lost until there is room."""
    config = (await bus.jetstream.stream_info("DEAD")).config
    await bus.jetstream.update_stream(config.evolve(max_bytes=1))
    calls = 0

    async def handler(event):
        nonlocal calls
        calls += 1
        raise Reject("bad", "it is bad")

    await bus.publisher("trainer").publish(segment_captured())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("rlaif.bus.delivery._STORE_DEADLINE", timedelta(milliseconds=30))
        start_worker(handler, retry_cap=timedelta(milliseconds=5))
        await eventually(lambda: calls > MAX_DELIVER + 2, "more tries than deliveries")
    await bus.jetstream.update_stream(config)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert [letter.data.reason for letter in await bus.dead_letters()] == ["bad"]


async def test_a_handler_past_its_deadline_is_cancelled_and_bounded(bus, start_worker):
    cancelled = 0

    async def handler(event):
        nonlocal cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler, deadline=timedelta(milliseconds=50), max_attempts=2)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert cancelled == 2
    [letter] = await bus.dead_letters()
    assert letter.data.reason == "handler_failed"
    assert letter.data.detail == "not finished within 0.05 s"


@pytest.mark.parametrize(
    ("payload", "original"),
    [
        (b"{not json", "{not json"),
        (b"\xff\xfe", "data:application/octet-stream;base64,//4="),
        (b"[" * 60_000, "[" * 60_000),
        (rb'{"id":"\ud800"}', r'{"id":"\ud800"}'),
        (b'{"id":"x","data":NaN}', '{"id":"x","data":NaN}'),
        (b"", ""),
        (b"[1]", "[1]"),
        (b'{"id": "x1"}', {"id": "x1"}),
    ],
)
async def test_a_poison_event_is_dead_lettered_once(bus, start_worker, payload, original):
    seen = []

    async def handler(event):
        seen.append(event.data.segment_id)

    await bus.jetstream.publish(CAPTURED.subject, payload)
    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert seen == ["segment-1"]
    [letter] = await bus.dead_letters()
    assert letter.data.reason == "invalid_event"
    assert letter.data.original == original
    assert letter.data.event_id


async def test_an_event_of_another_type_is_invalid_here(bus, start_worker):
    async def handler(event):
        raise AssertionError("must not be called")

    await bus.publisher("exporter").publish(segment_exported())
    raw = await bus.jetstream.get_msg("SEGMENTS", 1)
    await bus.jetstream.publish(CAPTURED.subject, raw.data)
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    [letter] = await bus.dead_letters()
    assert letter.data.reason == "invalid_event"
    assert "does not travel on" in letter.data.detail


async def test_an_event_that_killed_every_worker_is_dead_lettered_unhandled(bus, start_worker):
    called = False

    async def handler(event):
        nonlocal called
        called = True

    await bus.publisher("trainer").publish(segment_captured())
    dying = await bus.jetstream.pull_subscribe_bind("exporter", stream=CAPTURED.stream)
    for _ in range(MAX_DELIVER - 1):
        [message] = await dying.fetch(1, timeout=2)
        await message.nak()
    await dying.unsubscribe()
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert not called
    [letter] = await bus.dead_letters()
    assert letter.data.reason == "never_answered"
    assert letter.data.attempts == MAX_DELIVER


async def test_two_workers_share_one_consumer_without_double_handling(bus, start_worker):
    handled: Counter[tuple[str, str]] = Counter()

    def handler_of(name):
        async def handler(event):
            handled[name, event.data.segment_id] += 1
            await asyncio.sleep(0.005)  # the work, so that both get some

        return handler

    publisher = bus.publisher("trainer")
    ids = [f"segment-{i}" for i in range(40)]
    for segment_id in ids:
        await publisher.publish(segment_captured(segment_id))
    start_worker(handler_of("a"))
    start_worker(handler_of("b"))
    await eventually(lambda: nothing_left(bus), "every event answered")
    assert set(handled.values()) == {1}
    assert sorted(segment_id for _, segment_id in handled) == sorted(ids)
    assert {name for name, _ in handled} == {"a", "b"}


async def test_concurrency_is_used_and_never_exceeded(bus, start_worker):
    running, peak, done = 0, 0, 0

    async def handler(event):
        nonlocal running, peak, done
        running += 1
        peak = max(peak, running)
        await asyncio.sleep(0.02)
        running -= 1
        done += 1

    publisher = bus.publisher("trainer")
    for i in range(15):
        await publisher.publish(segment_captured(f"segment-{i}"))
    start_worker(handler, concurrency=3)
    await eventually(lambda: done == 15, "all handled")
    assert peak == 3


async def test_the_observer_hears_how_each_delivery_ended(bus, start_worker):
    heard = []

    class Observer:
        def handled(self, event_type, outcome, seconds, age):
            assert 0 <= seconds <= age
            heard.append((event_type, outcome))

    async def handler(event):
        if len(heard) == 0:
            raise Retry("later", after=timedelta(milliseconds=5))
        if len(heard) == 2:
            raise Reject("bad", "it is bad")

    publisher = bus.publisher("trainer")
    await publisher.publish(segment_captured("segment-1"))
    start_worker(handler, observer=Observer())
    await eventually(lambda: len(heard) == 2, "retried and done")
    await publisher.publish(segment_captured("segment-2"))
    await eventually(lambda: len(heard) == 3, "rejected")
    assert heard == [(CAPTURED.type, word) for word in ("retried", "done", "rejected")]


def test_a_consumer_that_the_catalog_lacks_is_refused():
    nowhere: Any = None
    with pytest.raises(ValueError, match=r"'judge' is not a consumer of .*exporter"):
        DurableWorker(nowhere, SegmentCaptured, "judge", nowhere)
