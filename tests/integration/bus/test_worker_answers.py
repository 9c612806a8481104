import asyncio
import itertools
import time
from collections import Counter
from datetime import timedelta
from typing import Any

import pytest

from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.bus.topology import MAX_DELIVER
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.catalog import envelop, spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import NOON, segment_captured, segment_exported
from rlaif.testing.waiting import all_answered, eventually

CAPTURED = spec_of(SegmentCaptured)
SOON = timedelta(milliseconds=5)
MISSING = Suspect("missing_object", "it is not there")


class Script:
    """A handler that gives these outcomes in turn (None: done), then the last one again."""

    def __init__(self, *outcomes: Exception | None, work: float = 0.0) -> None:
        self.outcomes = outcomes
        self.work = work
        self.events: list[Any] = []
        self.times: list[float] = []

    @property
    def calls(self) -> int:
        return len(self.events)

    async def __call__(self, event: Any) -> None:
        self.events.append(event)
        self.times.append(time.monotonic())
        await asyncio.sleep(self.work)
        outcome = self.outcomes[min(self.calls, len(self.outcomes)) - 1]
        if outcome is not None:
            raise outcome

    @property
    def gaps(self) -> list[float]:
        return [later - earlier for earlier, later in itertools.pairwise(self.times)]


@pytest.fixture
def answered(bus):
    """Wait until every event is answered; gives the reasons of the dead letters."""

    async def wait():
        await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "all answered")
        return [letter.data.reason for letter in await bus.dead_letters()]

    return wait


@pytest.fixture
async def published(bus):
    await bus.publisher("trainer").publish(segment_captured())


@pytest.mark.usefixtures("published")
async def test_a_handled_event_is_acknowledged(start_worker, answered):
    handler = Script(None)
    start_worker(handler)
    assert await answered() == []
    assert [event.data for event in handler.events] == [segment_captured()]


@pytest.mark.usefixtures("published")
async def test_a_handler_slower_than_ack_wait_gets_its_event_once(start_worker, answered):
    handler = Script(None, work=1.0)  # longer than ack_wait and its check
    for _ in range(2):
        start_worker(handler, ack_wait=timedelta(milliseconds=300))
    assert await answered() == []
    assert handler.calls == 1


@pytest.mark.usefixtures("published")
async def test_retry_after_delays_the_next_delivery(start_worker, answered):
    handler = Script(Retry("store is away", after=timedelta(milliseconds=400)), None)
    start_worker(handler)
    assert await answered() == []
    [gap] = handler.gaps
    assert gap >= 0.39


@pytest.mark.usefixtures("published")
async def test_retry_without_delay_backs_off_by_attempt(start_worker, answered):
    handler = Script(*[Retry("store is away")] * 4, None)
    start_worker(handler, retry_cap=timedelta(seconds=5), retry_base=timedelta(milliseconds=40))
    assert await answered() == []
    assert handler.gaps[3] >= 0.24  # 40 ms, doubled three times, with the least jitter


@pytest.mark.usefixtures("published")
async def test_retries_outnumber_the_servers_deliveries_without_loss(start_worker, answered):
    count = 2 * MAX_DELIVER
    handler = Script(*[Retry("judges are away", after=SOON)] * (count - 1), None)
    start_worker(handler)
    await eventually(lambda: handler.calls == count, "every retry")
    assert await answered() == []


async def test_a_rejected_event_is_dead_lettered_once_and_never_seen_again(
    bus, start_worker, answered
):
    handler = Script(Reject("ram_hash_mismatch", "the replay ended in another RAM"))
    publisher = bus.publisher("trainer")
    await publisher.publish(segment_captured())
    worker = start_worker(handler, ack_wait=timedelta(milliseconds=300))
    await answered()
    await worker.stop()
    start_worker(handler)
    await publisher.publish(segment_captured("segment-2"))
    await eventually(lambda: handler.calls == 2, "the second event")
    await answered()
    second, first = await bus.dead_letters()
    assert second.data.event_id == "captured:segment-2"
    letter = first.data
    assert letter.event_id == first.subject == "captured:segment-1"
    assert (letter.reason, letter.consumer) == ("ram_hash_mismatch", "exporter")
    assert letter.detail == "the replay ended in another RAM"
    assert (letter.stream, letter.attempts) == (CAPTURED.stream, 1)
    assert letter.original["data"] == segment_captured().model_dump(mode="json")


