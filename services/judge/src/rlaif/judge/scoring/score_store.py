"""Stores scores of judges and of people, and publishes them.

The score object is the commit point: the event describes what is stored, by any replica, and its id
is derived from the content, so a repetition is harmless. Overrides by a person are append-only: one
more object per revision, never a change of an existing one.
"""

import asyncio
import contextlib
import hashlib
import logging
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import datetime

from pydantic import ValidationError

from rlaif.bus.ports import Publisher
from rlaif.contracts.events import SegmentScored
from rlaif.contracts.judging.scores import PROGRESS, ScoreRecord, rubric_mean
from rlaif.judge.rubric.votes import certain
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


HUMAN = "human"
MAX_REVISIONS = 1000


class NotJudgedError(LookupError):
    """The segment has no score to override."""


class HumanScores:
    """Writes overrides."""

    def __init__(
        self, store: ObjectStore, publisher: Publisher, *, now: Callable[[], datetime]
    ) -> None:
        self._store = store
        self._publisher = publisher
        self._now = now

    async def override(
        self,
        judge_config: str,
        segment_id: str,
        levels: Mapping[str, int | None],
        *,
        author: str,
        note: str | None,
    ) -> ScoreRecord:
        """Override some criteria of the newest score of a segment.

        Raises:
            NotJudgedError: There is no score under `judge_config`.
            StoreUnavailableError: It is not stored, or not known to be.
            BusUnavailableError: It is stored, but not published.
        """
        record, data = await asyncio.to_thread(
            self._store_next, judge_config, segment_id, levels, author, note
        )
        key = keys.score(record.judge_config, segment_id)
        digest = hashlib.sha256(data).hexdigest()
        await self._publisher.publish(scored_event(record, key=key, sha256=digest))
        return record

    def _store_next(
        self,
        judge_config: str,
        segment_id: str,
        levels: Mapping[str, int | None],
        author: str,
        note: str | None,
    ) -> tuple[ScoreRecord, bytes]:
        base = self._read(keys.score(judge_config, segment_id))
        if base is None:
            raise NotJudgedError(segment_id)
        for revision in range(1, MAX_REVISIONS):
            key = keys.score(keys.human_config(revision), segment_id)
            stored = self._read(key)
            if stored is None:
                made = overridden(
                    base, levels, revision=revision, author=author, note=note, at=self._now()
                )
                data = made.model_dump_json().encode()
                if self._store.put_once(key, data, content_type="application/json"):
                    return made, data
                stored = self._read(key)
            base = stored or base
        raise NotJudgedError(f"{segment_id} has {MAX_REVISIONS} overrides already")

    def _read(self, key: str) -> ScoreRecord | None:
        try:
            return ScoreRecord.model_validate_json(self._store.get(key))
        except ObjectNotFoundError:
            return None


def overridden(
    base: ScoreRecord,
    levels: Mapping[str, int | None],
    *,
    revision: int,
    author: str,
    note: str | None,
    at: datetime,
) -> ScoreRecord:
    """The score `base` with a person's levels from 0 to 2, or None for an abstention.

    Other criteria are unchanged. A level of progress removes the judges' positions on the quest: a
    person says closer or away, not how far. `revision` counts the overrides of the segment, from 1.
    """
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
            "author": author,
            "note": note,
        }
    )
