"""Stores scores and publishes them.

The score object is the commit point: the event describes the stored object, from any replica, and
its id is derived from the content, so repetitions are harmless.
"""

import asyncio
import hashlib
import logging
from dataclasses import dataclass

from pydantic import ValidationError

from rlaif.bus.ports import Publisher
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.storage import keys
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore

logger = logging.getLogger(__name__)


class CorruptScoreError(Exception):
    """A stored score cannot be parsed."""


@dataclass(frozen=True)
class StoredScore:
    """A score and the digest of its object."""

    record: ScoreRecord
    sha256: str


class Scores:
    """The scores of one judge configuration."""

    def __init__(self, store: ObjectStore, publisher: Publisher, judge_config: str) -> None:
        self._store = store
        self._publisher = publisher
        self._config = judge_config

    async def get(self, segment_id: str) -> StoredScore | None:
        """The current score, or None; raises CorruptScoreError and StoreUnavailableError."""
        return await asyncio.to_thread(self._read, keys.score(self._config, segment_id))

    async def commit(self, record: ScoreRecord) -> tuple[StoredScore, bool]:
        """Store a score unless one exists; returns the stored score and whether it is new."""
        key = keys.score(self._config, record.segment_id)
        stored = await asyncio.to_thread(self._put_once, key, record)
        if stored is not None:
            return stored, True
        return await asyncio.to_thread(read_score, self._store, key), False

    async def publish(self, stored: StoredScore) -> None:
        record = stored.record
        await self._publisher.publish(
            SegmentScored(
                segment_id=record.segment_id,
                episode_id=record.episode_id,
                run_id=record.run_id,
                judge_config=record.judge_config,
                score_key=keys.score(record.judge_config, record.segment_id),
                score_sha256=stored.sha256,
                weighted=record.weighted,
                abstained=tuple(sorted(record.abstentions)),
                agreement=record.votes_agreement,
                position=record.quest.end.position if record.quest else None,
            )
        )
        logger.info(
            "scored",
            extra={
                "segment_id": record.segment_id,
                "weighted": record.weighted,
                "abstained": sorted(record.abstentions),
            },
        )

    def _read(self, key: str) -> StoredScore | None:
        try:
            return read_score(self._store, key)
        except ObjectNotFoundError:
            return None

    def _put_once(self, key: str, record: ScoreRecord) -> StoredScore | None:
        """The stored score; None if the object exists already."""
        data = record.model_dump_json().encode()
        is_new = self._store.put_once(key, data, content_type="application/json")
        return parse_score(data, key) if is_new else None


def read_score(store: ObjectStore, key: str) -> StoredScore:
    """Read a score object; raises CorruptScoreError and StorageError. Blocks."""
    try:
        return parse_score(store.get(key), key)
    except ObjectCorruptError as error:
        raise CorruptScoreError(f"{error}; delete it and send the event again") from error


def parse_score(data: bytes, key: str) -> StoredScore:
    """Parse a score object; raises CorruptScoreError."""
    try:
        record = ScoreRecord.model_validate_json(data)
    except ValidationError as error:
        raise CorruptScoreError(
            f"{key} is not a score; delete it and send the event again"
        ) from error
    return StoredScore(record, hashlib.sha256(data).hexdigest())
