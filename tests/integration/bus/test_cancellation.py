"""Users of the bus can be cancelled at any time, also while an answer arrives."""

import asyncio
import contextlib
import time
from datetime import timedelta
from functools import partial
from typing import Any

import pytest

from rlaif.bus.cancellation import propagating_cancellation
from rlaif.bus.connection import Bus, connect
from rlaif.bus.ports import WorkerSettings
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import CloudEvent, SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

FAST = WorkerSettings(fetch_timeout=timedelta(milliseconds=100))
TURNS = 16
"""Turns of the loop after an answer lies in the socket; it is taken in within the first five."""


async def cancelled_after(task: asyncio.Task[None], turns: int) -> bool:
    """Cancel `task` so many turns after the loop stood still and an answer came; was it heeded."""
    time.sleep(0.02)  # noqa: ASYNC251  # blocks the loop, as on a busy machine
    for _ in range(turns):
        await asyncio.sleep(0)
    task.cancel()
    await asyncio.wait([task], timeout=3)
    return task.cancelled()


async def test_a_loop_of_requests_ends_in_whichever_turn_it_is_cancelled(bus: Bus):
    async def ask_for_ever() -> None:
        while True:
            await bus.backlog(SegmentCaptured, "exporter")

    for turns in range(TURNS):
        task = asyncio.create_task(ask_for_ever())
        await asyncio.sleep(0.005)
        assert await cancelled_after(task, turns), f"cancelled in turn {turns}"


async def test_a_worker_ends_in_whichever_turn_it_is_cancelled(bus: Bus):
    async def handler(event: CloudEvent[Any]) -> None: ...

    for turns in range(TURNS):
        worker = DurableWorker(bus, SegmentCaptured, "exporter", handler, settings=FAST)
        task = asyncio.create_task(worker.run())
        await eventually(partial(getattr, worker, "healthy"), "it fetches")
        await bus.publisher("trainer").publish(segment_captured(f"segment-{turns}"))
        assert await cancelled_after(task, turns), f"cancelled in turn {turns}"


async def test_a_bus_closes_at_any_point_of_a_reconnection(nats_url: str):
    for turns in range(TURNS):
        bus = await connect(nats_url, name="test")
        await bus.client.force_reconnect()
        for _ in range(turns):
            await asyncio.sleep(0)
        bus.client.options["drain_timeout"] = 3600
        async with asyncio.timeout(PATIENCE_SECONDS):
            await bus.close()
        assert bus.closed


async def test_an_earlier_cancellation_does_not_end_the_cleanup(bus: Bus):
    cleaned = asyncio.Event()

    async def work() -> None:
        try:
            await asyncio.Event().wait()
        finally:
            await bus.backlog(SegmentCaptured, "exporter")
            cleaned.set()

    task = asyncio.create_task(work())
    await asyncio.sleep(0)
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    assert cleaned.is_set()


async def test_a_deadline_stays_a_timeout():
    async def swallow() -> None:
        with propagating_cancellation(), contextlib.suppress(asyncio.CancelledError):
            await asyncio.Event().wait()

    with pytest.raises(TimeoutError):
        async with asyncio.timeout(0.01):
            await swallow()
