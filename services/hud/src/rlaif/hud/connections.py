"""Connections to the bus and the store: what the HUD subscribes to, and reconnects."""

import asyncio
import logging
from collections.abc import AsyncIterator, Awaitable, Callable
from datetime import UTC, datetime
from typing import Protocol

from pydantic import ValidationError

from rlaif.bus.errors import BusError
from rlaif.bus.ports import EventFeed, TelemetryPublisher
from rlaif.bus.queues import Queues
from rlaif.contracts.catalog import CATALOG
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import DeadLetter
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import FRAME_SUBJECT, WatchWish
from rlaif.hud.broadcast import READINGS, Broadcast
from rlaif.hud.read_model.projections import SEGMENTS_SHOWN
from rlaif.hud.read_model.segments.table import UnreadScore
from rlaif.hud.segment_objects import SCORE_CAP_BYTES
from rlaif.pacing.backoff import backoff
from rlaif.storage import sealed
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)

TELEMETRY_SUBJECTS = (f"{FRAME_SUBJECT}.*", *READINGS)
"""One subscription each, so that a burst of frames does not push a reading out of a buffer."""

WISH_SECONDS = 0.5
"""How soon the trainer hears of another wish."""


class LiveBus(Protocol):
    """What the HUD needs of the bus."""

    @property
    def connected(self) -> bool:
        """Whether NATS is there now."""

    def feed(self) -> EventFeed:
        """Follower of the event streams."""

    def subscribe(self, subject: str) -> AsyncIterator[tuple[str, bytes]]:
        """Follower of plain NATS."""

    def telemetry(self) -> TelemetryPublisher:
        """Sender of what people want to see; the HUD sends nothing else."""

    async def queues(self) -> Queues:
        """How full the streams are, and what waits for each consumer."""

    async def dead_letters(self, *, limit: int = 100) -> list[CloudEvent[DeadLetter]]:
        """The newest dead letters, newest first."""

    async def redrive(self, event_id: str) -> str:
        """Send a dead event again; gives its new id."""

    async def close(self) -> None:
        """Close the connection."""


async def listen(bus: LiveBus, broadcast: Broadcast) -> None:
    """Follow everything on the bus; an ExceptionGroup says which source ended or failed."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_follow_events(bus, broadcast))
        tasks.create_task(_tell_wish(bus.telemetry(), broadcast))
        for subject in TELEMETRY_SUBJECTS:
            tasks.create_task(_follow_telemetry(bus, subject, broadcast))


class SourceEndedError(Exception):
    """A source that should never end has ended."""


async def _follow_events(bus: LiveBus, broadcast: Broadcast) -> None:
    events = bus.feed().follow(*(spec.data for spec in CATALOG), history=True)
    broadcast.streams_opened()
    async for event in events:
        broadcast.event(event)
    raise SourceEndedError("the event feed ended")


async def _follow_telemetry(bus: LiveBus, subject: str, broadcast: Broadcast) -> None:
    async for at, payload in bus.subscribe(subject):
        broadcast.telemetry(at, payload)
    raise SourceEndedError(f"the subscription to {subject} ended")


async def _tell_wish(telemetry: TelemetryPublisher, broadcast: Broadcast) -> None:
    """Tell the trainer whose screen people want to see: again and again, as nobody confirms it."""
    while True:
        wish = broadcast.state.screen.wish
        if wish is not None:
            await telemetry.send(WatchWish(at=datetime.now(UTC), env=wish))
        await asyncio.sleep(WISH_SECONDS)


async def read_scores(
    store: ObjectStore, broadcast: Broadcast, *, pause: float = 0.5, retry: float = 3.0
) -> None:
    """Read the score objects of the rows that the page shows, for ever.

    `pause` are the seconds between two looks for new rows, `retry` those when the store is away.
    """
    while True:
        wait = pause
        for unread in broadcast.state.segments.unread(SEGMENTS_SHOWN):
            try:
                broadcast.score(unread, await asyncio.to_thread(_read_score, store, unread))
            except (ObjectNotFoundError, ObjectCorruptError, ScoreObjectError) as error:
                broadcast.score_unreadable(unread, str(error))
            except StorageError as error:
                # The rows say so, instead of standing there with half of their numbers.
                for each in broadcast.state.segments.unread(SEGMENTS_SHOWN):
                    broadcast.score_delayed(each, f"The score cannot be read now: {error}")
                wait = retry
                break
        await asyncio.sleep(wait)


class ScoreObjectError(Exception):
    """The object is not the score that its event announced."""


def _read_score(store: ObjectStore, unread: UnreadScore) -> ScoreRecord:
    data = sealed.read(store, unread.score_key, unread.score_sha256, cap=SCORE_CAP_BYTES)
    try:
        return ScoreRecord.model_validate_json(data)
    except ValidationError as error:
        raise ScoreObjectError(
            f"{unread.score_key} is not a score: {error.error_count()} faults"
        ) from error


FIRST_PAUSE = 0.5
LONGEST_PAUSE = 10.0
PROBE_KEY = "hud/readiness-probe"
"""An object that need not exist: asking for it shows whether the store answers."""

logger = logging.getLogger(__name__)


class BusLink:
    """Connects to the bus and listens, again and again; `why` is None while it does."""

    def __init__(self, connect: Callable[[], Awaitable[LiveBus]], broadcast: Broadcast) -> None:
        self.why: str | None = "not connected yet"
        self._connect = connect
        self._broadcast = broadcast
        self._bus: LiveBus | None = None

    def bus(self) -> LiveBus | None:
        """The bus while it is there."""
        return self._bus if self.check() is None else None

    def check(self) -> str | None:
        """Why the bus is not usable; None when it is."""
        if self.why is None and self._bus is not None and not self._bus.connected:
            return "NATS does not answer; reconnecting"
        return self.why

    async def run(self) -> None:
        """Listen until cancelled."""
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
                    logger.warning("listening ended: %s", self.why, exc_info=group)
            finally:
                await self._close()
            failures += 1
            pause = backoff(failures, base=FIRST_PAUSE, cap=LONGEST_PAUSE)
            logger.info("no bus: %s; next try in %.1f s", self.why, pause)
            await asyncio.sleep(pause)

    async def _close(self) -> None:
        bus, self._bus = self._bus, None
        if bus is not None:
            try:
                await bus.close()
            except OSError as error:  # the socket broke before it could be emptied
                logger.debug("the bus was gone before it was closed: %s", error)


class StoreWatch:
    """Asks the store from time to time whether it is there; `why` is None when it is."""

    def __init__(self, store: ObjectStore, *, every: float = 5.0) -> None:
        self.why: str | None = "not asked yet"
        self._store = store
        self._every = every

    def check(self) -> str | None:
        """Why the store is not usable; None when it is."""
        return self.why

    async def run(self) -> None:
        """Ask until cancelled."""
        while True:
            try:
                await asyncio.to_thread(self._store.head, PROBE_KEY)
                self.why = None
            except StorageError as error:
                self.why = str(error)
            await asyncio.sleep(self._every)
