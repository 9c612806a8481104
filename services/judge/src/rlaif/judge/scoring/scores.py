"""Stores scores of judges and people, and publishes them.

The score object is the commit point: the event describes the stored object, from any replica, and
its id is derived from the content, so repetitions are harmless. Human overrides are append-only:
each revision is another object, and existing ones never change.
"""

import asyncio
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime

from pydantic import ValidationError

from rlaif.bus.ports import Publisher
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.judging.scores import PROGRESS, ScoreRecord, rubric_mean
from rlaif.judge.rubric.votes import certain
from rlaif.storage import keys
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore

logger = logging.getLogger(__name__)

HUMAN = "human"
MAX_REVISIONS = 1000


class CorruptScoreError(Exception):
    """A stored score cannot be parsed."""


class NotJudgedError(LookupError):
    """The segment has no score to override."""


@dataclass(frozen=True)
class StoredScore:
    """A score and the digest of its object."""

    record: ScoreRecord
    sha256: str


@dataclass(frozen=True)
class Override:
    """A person's levels from 0 to 2, or None to abstain; other criteria are unchanged."""

    levels: Mapping[str, int | None]
    author: str
    note: str | None = None


class Scores:
    """The scores of one judge configuration."""

    def __init__(
        self,
        store: ObjectStore,
        publisher: Publisher,
        judge_config: str,
        *,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._config = judge_config
        self._now = now

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

    async def override(self, segment_id: str, override: Override) -> ScoreRecord:
        """Override some criteria of the newest score of a segment.

        Raises:
            NotJudgedError: It has no score.
            StoreUnavailableError: It is not stored, or the outcome is unknown.
            BusUnavailableError: It is stored, but not published.
        """
        stored = await asyncio.to_thread(self._store_override, segment_id, override)
        await self.publish(stored)
        return stored.record

    def _store_override(self, segment_id: str, override: Override) -> StoredScore:
        base = self._read(keys.score(self._config, segment_id))
        if base is None:
            raise NotJudgedError(segment_id)
        for revision in range(1, MAX_REVISIONS):
            key = keys.score(keys.human_config(revision), segment_id)
            stored = self._read(key)
            if stored is None:
                made = overridden(base.record, override, revision, self._now())
                if new := self._put_once(key, made):
                    return new
                stored = self._read(key)
            base = stored or base
        raise NotJudgedError(f"{segment_id} has {MAX_REVISIONS} overrides already")

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


def overridden(base: ScoreRecord, override: Override, revision: int, at: datetime) -> ScoreRecord:
    """A score with a person's levels; `revision` counts the overrides of the segment, from 1.

    A level of progress removes the judges' positions on the quest: a person judges only the
    direction, not the distance.
    """
    levels = override.levels
    criteria = {name: score for name, score in base.criteria.items() if name not in levels}
    abstentions = {name: reason for name, reason in base.abstentions.items() if name not in levels}
    for name, level in levels.items():
        if level is None:
            abstentions[name] = HUMAN
        else:
            criteria[name] = certain(level, judge=HUMAN, source="human")
    values = {name: score.value for name, score in criteria.items()}
    return base.model_copy(
        update={
            "judge_config": keys.human_config(revision),
            "criteria": criteria,
            "abstentions": abstentions,
            "weighted": rubric_mean(values, dict(base.weights)),
            "quest": None if PROGRESS in levels else base.quest,
            "calls": (),
            "created_at": at,
            "provenance": "human",
            "author": override.author,
            "note": override.note,
        }
    )
