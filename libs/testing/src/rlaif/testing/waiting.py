"""Wait for a condition instead of sleeping."""

import asyncio
import inspect
import time
from collections.abc import Awaitable, Callable
from typing import TYPE_CHECKING

from rlaif.contracts.catalog import spec_of
from rlaif.contracts.events import EventData

if TYPE_CHECKING:
    from rlaif.bus.connection import Bus

_FIRST_PAUSE_SECONDS, _LONGEST_PAUSE_SECONDS = 0.01, 0.1
_PAUSE_SHARE = 0.05
PATIENCE_SECONDS = 120.0
"""Ends a test that hangs. It says nothing about speed: a busy machine may need most of it."""


async def eventually(
    condition: Callable[[], bool | Awaitable[bool]], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Return as soon as `condition` is true.

    Args:
        condition: Asked every 10 ms at first, and less often the longer it takes; may be async.
        what: What is waited for, for the failure's text.
        seconds: Longest wait; more than the default where the condition takes that long.

    Raises:
        AssertionError: It stayed false.
    """
    began = time.monotonic()
    while True:
        answer = condition()
        if inspect.isawaitable(answer):
            answer = await answer
        if answer:
            return
        waited = time.monotonic() - began
        if waited > seconds:
            raise AssertionError(f"not within {seconds:g} s: {what}")
        # What starts a process or asks a server would else be kept busy by the questions.
        pause = max(_FIRST_PAUSE_SECONDS, waited * _PAUSE_SHARE)
        await asyncio.sleep(min(pause, _LONGEST_PAUSE_SECONDS))


async def backlog_of(bus: "Bus", event_class: type[EventData], consumer: str, count: int) -> None:
    """Wait until `consumer` has `count` events before it: the server counts them a moment late."""

    async def counted() -> bool:
        return await bus.backlog(event_class, consumer) == count

    await eventually(counted, f"{count} events wait for the {consumer}")


async def all_answered(bus: "Bus", event_class: type[EventData], consumer: str) -> bool:
    """Whether `consumer` has acknowledged or given up every stored event.

    Unlike a backlog of 0 it is exact: the server counts a new event into the backlog a moment after
    it confirmed the publish.
    """
    stream = spec_of(event_class).stream
    info = await bus.jetstream.consumer_info(stream, consumer)
    state = (await bus.jetstream.stream_info(stream)).state
    return info.ack_floor is not None and info.ack_floor.stream_seq >= state.last_seq
