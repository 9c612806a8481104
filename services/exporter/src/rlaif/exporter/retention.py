"""Deletes objects some days after they were written, and counts those that are stored.

A segment goes by its age. Its capture goes once the segment is deleted and has a score: until then
the capture is what the segment can be exported from again. Its scores go once segment and capture
are deleted, unless a person scored the segment: until then they show that it need not be judged.
No event refers to what is deleted then: streams keep events for a shorter time.

Only listings are read, so an exporter needs no permission to read scores. Captures and scores that
one pass finds old are deleted at the end of the next one, which has seen what else their segments
have.
"""

import asyncio
from collections import Counter
from collections.abc import Callable, Iterator, Mapping, Set
from datetime import UTC, datetime, timedelta
from itertools import chain, islice
from typing import Literal, get_args

from rlaif.exporter.consumers import ExporterMetrics
from rlaif.exporter.settings import Kept
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

_BATCH = 1000
_PAUSE_SECONDS = 0.1
"""Pause after each batch, which leaves the store free for exports."""

_PASSES_SECONDS = 3600.0

_MAX_OLD = 100_000
"""Captures, and segments with scores, that one pass may find old; the rest waits for the next."""


_Part = Literal["segments", "captures", "scores", "reviews"]
"""What a segment may have: a manifest, a capture, scores by judges, scores by people."""

_Old = dict[tuple[_Part, str], list[str]]
"""Keys of old captures and scores, by segment."""


class _Pass:
    """What one pass over all objects finds; `due` is what the previous one found old."""

    def __init__(self, due: _Old) -> None:
        self.due = due
        self.old: _Old = {}
        self.objects: Counter[str] = Counter()
        self.sizes: Counter[str] = Counter()
        self._has: set[tuple[_Part, str]] = set()

    def see(self, info: ObjectInfo, expired: Set[_Part]) -> None:
        """Add an object, which is past the days of the kinds `expired`."""
        prefix = keys.prefix_of(info.key)
        self.objects[prefix] += 1
        self.sizes[prefix] += info.size_bytes
        for part, segment, found in _parts(info.key):
            if ("captures", segment) in self.due or ("scores", segment) in self.due:
                self._has.add((part, segment))
            if found and part in expired and len(self.old) < _MAX_OLD:
                self.old.setdefault((part, segment), []).extend(found)

    def free(self, kind: Kept) -> list[str]:
        """Keys of the old captures, or scores, that are not needed any more."""
        due = (found for each, found in self.due.items() if each[0] == kind and self._free(*each))
        return sorted(chain.from_iterable(due))

    def _free(self, part: _Part, segment: str) -> bool:
        parts: tuple[_Part, ...] = get_args(_Part)
        exported, captured, scored, reviewed = ((each, segment) in self._has for each in parts)
        if part == "captures":
            return not exported and (scored or reviewed)
        return not (exported or captured or reviewed)


def _parts(key: str) -> Iterator[tuple[_Part, str, list[str]]]:
    """(part, segment, keys to delete with it, if any) of an object that counts for a segment."""
    if ids := keys.manifest_ids(key):
        yield "segments", ids[1], []
    elif ids := keys.capture_ids(key):
        yield "captures", ids[1], [key]
    elif (ids := keys.score_ids(key)) and keys.human_revision(ids[0]):
        yield "reviews", ids[1], []
    elif ids:
        yield "scores", ids[1], [key, keys.rejudged(*ids)]


class Retention:
    """Deletes objects of `store` that are older than the `days` of their kind."""

    def __init__(
        self,
        store: ObjectStore,
        metrics: ExporterMetrics,
        *,
        days: Mapping[Kept, float],
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._ages = {kept: timedelta(days=each) for kept, each in days.items()}
        self._now = now
        self._old: _Old = {}

    async def run(self) -> None:
        """Run a pass over all objects every hour; never returns."""
        while True:
            await self.look()
            await asyncio.sleep(_PASSES_SECONDS)

    async def look(self) -> None:
        """Run one pass over all objects.

        Raises:
            StoreUnavailableError: The store did not answer; the next pass starts again.
        """
        found, more = self._store.scan(), True
        seen = _Pass(self._old)
        while more:
            more = await asyncio.to_thread(self._batch, found, seen)
            await asyncio.sleep(_PAUSE_SECONDS)
        await asyncio.to_thread(self._delete, "captures", seen.free("captures"))
        await asyncio.to_thread(self._delete, "scores", seen.free("scores"))
        self._old = seen.old
        self._metrics.stored(seen.objects, seen.sizes)

    def _batch(self, found: Iterator[ObjectInfo], seen: _Pass) -> bool:
        """See the next objects and delete files of old segments; False at the end. Blocks."""
        infos = list(islice(found, _BATCH))
        now, old = self._now(), {}
        for info in infos:
            kept = {name for name, age in self._ages.items() if info.modified_at < now - age}
            seen.see(info, kept)
            if "segments" in kept and (ids := keys.segment_file_ids(info.key)):
                old[info.key] = ids
        # Manifests first: without it a segment does not exist, so readers never find a part.
        manifests = {keys.manifest(*ids) for ids in old.values()}
        self._store.delete_many(sorted(manifests))
        self._delete("segments", [key for key in old if key not in manifests])
        self._metrics.expired("segments", len(old.keys() & manifests))
        return len(infos) == _BATCH

    def _delete(self, kept: Kept, expired: list[str]) -> None:
        self._store.delete_many(expired)
        self._metrics.expired(kept, len(expired))
