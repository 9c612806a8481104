"""Waits that something may cut short."""

import asyncio
import contextlib


async def pause(seconds: float, *, unless: asyncio.Event) -> bool:
    """Sleep, at most until the event is set; True when it is set."""
    # Not `wait_for`: on Python 3.11 an event can make it miss its cancellation.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await unless.wait()
    return unless.is_set()
