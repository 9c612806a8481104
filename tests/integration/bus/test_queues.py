"""What waits for whom, as a real server says."""

from rlaif.testing.data.events import segment_captured
from rlaif.testing.waiting import eventually


async def test_an_event_waits_is_in_hand_and_is_answered(bus):
    await bus.publisher("trainer").publish(segment_captured("segment-1"))
    await bus.publisher("trainer").publish(segment_captured("segment-2"))

    async def numbers():
        queue = await captures(bus)
        return (queue.pending, queue.in_flight)

    async def both_wait():
        return await numbers() == (2, 0)

    await eventually(both_wait, "two events wait")
    assert (await captures(bus)).acknowledged_at is None, "none was answered"

    consumer = await bus.jetstream.pull_subscribe_bind("exporter", stream="CAPTURES")
    (message,) = await consumer.fetch(1, timeout=5)
    assert await numbers() == (1, 1)
    await message.ack_sync()
    queue = await captures(bus)
    assert (queue.pending, queue.in_flight) == (1, 0)
    assert queue.acknowledged_at is not None

    fill = {each.name: each for each in (await bus.queues()).streams}
    assert fill["CAPTURES"].messages == 2
    assert 0 < fill["CAPTURES"].bytes < (fill["CAPTURES"].max_bytes or 0)
    assert fill["DEAD"].messages == 0


async def captures(bus):
    found = [each for each in (await bus.queues()).queues if each.consumer == "exporter"]
    assert len(found) == 1
    return found[0]
