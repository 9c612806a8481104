import asyncio

import pytest

from rlaif.pacing.pause import pause


async def test_an_event_ends_the_pause_early() -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(pause(600.0, unless=event))
    await asyncio.sleep(0)
    event.set()
    assert await waiting


async def test_without_the_event_it_lasts_its_seconds() -> None:
    began = asyncio.get_running_loop().time()
    assert not await pause(0.02, unless=asyncio.Event())
    assert asyncio.get_running_loop().time() - began >= 0.02


async def test_an_event_does_not_hide_a_cancellation() -> None:
    event = asyncio.Event()
    waiting = asyncio.create_task(pause(600.0, unless=event))
    await asyncio.sleep(0)
    event.set()
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
