"""Stores and publishes scores that a person gives in place of the judges'.

Overrides are append-only: one more object per revision, never a change of an existing one.
"""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime

from rlaif.bus.ports import Publisher
from rlaif.contracts.scores import PROGRESS, ScoreRecord, rubric_mean
from rlaif.judge.rubric.votes import certain
from rlaif.judge.scoring.score_store import scored_event
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

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
