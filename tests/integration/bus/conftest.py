import asyncio
from collections.abc import AsyncIterator, Callable
from dataclasses import replace
from datetime import timedelta
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.bus.ports import Handler, WorkerSettings
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import SegmentCaptured


def ms(milliseconds: float) -> timedelta:
    return timedelta(milliseconds=milliseconds)


FAST = WorkerSettings(
    ack_wait=ms(600),
    heartbeat=ms(150),
    deadline=ms(5000),
    max_attempts=3,
    retry_base=ms(20),
    retry_cap=ms(100),
    stop_timeout=ms(3000),
    fetch_timeout=ms(100),
)

StartWorker = Callable[..., DurableWorker]


@pytest.fixture
async def start_worker(bus: Bus) -> AsyncIterator[StartWorker]:
    """Start workers, on the captures' consumer if nothing else is said; the end stops them."""
    started: list[tuple[DurableWorker, asyncio.Task[None]]] = []

    def start(handler: Handler, **changes: Any) -> DurableWorker:
        observer = changes.pop("observer", None)
        on = changes.pop("on", bus)
        worker = DurableWorker(
            on,
            changes.pop("event", SegmentCaptured),
            changes.pop("consumer", "exporter"),
            handler,
            settings=replace(FAST, **changes),
            observer=observer,
        )
        started.append((worker, asyncio.create_task(worker.run())))
        return worker

    yield start
    for worker, task in started:
        await worker.stop()
        await asyncio.gather(task, return_exceptions=True)
