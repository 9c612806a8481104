"""Stores scores and publishes them.

The score object is the commit point: the event describes what is stored, by any replica, and its id
is derived from the content, so a repetition is harmless.
"""

import asyncio
import contextlib
import hashlib
import logging
from dataclasses import dataclass

from pydantic import ValidationError

from rlaif.bus.ports import Publisher
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.scores import ScoreRecord
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

logger = logging.getLogger(__name__)


class CorruptScoreError(Exception):
    """A stored score cannot be parsed."""


@dataclass(frozen=True)
class StoredScore:
    """A score and the digest of its object."""

    record: ScoreRecord
    sha256: str


class ScoreStore:
    """The scores of one judge configuration."""

    def __init__(self, store: ObjectStore, publisher: Publisher, judge_config: str) -> None:
        self._store = store
        self._publisher = publisher
        self._config = judge_config

    async def get(self, segment_id: str) -> StoredScore | None:
        """Raises CorruptScoreError, and StoreUnavailableError."""
        key = keys.score(self._config, segment_id)
        with contextlib.suppress(ObjectNotFoundError):
            return parse_score(await asyncio.to_thread(self._store.get, key), key)
        return None

    async def commit(self, record: ScoreRecord) -> tuple[StoredScore, bool]:
        """Store a score unless there is one; returns what is stored, and whether it is new."""
        key, data = keys.score(self._config, record.segment_id), record.model_dump_json().encode()
        put_once, kind = self._store.put_once, "application/json"
        if await asyncio.to_thread(put_once, key, data, content_type=kind):
            return parse_score(data, key), True
        return parse_score(await asyncio.to_thread(self._store.get, key), key), False

    async def publish(self, record: ScoreRecord, *, sha256: str) -> None:
        """Publish the event of a stored score with this digest."""
        key = keys.score(record.judge_config, record.segment_id)
        await self._publisher.publish(scored_event(record, key=key, sha256=sha256))
        logger.info(
            "scored",
            extra={
                "segment_id": record.segment_id,
                "weighted": record.weighted,
                "abstained": sorted(record.abstentions),
            },
        )


def parse_score(data: bytes, key: str) -> StoredScore:
    """Parse the object of a score."""
    try:
        record = ScoreRecord.model_validate_json(data)
    except ValidationError as error:
        raise CorruptScoreError(
            f"{key} is not a score; delete it and send the event again"
        ) from error
    return StoredScore(record, hashlib.sha256(data).hexdigest())


def scored_event(record: ScoreRecord, *, key: str, sha256: str) -> SegmentScored:
    """The event of a stored score."""
    return SegmentScored(
        segment_id=record.segment_id,
        episode_id=record.episode_id,
        run_id=record.run_id,
        judge_config=record.judge_config,
        score_key=key,
        score_sha256=sha256,
        weighted=record.weighted,
        abstained=tuple(sorted(record.abstentions)),
        agreement=record.votes_agreement,
    )
