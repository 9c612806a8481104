import pytest

from rlaif.bus.errors import EventRefusedError, UnknownDeadLetterError
from rlaif.bus.outcome import Reject
from rlaif.contracts.catalog import retry_subject, spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import dead_letter_of, segment_captured
from rlaif.testing.waiting import all_answered, eventually


async def nothing_left(bus):
    return await all_answered(bus, SegmentCaptured, "exporter")


async def test_a_redriven_event_is_handled_again_and_leaves_the_dead_letters(bus, start_worker):
    broken, handled = True, []

    async def handler(event):
        if broken:
            raise Reject("rom_missing", "no cartridge is configured")
        handled.append(event)

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "dead-lettered")
    broken = False
    new_id = await bus.redrive("captured:segment-1")
    await eventually(lambda: len(handled) == 1, "handled after the redrive")
    assert handled[0].id == new_id == "captured:segment-1#again-1"
    assert handled[0].data == segment_captured()
    assert handled[0].traceparent
    assert await bus.dead_letters() == []
    with pytest.raises(UnknownDeadLetterError, match="captured:segment-1"):
        await bus.redrive("captured:segment-1")


async def test_a_redriven_event_that_dies_again_has_a_dead_letter_again(bus, start_worker):
    async def handler(event):
        raise Reject("rom_missing", "no cartridge is configured")

    async def one_letter():
        return len(await bus.dead_letters()) == 1

    await bus.publisher("trainer").publish(segment_captured())
    start_worker(handler)
    await eventually(one_letter, "first death")
    await bus.redrive("captured:segment-1")
    await eventually(one_letter, "second death")
    [letter] = await bus.dead_letters()
    assert letter.data.event_id == "captured:segment-1#again-1"
    assert await bus.redrive(letter.data.event_id) == "captured:segment-1#again-2"


@pytest.mark.parametrize("payload", [b"{not json", b"\xff\xfe\x00", b"[" * 50_000])
async def test_what_was_no_event_is_redriven_as_it_was(bus, start_worker, payload):
    subject = spec_of(SegmentCaptured).subject
    await bus.jetstream.publish(subject, payload)
    start_worker(None)
    await eventually(lambda: nothing_left(bus), "dead-lettered")
    [letter] = await bus.dead_letters()
    await bus.redrive(letter.data.event_id)
    raw = await bus.jetstream.get_msg(letter.data.stream, 2)
    assert (raw.subject, raw.data) == (retry_subject("exporter"), payload)


async def test_dead_letters_are_listed_newest_first(bus, start_worker):
    async def handler(event):
        raise Reject("bad", "it is bad")

    publisher = bus.publisher("trainer")
    for i in range(5):
        await publisher.publish(segment_captured(f"segment-{i}"))
    start_worker(handler)
    await eventually(lambda: nothing_left(bus), "dead-lettered")
    await bus.redrive("captured:segment-3")
    await eventually(lambda: nothing_left(bus), "dead again")
    await bus.jetstream.publish("dead.CAPTURES", b"not a letter")
    ids = [letter.data.event_id for letter in await bus.dead_letters()][:3]
    assert ids == ["captured:segment-3#again-4", "captured:segment-4", "captured:segment-2"]


@pytest.mark.parametrize(
    ("stream", "subject"),
    [
        ("CAPTURES", "$JS.API.STREAM.PURGE.SCORES"),
        ("CAPTURES", "segment.scored"),
        ("DEAD", "dead.CAPTURES"),
        ("HISTORY", "run.iterated"),
        ("NONE", "segment.captured"),
    ],
)
async def test_a_letter_to_what_no_consumer_reads_is_not_sent(bus, stream, subject):
    letter = dead_letter_of("harmless", stream=stream, subject=subject)
    await bus.publisher("exporter").publish(letter)
    with pytest.raises(EventRefusedError, match="harmless"):
        await bus.redrive("harmless")
    assert len(await bus.dead_letters()) == 1
