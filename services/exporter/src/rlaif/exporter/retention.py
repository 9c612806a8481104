"""Deletes exported segments some days after their export; captures and scores stay.

A replay of its capture recreates a deleted segment byte for byte.
"""

import asyncio
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta
from itertools import islice

from rlaif.exporter.consumers import ExporterMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore

_BATCH = 1000
_PAUSE_SECONDS = 0.1
"""Pause after each batch, which leaves the store free for exports."""

_PASSES_SECONDS = 3600.0


class Retention:
    """Deletes segments of `store` whose objects are older than `days`."""

    def __init__(
        self,
        store: ObjectStore,
        metrics: ExporterMetrics,
        *,
        days: float,
        now: Callable[[], datetime] = lambda: datetime.now(UTC),
    ) -> None:
        self._store = store
        self._metrics = metrics
        self._age = timedelta(days=days)
        self._now = now

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
        found, oldest, more = self._store.scan(), self._now() - self._age, True
        while more:
            more = await asyncio.to_thread(self._batch, found, oldest)
            await asyncio.sleep(_PAUSE_SECONDS)

    def _batch(self, found: Iterator[ObjectInfo], oldest: datetime) -> bool:
        """Delete the expired ones of the next objects; False at the end. Blocks."""
        infos = list(islice(found, _BATCH))
        old = {
            info.key: ids
            for info in infos
            if info.modified_at < oldest and (ids := keys.segment_file_ids(info.key))
        }
        # Manifests first: without it a segment does not exist, so readers never find a part.
        manifests = {keys.manifest(*ids) for ids in old.values()}
        self._store.delete_many(sorted(manifests))
        self._store.delete_many([key for key in old if key not in manifests])
        self._metrics.expired(len(old))
        return len(infos) == _BATCH
