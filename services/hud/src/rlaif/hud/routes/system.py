"""REST routes of the system page: queues, from NATS, and dead letters."""

import asyncio
from collections.abc import Callable
from datetime import datetime
from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import BaseModel, ConfigDict, Field

from rlaif.bus.connection import Bus
from rlaif.bus.errors import BusError, EventRefusedError, UnknownDeadLetterError
from rlaif.bus.queues import Queue, StreamFill
from rlaif.hud.broadcast import Broadcast
from rlaif.hud.read_model.views import DeadLetterRow
from rlaif.hud.routes.stored import NO_STORE
from rlaif.service.problems import Problem

MOMENT = 2.0
"""Seconds for which a response of NATS is cached."""

MAX_LETTERS = 100


class QueuesView(BaseModel):
    """Streams and queues, as reported by NATS."""

    at: datetime
    streams: tuple[StreamFill, ...]
    queues: tuple[Queue, ...]


class DeadLettersPage(BaseModel):
    """The newest events that were given up, newest first."""

    items: list[DeadLetterRow]
    count: int = Field(description="All dead letters; `items` may be fewer.")


class Redrive(BaseModel):
    """The event to send again."""

    model_config = ConfigDict(extra="forbid")

    event_id: str = Field(min_length=1, max_length=300)


class Redriven(BaseModel):
    """The event was sent again."""

    event_id: str
    new_event_id: str = Field(description="Its new id.")


class _Queues:
    """Caches the response of NATS."""

    def __init__(self, bus: Callable[[], Bus | None], clock: Callable[[], datetime]) -> None:
        self._bus, self._clock = bus, clock
        self._lock = asyncio.Lock()
        self._known: QueuesView | None = None

    async def view(self) -> QueuesView:
        async with self._lock:
            now = self._clock()
            if self._known is None or (now - self._known.at).total_seconds() >= MOMENT:
                found = await connected(self._bus).queues()
                self._known = QueuesView(at=now, streams=found.streams, queues=found.queues)
            return self._known


def system_router(
    bus: Callable[[], Bus | None], broadcast: Broadcast, clock: Callable[[], datetime]
) -> APIRouter:
    """The routes; `bus` returns None while NATS is unavailable."""
    router = APIRouter(prefix="/api/v1", tags=["system"], dependencies=NO_STORE)
    queues = _Queues(bus, clock)

    @router.get("/queues", operation_id="list_queues")
    async def list_queues() -> QueuesView:
        """Sizes of the streams, and the state of each consumer."""
        try:
            return await queues.view()
        except BusError as error:
            raise _unavailable(str(error)) from error

    @router.get("/dead-letters", operation_id="list_dead_letters")
    async def list_dead_letters(
        limit: Annotated[int, Query(ge=1, le=MAX_LETTERS, description="Maximum number.")] = 20,
    ) -> DeadLettersPage:
        """Events that a consumer gave up, newest first, with the reason."""
        letters = broadcast.state.dead_letters
        return DeadLettersPage(items=letters.newest(limit), count=letters.count)

    @router.post("/dead-letters/redrive", operation_id="redrive_dead_letter")
    async def redrive(request: Redrive) -> Redriven:
        """Send a dead event again and remove its dead letter; fix the cause first."""
        try:
            new_id = await connected(bus).redrive(request.event_id)
        except UnknownDeadLetterError as error:
            raise Problem(404, "no-such-dead-letter", "No such dead letter", str(error)) from error
        except EventRefusedError as error:
            raise Problem(409, "dead-letter-refused", "Not sent again", str(error)) from error
        except BusError as error:
            raise _unavailable(str(error)) from error
        broadcast.redriven(request.event_id)
        return Redriven(event_id=request.event_id, new_event_id=new_id)

    return router


def connected(bus: Callable[[], Bus | None]) -> Bus:
    """The bus, or a problem while NATS is unavailable."""
    found = bus()
    if found is None:
        raise _unavailable("The HUD is not connected to NATS.")
    return found


def _unavailable(why: str) -> Problem:
    return Problem(503, "bus-unavailable", "The message bus does not answer", why)
