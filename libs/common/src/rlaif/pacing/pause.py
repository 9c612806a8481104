"""Pauses that an event can interrupt."""

import asyncio
import contextlib

SAME_REQUEST_SECONDS = 0.5
"""Stop signals within this time count once: `timeout` signals a process, then its group."""


async def pause(seconds: float, *, unless: asyncio.Event) -> bool:
    """Sleep until the event is set, at most `seconds`; returns whether it is set."""
    # Not `wait_for`: on Python 3.11 it can miss a cancellation when the event is set.
    with contextlib.suppress(TimeoutError):
        async with asyncio.timeout(seconds):
            await unless.wait()
    return unless.is_set()
