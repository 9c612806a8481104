"""What the HUD listens to.

    event streams, from their beginning ──▶ counters, tables, event log
    telemetry on plain NATS             ──▶ screen, progress, judge calls
    score objects of the newest rows    ──▶ criteria and rationales

Nothing is acknowledged and nothing is kept: after a restart the streams give the state back.
"""

import asyncio
from collections.abc import AsyncIterator
from typing import Protocol

from pydantic import ValidationError

from rlaif.bus.ports import EventFeed
from rlaif.contracts.catalog import CATALOG
from rlaif.contracts.scores import ScoreRecord
from rlaif.contracts.telemetry import FRAME_SUBJECT
from rlaif.hud.broadcast import READINGS, Broadcast
from rlaif.hud.read_model.projections import SEGMENTS_SHOWN
from rlaif.hud.read_model.segment_table import UnreadScore
from rlaif.storage import sealed
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)

TELEMETRY_SUBJECTS = (f"{FRAME_SUBJECT}.*", *READINGS)
"""One subscription each, so that a burst of frames does not push a reading out of a buffer."""

SCORE_CAP_BYTES = 4 * 1024 * 1024
"""A score with its calls and rationales takes about 20 kB."""


class LiveBus(Protocol):
    """What the HUD needs of the bus."""

    @property
    def connected(self) -> bool:
        """Whether NATS is there now."""

    def feed(self) -> EventFeed:
        """Follower of the event streams."""

    def subscribe(self, subject: str) -> AsyncIterator[tuple[str, bytes]]:
        """Follower of plain NATS."""

    async def close(self) -> None:
        """Close the connection."""


async def listen(bus: LiveBus, broadcast: Broadcast) -> None:
    """Follow everything on the bus; an ExceptionGroup says which source ended or failed."""
    async with asyncio.TaskGroup() as tasks:
        tasks.create_task(_follow_events(bus, broadcast))
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
