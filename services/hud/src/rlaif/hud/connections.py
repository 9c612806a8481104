"""Connections of the HUD to the bus and the store: subscriptions and reconnects."""

import asyncio
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime

from rlaif.bus.connection import Bus
from rlaif.bus.errors import BusError
from rlaif.bus.ports import TelemetryPublisher
from rlaif.contracts.catalog import CATALOG
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT
from rlaif.contracts.telemetry.readings import WatchWish
from rlaif.hud.broadcast import READINGS, Broadcast
from rlaif.hud.read_model.projections import SEGMENTS_SHOWN, HudState
from rlaif.hud.segment_objects import UnreadableObjectError, read_score
from rlaif.pacing.backoff import backoff
from rlaif.storage.ports import (
    ObjectStore,
    StorageError,
)

TELEMETRY_SUBJECTS = (f"{FRAME_SUBJECT}.*", *READINGS)
"""One subscription per subject, so that a burst of frames displaces no reading from a buffer."""

REQUEST_SECONDS = 0.5
"""Interval of the requests for an environment's screen."""

logger = logging.getLogger(__name__)
FIRST_PAUSE = 0.5
MAX_PAUSE = 10.0


async def listen(bus: Bus, broadcast: Broadcast) -> None:
    """Subscribe to everything; an ExceptionGroup names the source that ended or failed."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_follow_events(bus, broadcast))
        tasks.create_task(_request_screen(bus.telemetry(), broadcast))
        for subject in TELEMETRY_SUBJECTS:
            tasks.create_task(_follow_telemetry(bus, subject, broadcast))


class SourceEndedError(Exception):
    """A source ended that should be endless."""


async def _follow_events(bus: Bus, broadcast: Broadcast) -> None:
    events = bus.feed().follow(*(spec.data for spec in CATALOG), history=True)
    broadcast.state.streams_opened()
    async for event in events:
        broadcast.event(event)
    raise SourceEndedError("the event feed ended")


async def _follow_telemetry(bus: Bus, subject: str, broadcast: Broadcast) -> None:
    async for at, payload in bus.subscribe(subject):
        broadcast.telemetry(at, payload)
    raise SourceEndedError(f"the subscription to {subject} ended")


async def _request_screen(telemetry: TelemetryPublisher, broadcast: Broadcast) -> None:
    """Repeat the request to the trainer, which is not acknowledged."""
    while True:
        env = broadcast.state.screen.selection.requested
        if env is not None:
            await telemetry.send(WatchWish(at=datetime.now(UTC), env=env))
        await asyncio.sleep(REQUEST_SECONDS)


async def read_scores(
    store: ObjectStore, state: HudState, *, pause: float = 0.5, retry: float = 3.0
) -> None:
    """Read the score objects of the rows that the page shows, until cancelled.

    Args:
        store: The bucket of episodes.
        state: Its table gets the scores.
        pause: Seconds between two polls for new rows.
        retry: Seconds between two polls while the store is unavailable.
    """
    rows = state.segments
    while True:
        wait = pause
        for unread in rows.unread(SEGMENTS_SHOWN):
            try:
                record = await asyncio.to_thread(
                    read_score, store, unread.score_key, unread.score_sha256
                )
                state.apply_score(unread, record)
            except UnreadableObjectError as error:
                rows.score_read(unread, None, problem=str(error))
            except StorageError as error:
                for each in rows.unread(SEGMENTS_SHOWN):
                    rows.score_delayed(each, f"The score cannot be read now: {error}")
                wait = retry
                break
        await asyncio.sleep(wait)


class BusLink:
    """Connects to the bus and listens, with retries; `why` is None while connected."""

    def __init__(self, connect: Callable[[], Awaitable[Bus]], broadcast: Broadcast) -> None:
        self.why: str | None = "not connected yet"
        self._connect = connect
        self._broadcast = broadcast
        self._bus: Bus | None = None

    def bus(self) -> Bus | None:
        return self._bus if self.check() is None else None

    def check(self) -> str | None:
        if self.why is None and self._bus is not None and not self._bus.connected:
            return "NATS does not answer; reconnecting"
        return self.why

    async def run(self) -> None:
        failures = 0
        while True:
            try:
                self._bus = await self._connect()
                self.why, failures = None, 0
                await listen(self._bus, self._broadcast)
            except BusError as error:
                self.why = str(error)
            except ExceptionGroup as group:
                self.why = "; ".join(str(error) for error in group.exceptions)
                if group.split(BusError)[1] is not None:
                    logger.warning("subscriptions ended: %s", self.why, exc_info=group)
            finally:
                await self._close()
            failures += 1
            pause = backoff(failures, base=FIRST_PAUSE, cap=MAX_PAUSE)
            logger.info("bus unavailable: %s; retrying in %.1f s", self.why, pause)
            await asyncio.sleep(pause)

    async def _close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            try:
                await bus.close()
            except OSError as error:  # the socket failed before it was flushed
                logger.debug("connection lost before it was closed: %s", error)
