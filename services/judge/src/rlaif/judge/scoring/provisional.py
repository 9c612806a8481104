"""Replaces provisional scores, which lack a judge whose answers could not be parsed.

A note about the segment is stored before its provisional score. Once the answers can be parsed, the
segment is judged again. The second score is committed under its own key, once for all replicas, and
then replaces the provisional one. So a score changes at most once, to a committed value, and a
crash in between is repaired by a repetition.

For each new segment one old segment is judged again; new ones never wait for old ones.
"""

import asyncio
import logging
from collections import deque
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta
from itertools import islice

from pydantic import BaseModel, ValidationError

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.evidence.loading import CorruptSegmentError
from rlaif.judge.scoring.judging import SegmentJudge
from rlaif.judge.scoring.scores import CorruptScoreError, StoredScore, parse_score, read_score
from rlaif.storage import keys
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore

logger = logging.getLogger(__name__)

_MAX_LISTED = 200
_LIST_INTERVAL = timedelta(seconds=20)
_MAX_AGE = timedelta(days=7)


class Note(BaseModel):
    """`rejudge/{judge_config}/{segment_id}.json`: a segment to be judged again."""

    exported: SegmentExported
    judges: tuple[str, ...]


class ProvisionalScores:
    """The notes of one judge configuration."""

    def __init__(
        self,
        store: ObjectStore,
        judge_config: str,
        *,
        unreadable: Callable[[], Container[str]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`unreadable` returns the judges whose answers currently cannot be parsed."""
        self._store = store
        self._config = judge_config
        self._unreadable = unreadable
        self._now = now
        self._waiting: deque[str] = deque()
        self._next_list = datetime.min.replace(tzinfo=UTC)
        self._listing = asyncio.Lock()

    async def note(self, exported: SegmentExported, judges: tuple[str, ...]) -> None:
        """Store a note, before the provisional score is committed, so that none is lost."""
        data = Note(exported=exported, judges=judges).model_dump_json().encode()
        key = keys.rejudge(self._config, exported.segment_id)
        await asyncio.to_thread(self._store.put_once, key, data, content_type="application/json")

    async def rescore_one(self, judge: SegmentJudge, *, after: str) -> StoredScore | None:
        """Judge a noted segment other than `after` again; returns its score if it is final.

        Raises:
            OutageError: A route is unavailable; the note is kept.
            StoreUnavailableError: The store did not answer.
        """
        exported = await self._next(after=after)
        if exported is None:
            return None
        try:
            record = await judge.judge(exported)
        except (ObjectNotFoundError, CorruptSegmentError) as error:
            logger.warning("%s cannot be judged again: %s", exported.segment_id, error)
            await self.drop(exported.segment_id)
            return None
        if any(name in self._unreadable() for name in record.distrusted):
            return None
        return await asyncio.to_thread(self._replace, record.model_copy(update={"distrusted": ()}))

    async def drop(self, segment_id: str) -> None:
        await asyncio.to_thread(self._store.delete_many, [keys.rejudge(self._config, segment_id)])

    async def _next(self, *, after: str) -> SegmentExported | None:
        async with self._listing:
            if not self._waiting and self._now() >= self._next_list:
                self._next_list = self._now() + _LIST_INTERVAL
                self._waiting.extend(await asyncio.to_thread(self._list))
            while self._waiting:
                found = await asyncio.to_thread(self._read, self._waiting.popleft())
                if found is not None and found.segment_id != after:
                    return found
        return None

    def _list(self) -> list[str]:
        infos = list(islice(self._store.list(keys.rejudge(self._config)), _MAX_LISTED))
        old = {info.key for info in infos if self._now() - info.modified_at > _MAX_AGE}
        if old:
            logger.warning("%d provisional scores are too old to be replaced", len(old))
            self._store.delete_many(sorted(old))
        return [info.key for info in infos if info.key not in old]

    def _read(self, key: str) -> SegmentExported | None:
        """A noted segment whose judges can be asked again."""
        try:
            note = Note.model_validate_json(self._store.get(key))
        except ObjectNotFoundError:
            return None  # another replica was faster
        except (ValidationError, ObjectCorruptError):
            self._store.delete_many([key])
            return None
        if any(judge in self._unreadable() for judge in note.judges):
            return None
        return note.exported if self._is_provisional(key, note.exported.segment_id) else None

    def _is_provisional(self, key: str, segment_id: str) -> bool:
        """Whether the score of a note is provisional; otherwise the note is deleted."""
        score = keys.score(self._config, segment_id)
        try:
            provisional = bool(read_score(self._store, score).record.distrusted)
        except ObjectNotFoundError:
            return False  # not committed yet
        except CorruptScoreError:
            provisional = False
        if not provisional:
            self._store.delete_many([key])
        return provisional

    def _replace(self, record: ScoreRecord) -> StoredScore:
        data, kind = record.model_dump_json().encode(), "application/json"
        committed = keys.rejudged(self._config, record.segment_id)
        if not self._store.put_once(committed, data, content_type=kind):
            data = self._store.get(committed)
        key = keys.score(self._config, record.segment_id)
        self._store.put(key, data, content_type=kind)
        logger.info("provisional score replaced", extra={"segment_id": record.segment_id})
        return parse_score(data, key)
