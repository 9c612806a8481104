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
"""Limit for tests that hang, not for speed: a busy machine may need most of it."""


async def eventually(
    condition: Callable[[], bool | Awaitable[bool]], what: str, *, seconds: float = PATIENCE_SECONDS
) -> None:
    """Return as soon as `condition` is true.

    Args:
        condition: Polled every 10 ms at first, then less often; may be async.
        what: Description of the condition, for the error message.
        seconds: Maximum wait; above the default if the condition takes longer.

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
        # Conditions that start a process or query a server would cause too much load.
        pause = max(_FIRST_PAUSE_SECONDS, waited * _PAUSE_SHARE)
        await asyncio.sleep(min(pause, _LONGEST_PAUSE_SECONDS))


async def backlog_of(bus: "Bus", event_class: type[EventData], consumer: str, count: int) -> None:
    """Wait until `consumer` has `count` pending events: the server counts them with a delay."""

    async def counted() -> bool:
        return await bus.backlog(event_class, consumer) == count

    await eventually(counted, f"{count} events wait for the {consumer}")


async def all_answered(bus: "Bus", event_class: type[EventData], consumer: str) -> bool:
    """Whether `consumer` has acknowledged or abandoned every stored event.

    Unlike a backlog of 0 this is exact: the server updates the backlog shortly after it has
    confirmed the publish.
    """
    stream = spec_of(event_class).stream
    info = await bus.jetstream.consumer_info(stream, consumer)
    state = (await bus.jetstream.stream_info(stream)).state
    return info.ack_floor is not None and info.ack_floor.stream_seq >= state.last_seq
