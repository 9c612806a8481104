"""What the exporter opens and runs; `rlaif.service.lifecycle` keeps it at work."""

import logging
from datetime import timedelta

from rlaif.bus.connection import Bus, connect_ready
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver, WorkerSettings
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.adapters.emulators import EmulatorPool
from rlaif.exporter.consumers import ExportRules, SegmentExporter
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.settings import ExporterSettings
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probed

logger = logging.getLogger(__name__)

CONSUMER = "exporter"
DEAD_LETTERS_READ = 500
"""So many of the newest dead letters are looked through for captures that were given up."""


class Runtime:
    """The connections and the worker of one exporter process.

    Attributes:
        lifecycle: Opens, runs and closes them.
    """

    def __init__(
        self,
        settings: ExporterSettings,
        rules: ExportRules,
        emulators: EmulatorPool,
        metrics: ExporterMetrics,
        observer: WorkerObserver,
        *,
        store: ObjectStore | None = None,
    ) -> None:
        """Export by `rules` on `emulators`; `store` replaces the one of the settings, in tests."""
        self._settings = settings
        self._rules = rules
        self._emulators = emulators
        self._metrics = metrics
        self._observer = observer
        self.lifecycle = Lifecycle(
            name="exporter",
            open_store=lambda: probed(
                store or open_store(settings.episodes_store, S3Credentials.of(settings))
            ),
            open_bus=lambda: connect_ready(settings.nats_url, name="exporter"),
            start=self._start,
            away=(BusError, StorageError),
            retry_seconds=settings.startup_retry_seconds,
        )

    def store(self) -> ObjectStore | None:
        """The store; None until it passed its probe."""
        return self.lifecycle.store

    async def dead_segments(self) -> frozenset[str] | None:
        """Ids of segments whose capture was given up; None while NATS cannot be asked."""
        bus = self.lifecycle.bus
        if bus is None:
            return None
        try:
            letters = await bus.dead_letters(limit=DEAD_LETTERS_READ)
        except BusError:
            return None
        return frozenset(
            letter.data.event_id.removeprefix("captured:")
            for letter in letters
            if letter.data.consumer == CONSUMER
        )

    def _start(self, store: ObjectStore, bus: Bus) -> DurableWorker:
        exporter = SegmentExporter(
            store, self._emulators, bus.publisher("exporter"), self._rules, self._metrics
        )
        logger.info("at work", extra={"game": self._rules.cartridge.title})
        return DurableWorker(
            bus,
            SegmentCaptured,
            CONSUMER,
            exporter.handle_segment_captured,
            settings=WorkerSettings(
                concurrency=self._settings.concurrency,
                ack_wait=timedelta(seconds=self._settings.ack_wait_seconds),
            ),
            observer=self._observer,
        )