@pytest.mark.usefixtures("published")
@pytest.mark.parametrize(
    ("outcome", "attempts", "reason", "detail"),
    [
        (KeyError("frames"), 3, "handler_failed", "KeyError: 'frames'"),
        (MISSING, 3, "missing_object", "it is not there"),
        (Suspect("replay_hung", "no end in 20 s", tries=2), 2, "replay_hung", "no end in 20 s"),
    ],
)
async def test_a_failure_is_retried_a_few_times_then_dead_lettered(
    bus, start_worker, answered, outcome, attempts, reason, detail
):
    handler = Script(outcome)
    start_worker(handler, retry_base=timedelta(milliseconds=100), retry_cap=timedelta(seconds=1))
    await answered()
    assert handler.calls == attempts
    [letter] = await bus.dead_letters()
    assert (letter.data.reason, letter.data.detail) == (reason, detail)
    assert letter.data.attempts == attempts
    # 100 ms, then 200 ms, with the least jitter
    assert all(gap >= least for gap, least in zip(handler.gaps, (0.07, 0.14), strict=False))


@pytest.mark.usefixtures("published")
async def test_attempts_are_counted_over_restarts_and_between_workers(start_worker, answered):
    """Each worker handles one delivery and stops; none of them could count to three."""
    handler = Script(MISSING)
    for count in (1, 2, 3):
        worker = start_worker(handler, retry_base=timedelta(milliseconds=500))
        await eventually(lambda: handler.calls == count, "one more try")  # noqa: B023  # awaited at once
        await worker.stop()
    assert await answered() == ["missing_object"]


@pytest.mark.usefixtures("published")
async def test_an_outage_in_between_neither_adds_nor_forgets_attempts(start_worker, answered):
    retry = Retry("the store is away", after=SOON)
    handler = Script(MISSING, *[retry] * (MAX_DELIVER + 3), MISSING, *[retry] * 4, MISSING)
    start_worker(handler)
    assert await answered() == ["missing_object"]
    assert handler.calls == MAX_DELIVER + 10


async def test_headers_of_other_programs_count_nothing(bus, start_worker, answered):
    handler = Script(None)
    await bus.publisher("trainer").publish(segment_captured())
    data = (await bus.jetstream.get_msg(CAPTURED.stream, 1)).data
    for number, junk in enumerate(("²", "-1", "1e9", "nan", "9" * 5000, "")):
        headers = {"Rlaif-Tries": junk, "Rlaif-Wait": junk, "Nats-Msg-Id": str(number)}
        await bus.jetstream.publish(CAPTURED.subject, data, headers=headers)
    start_worker(handler)
    assert await answered() == []
    assert handler.calls == 7


async def test_a_letter_that_its_stream_refuses_is_written_without_the_original(
    bus, start_worker, answered
):
    config = (await bus.jetstream.stream_info("DEAD")).config
    await bus.jetstream.update_stream(config.evolve(max_msg_size=4096))
    await bus.jetstream.publish(CAPTURED.subject, b"x" * 60_000)
    start_worker(None)
    await answered()
    [letter] = await bus.dead_letters()
    assert letter.data.original == "too large to be kept here; it is message 1 of stream CAPTURES"


async def test_dead_letters_without_room_replace_the_oldest_and_hold_up_no_event(
    bus, start_worker, answered
):
    config = (await bus.jetstream.stream_info("DEAD")).config
    await bus.jetstream.update_stream(config.evolve(max_bytes=300_000))
    for number in range(8):
        await bus.jetstream.publish(CAPTURED.subject, b"\x01" * 60_000 + str(number).encode())
    await bus.publisher("trainer").publish(segment_captured())
    handler = Script(None)
    start_worker(handler)
    assert await answered() == ["invalid_event"] * 3
    assert [event.data for event in handler.events] == [segment_captured()]


async def test_a_copy_waits_at_most_as_long_as_a_retry_may(bus, start_worker, answered):
    """Anybody on the bus may write the header; a waiting copy occupies a place of the consumer."""
    event = (
        envelop(segment_captured(), source="rlaif/trainer", time=NOON).model_dump_json().encode()
    )
    await bus.jetstream.publish(CAPTURED.subject, event, headers={"Rlaif-Wait": "3600"})
    handler = Script(None)
    start_worker(handler, retry_cap=SOON)
    assert await answered() == []
    assert handler.calls == 1


