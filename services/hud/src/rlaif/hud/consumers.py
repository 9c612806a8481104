"""What the HUD listens to.

    event streams, from their beginning ──▶ counters, tables, event log
    telemetry on plain NATS             ──▶ screen, progress, judge calls
    score objects of the newest rows    ──▶ criteria and rationales

Nothing is acknowledged and nothing is kept: after a restart the streams give the state back.
"""

import asyncio
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from typing import Protocol

from pydantic import ValidationError

from rlaif.bus.ports import EventFeed, TelemetryPublisher
from rlaif.bus.queues import Queues
from rlaif.contracts.catalog import CATALOG
from rlaif.contracts.envelope import CloudEvent
from rlaif.contracts.events import DeadLetter
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import FRAME_SUBJECT, WatchWish
from rlaif.hud.broadcast import READINGS, Broadcast
from rlaif.hud.read_model.projections import SEGMENTS_SHOWN
from rlaif.hud.read_model.segment_table import UnreadScore
from rlaif.hud.segment_objects import SCORE_CAP_BYTES
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
