"""The FastAPI app of the exporter with its worker."""

import asyncio
import logging
from datetime import timedelta
from importlib.metadata import version

from fastapi import FastAPI

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.ports import WorkerSettings
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.exporter.consumers import ExporterMetrics, SegmentExporter
from rlaif.exporter.replayers import ReplayerPool
from rlaif.exporter.retention import Retention
from rlaif.exporter.settings import ExporterSettings
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.service.app import build_app
from rlaif.service.background import BackgroundTasks
from rlaif.service.cli import StartupError
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store
from rlaif.storage.watched import WatchedStore

logger = logging.getLogger(__name__)

CONSUMER = "exporter"
STORE_DEADLINE = timedelta(minutes=10)
"""Time limit for the objects of one segment, in addition to its replay."""


class ExportJob:
    """The worker, its replay processes and the retention."""

    def __init__(
        self, worker: DurableWorker, replayers: ReplayerPool, beside: BackgroundTasks
    ) -> None:
        self._worker = worker
        self._replayers = replayers
        self._beside = beside

    @property
    def healthy(self) -> bool:
        return self._worker.healthy

    async def run(self) -> None:
        """Start a replay process and handle events until `stop`; then end the processes."""
        warming = asyncio.create_task(self._replayers.warm())
        try:
            async with self._beside.running():
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
        cartridge: Cartridge,
        metrics: ServiceMetrics,
        *,
        store: ObjectStore | None = None,
    ) -> None:
        """`store` replaces the configured one, in tests."""
        self._settings = settings
        self._cartridge = cartridge
        self.replayers = ReplayerPool(cartridge, settings.replay)
        self._metrics = ExporterMetrics(metrics)
        self._observer = metrics.worker_observer()
        self._beside = BackgroundTasks({})
        self.lifecycle = Lifecycle(
            name="exporter",
            open_store=lambda: probe_store(
                WatchedStore(
                    store or open_store(settings.episodes_store, S3Credentials.of(settings))
                )
            ),
            watched=lambda opened: (opened,),
            open_bus=lambda: open_bus(settings, name="exporter"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    def check_retention(self) -> str | None:
        """Why segments are not deleted; None if they are, or need not be."""
        return self._beside.check()

    def _start(self, store: ObjectStore, bus: Bus) -> ExportJob:
        exporter = SegmentExporter(
            store,
            self.replayers,
            bus.publisher("exporter"),
            self._metrics,
            version=version("rlaif-exporter"),
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
        if (days := self._settings.keep_days) is not None:
            retention = Retention(store, self._metrics, days=days)
            self._beside = BackgroundTasks(
                {"retention": retention.run}, outage_errors=(StorageError,)
            )
        return ExportJob(worker, self.replayers, self._beside)


def create_app(settings: ExporterSettings, *, store: ObjectStore | None = None) -> FastAPI:
    """Build the app, else StartupError; its lifespan starts the worker last and stops it first."""
    try:
        cartridge = load_cartridge(settings.rom_path)
    except CartridgeError as error:
        raise StartupError(f"{error} (ROM_PATH)") from error
    metrics, readiness = ServiceMetrics("exporter"), Readiness()
    runtime = Runtime(settings, cartridge, metrics, store=store)
    runtime.lifecycle.add_checks(readiness)
    readiness.add("replays", runtime.replayers.check)
    readiness.add("retention", runtime.check_retention)
    return build_app(
        name="exporter",
        title="Exporter: replays captured segments and stores the inputs of judges and models",
        settings=settings,
        lifespan=lambda _app: runtime.lifecycle.running(readiness),
        routers=[],
        readiness=readiness,
        metrics=metrics,
        writes={"segment_manifest": SegmentManifest},
    )