@pytest.mark.usefixtures("published")
async def test_a_handler_past_its_deadline_is_cancelled_and_bounded(bus, start_worker, answered):
    cancelled = 0

    async def handler(event):
        nonlocal cancelled
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled += 1
            raise

    start_worker(handler, deadline=timedelta(milliseconds=50), max_attempts=2)
    assert await answered() == ["handler_failed"]
    assert cancelled == 2
    [letter] = await bus.dead_letters()
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
async def test_a_poison_event_is_dead_lettered_once(bus, start_worker, answered, payload, original):
    handler = Script(None)
    await bus.jetstream.publish(CAPTURED.subject, payload)
    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    assert await answered() == ["invalid_event"]
    assert handler.calls == 1
    [letter] = await bus.dead_letters()
    assert letter.data.original == original
    assert letter.data.event_id


async def test_an_event_of_another_type_is_invalid_here(bus, start_worker, answered):
    await bus.publisher("exporter").publish(segment_exported())
    raw = await bus.jetstream.get_msg("SEGMENTS", 1)
    await bus.jetstream.publish(CAPTURED.subject, raw.data)
    handler = Script(None)
    start_worker(handler)
    assert await answered() == ["invalid_event"]
    assert handler.calls == 0
    [letter] = await bus.dead_letters()
    assert "is not valid on subject" in letter.data.detail


@pytest.mark.usefixtures("published")
async def test_an_event_that_killed_every_worker_is_dead_lettered_unhandled(
    bus, start_worker, answered
):
    dying = await bus.jetstream.pull_subscribe_bind("exporter", stream=CAPTURED.stream)
    for _ in range(MAX_DELIVER - 1):
        [message] = await dying.fetch(1, timeout=2)
        await message.nak()
    await dying.unsubscribe()
    handler = Script(None)
    start_worker(handler)
    assert await answered() == ["never_answered"]
    assert handler.calls == 0
    [letter] = await bus.dead_letters()
    assert letter.data.attempts == MAX_DELIVER


async def test_two_workers_share_one_consumer_without_double_handling(bus, start_worker, answered):
    handlers = [Script(None, work=0.005) for _ in range(2)]  # so that both get some
    publisher = bus.publisher("trainer")
    ids = [f"segment-{i}" for i in range(40)]
    for segment_id in ids:
        await publisher.publish(segment_captured(segment_id))
    for handler in handlers:
        start_worker(handler)
    await answered()
    handled = Counter(event.data.segment_id for each in handlers for event in each.events)
    assert handled == Counter(ids)
    assert all(handler.calls for handler in handlers)


async def test_concurrency_is_used_and_never_exceeded(bus, start_worker):
    running, peak, done = 0, 0, 0
    three = asyncio.Barrier(3)

    async def handler(event):
        nonlocal running, peak, done
        running += 1
        peak = max(peak, running)
        await three.wait()
        running -= 1
        done += 1

    publisher = bus.publisher("trainer")
    for i in range(15):
        await publisher.publish(segment_captured(f"segment-{i}"))
    start_worker(handler, concurrency=3)
    await eventually(lambda: done == 15, "all handled")
    assert peak == 3


async def test_the_observer_receives_the_end_of_each_delivery(bus, start_worker):
    ends = []

    class Observer:
        def handled(self, event_type, outcome, seconds, age):
            assert 0 <= seconds <= age
            ends.append((event_type, outcome))

    publisher = bus.publisher("trainer")
    await publisher.publish(segment_captured("segment-1"))
    handler = Script(Retry("later", after=SOON), None, Reject("bad", "it is bad"))
    start_worker(handler, observer=Observer())
    await eventually(lambda: len(ends) == 2, "retried and done")
    await publisher.publish(segment_captured("segment-2"))
    await eventually(lambda: len(ends) == 3, "rejected")
    assert ends == [(CAPTURED.type, word) for word in ("retried", "done", "rejected")]


def test_a_consumer_that_the_catalog_lacks_is_refused():
    nowhere: Any = None
    with pytest.raises(ValueError, match=r"'judge' is not a consumer of .*exporter"):
        DurableWorker(nowhere, SegmentCaptured, "judge", nowhere)
