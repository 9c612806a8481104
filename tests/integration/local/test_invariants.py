"""The check of a ring at rest reads whatever lies in the dead letters."""

import asyncio

import pytest

from rlaif.bus.worker import DurableWorker
from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.data.junk import JUNK
from rlaif.testing.invariants import check
from rlaif.testing.waiting import all_answered, eventually


@pytest.fixture
async def dead_letters_of(bus):
    """Sends messages on the captures' subject and waits until each has its dead letter."""

    async def send(*messages):
        for message in messages:
            await bus.jetstream.publish(spec_of(SegmentCaptured).subject, message)

        async def refuse(event):
            raise AssertionError("none of these is an event")

        worker = DurableWorker(bus, SegmentCaptured, "exporter", refuse)
        running = asyncio.create_task(worker.run())
        await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "all are dead")
        await worker.stop()
        await running

    return send


async def test_a_letter_that_is_no_json_is_counted_and_breaks_no_invariant(
    bus, episodes_store, dead_letters_of
):
    small = [junk for junk in JUNK.values() if len(junk) < 60_000]
    odd = [b'{"id":"x","data":7}', b'{"id":"y","data":{"segment_id":[1]}}', b'{"data":{}}']
    await dead_letters_of(*small, b"[" * 60_000, *odd)
    found = await check(bus, episodes_store)
    assert found.dead == len(small) + 1 + len(odd)
    assert found.wrong == []


async def test_a_capture_without_export_and_letter_is_still_found(
    bus, episodes_store, dead_letters_of
):
    await dead_letters_of(b"{not json")
    await bus.publisher("trainer").publish(segment_captured())
    found = await check(bus, episodes_store)
    assert found.wrong == ["I1 segment-1 was captured and is neither exported nor dead-lettered"]
