"""Stores a person's score of a segment and tells of it."""

import asyncio
import hashlib
from collections.abc import Callable, Mapping
from datetime import datetime

from rlaif.bus.ports import Publisher
from rlaif.contracts.scores import ScoreRecord
from rlaif.judge.panel.scoring import scored_event
from rlaif.judge.trust.overrides import overridden
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

MOST_REVISIONS = 1000


class NotJudgedError(LookupError):
    """The segment has no score that could be overridden."""


class HumanScores:
    """Writes overrides: append-only, one object a revision."""

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
            NotJudgedError: The judges have not scored it under `judge_config`.
            StoreUnavailableError: Nothing was stored, or it is not known whether it was.
            BusUnavailableError: It is stored and will be found; nobody was told.
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
        for revision in range(1, MOST_REVISIONS):
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
        raise NotJudgedError(f"{segment_id} has {MOST_REVISIONS} overrides already")

    def _read(self, key: str) -> ScoreRecord | None:
        try:
            return ScoreRecord.model_validate_json(self._store.get(key))
        except ObjectNotFoundError:
            return None
