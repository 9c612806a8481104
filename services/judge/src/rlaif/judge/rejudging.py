"""Judges again what was scored while a judge was not believed or could not be read.

A score that lacks a judge's word for that reason (`ScoreRecord.distrusted`) is a provisional one.
Beside it lies a note of the segment. Once its judges are heard again, the segment is judged again,
and the second score is committed under a key of its own, once for all replicas;
then the provisional score is replaced by that very object. So each score changes at most once, to
what is committed already, whoever writes it and however often.

For each new segment one old one is judged again: new ones never wait for old ones.
"""

import asyncio
import hashlib
import logging
from collections import deque
from collections.abc import Callable, Container
from datetime import UTC, datetime, timedelta
from itertools import islice

from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.events import SegmentExported
from rlaif.contracts.scores import ScoreRecord
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore

logger = logging.getLogger(__name__)

_LISTED = 200
_LOOK_AGAIN = timedelta(seconds=20)
_KEPT = timedelta(days=7)
"""Notes that are older are given up: whoever was not believed for so long will not be."""


class Note(BaseModel):
    """`rejudge/{judge_config}/{segment_id}.json`: a segment that is to be judged again."""

    model_config = ConfigDict(extra="ignore")

    exported: SegmentExported
    judges: tuple[str, ...]


class Rejudging:
    """The notes of one judge configuration."""

    def __init__(
        self,
        store: ObjectStore,
        judge_config: str,
        *,
        distrusted: Callable[[], Container[str]],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        """`distrusted` names the judges that are not believed, or cannot be read, now."""
        self._store = store
        self._config = judge_config
        self._distrusted = distrusted
        self._now = now
        self._waiting: deque[str] = deque()
        self._next_look = datetime.min.replace(tzinfo=UTC)
        self._looking = asyncio.Lock()

    async def note(self, exported: SegmentExported, judges: tuple[str, ...]) -> None:
        """Note a segment, before its provisional score is committed: so none is forgotten."""
        data = Note(exported=exported, judges=judges).model_dump_json().encode()
        key = keys.rejudge(self._config, exported.segment_id)
        await asyncio.to_thread(self._store.put_once, key, data, content_type="application/json")

    async def next(self, *, after: str) -> SegmentExported | None:
        """A segment whose judges can be asked again; None when there is none now.

        It is never `after`, the segment that was just scored: what could not be read a moment ago
        is asked again later.
        """
        async with self._looking:
            if not self._waiting and self._now() >= self._next_look:
                self._next_look = self._now() + _LOOK_AGAIN
                self._waiting.extend(await asyncio.to_thread(self._listed))
            while self._waiting:
                found = await asyncio.to_thread(self._read, self._waiting.popleft())
                if found is not None and found.segment_id != after:
                    return found
        return None

    def is_final(self, record: ScoreRecord) -> bool:
        """Whether a second score stands: no judge that it lacks is excluded or unreadable now."""
        return not any(judge in self._distrusted() for judge in record.distrusted)

    async def replace(self, record: ScoreRecord) -> bytes:
        """Put a second score in the place of the provisional one; gives what is stored now."""
        return await asyncio.to_thread(self._replace, record)

    async def drop(self, segment_id: str) -> None:
        """Forget a note: its segment was judged again, or cannot be."""
        await asyncio.to_thread(self._store.delete_many, [keys.rejudge(self._config, segment_id)])

    def _listed(self) -> list[str]:
        infos = list(islice(self._store.list(keys.rejudge(self._config)), _LISTED))
        old = [info.key for info in infos if self._now() - info.modified_at > _KEPT]
        if old:
            logger.warning("%d segments are not judged again: noted too long ago", len(old))
            self._store.delete_many(old)
        gone = set(old)
        return [info.key for info in infos if info.key not in gone]

    def _read(self, key: str) -> SegmentExported | None:
        try:
            note = Note.model_validate_json(self._store.get(key))
        except ObjectNotFoundError:
            return None  # another replica was faster
        except ValidationError:
            self._store.delete_many([key])
            return None
        if any(judge in self._distrusted() for judge in note.judges):
            return None
        return note.exported if self._is_provisional(key, note.exported.segment_id) else None

    def _is_provisional(self, key: str, segment_id: str) -> bool:
        """Whether there is a score that lacks a judge; a note of any other has no use."""
        try:
            data = self._store.get(keys.score(self._config, segment_id))
            provisional = bool(ScoreRecord.model_validate_json(data).distrusted)
        except ObjectNotFoundError:
            return False  # its first score is still to come
        except ValidationError:
            provisional = False
        if not provisional:
            self._store.delete_many([key])
        return provisional

    def _replace(self, record: ScoreRecord) -> bytes:
        data = record.model_dump_json().encode()
        committed = keys.rejudged(self._config, record.segment_id)
        if not self._store.put_once(committed, data, content_type="application/json"):
            data = self._store.get(committed)
        key = keys.score(self._config, record.segment_id)
        self._store.put(key, data, content_type="application/json")
        logger.info(
            "judged again",
            extra={
                "segment_id": record.segment_id,
                "score_sha256": hashlib.sha256(data).hexdigest(),
            },
        )
        return data
