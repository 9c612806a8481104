"""Resources and worker of the exporter, supervised by `rlaif.service.lifecycle`."""

import asyncio
import logging
from datetime import timedelta

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.ports import WorkerSettings
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.adapters.replayers import ReplayerPool
from rlaif.exporter.consumers import ExportRules, SegmentExporter
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.machine.cartridges import Cartridge
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probed

logger = logging.getLogger(__name__)

CONSUMER = "exporter"
STORE_DEADLINE = timedelta(minutes=10)
"""Time for the objects of one segment besides its replay."""

DEAD_LETTERS_READ = 500
"""Number of latest dead letters searched for captures."""


class ExportJob:
    """The worker and its replay processes."""

    def __init__(self, worker: DurableWorker, replayers: ReplayerPool) -> None:
        self._worker = worker
        self._replayers = replayers

    @property
    def healthy(self) -> bool:
        """Whether the worker is fetching events."""
        return self._worker.healthy

    async def run(self) -> None:
        """Start a replay process and run until `stop`, which also ends the processes."""
        warming = asyncio.create_task(self._replayers.warm())
        try:
            await self._worker.run()
        finally:
            warming.cancel()
            await asyncio.gather(warming, return_exceptions=True)
            await self._replayers.close()

    async def stop(self) -> None:
        """Let running replays finish."""
        await self._worker.stop()


class Runtime:
    """The connections, the worker and the replay processes of one exporter process."""

    def __init__(
        self,
        settings: ExporterSettings,
        rules: ExportRules,
        cartridge: Cartridge,
        metrics: ExporterMetrics,
        observer: WorkerObserver,
        *,
        store: ObjectStore | None = None,
    ) -> None:
        """`store` replaces the configured one, in tests."""
        self._settings = settings
        self._rules = rules
        self._cartridge = cartridge
        self.replayers = ReplayerPool(cartridge, settings.replay)
        self._metrics = metrics
        self._observer = observer
        self.lifecycle = Lifecycle(
            name="exporter",
            open_store=lambda: probed(
                store or open_store(settings.episodes_store, S3Credentials.of(settings))
            ),
            open_bus=lambda: open_bus(settings, name="exporter"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    async def dead_segments(self) -> frozenset[str] | None:
        """Segment ids with a dead letter; None while NATS is unavailable."""
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

    def _start(self, store: ObjectStore, bus: Bus) -> ExportJob:
        exporter = SegmentExporter(
            store, self.replayers, bus.publisher("exporter"), self._rules, self._metrics
        )
        logger.info("running", extra={"game": self._cartridge.title})
        replay = self._settings.replay
        longest = timedelta(seconds=replay.seconds(replay.max_frames))
        worker = DurableWorker(
            bus,
            SegmentCaptured,
            CONSUMER,
            exporter.handle_segment_captured,
            settings=WorkerSettings(
                concurrency=self._settings.concurrency,
                ack_wait=timedelta(seconds=self._settings.ack_wait_seconds),
                deadline=longest + STORE_DEADLINE,
            ),
            observer=self._observer,
        )
        return ExportJob(worker, self.replayers)
