"""Keeps the exporter at work: reaches S3 and NATS, runs the worker, and says what is missing.

Neither server needs to be there first. Until both are, the service lives, answers REST, and tells
in `/readyz` what it waits for.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import timedelta
from typing import TypeVar

from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver, WorkerSettings
from rlaif.contracts.events import SegmentCaptured
from rlaif.exporter.adapters.emulators import EmulatorPool
from rlaif.exporter.consumers import ExportRules, SegmentExporter
from rlaif.exporter.metrics import ExporterMetrics
from rlaif.exporter.settings import ExporterSettings
from rlaif.service.health import Readiness
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store

logger = logging.getLogger(__name__)

CONSUMER = "exporter"
DEAD_LETTERS_READ = 500
"""So many of the newest dead letters are looked through for captures that were given up."""

T = TypeVar("T")


class Runtime:
    """The connections and the worker of one exporter process."""

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
        self._given_store = store
        self._bus: Bus | None = None
        self._store: ObjectStore | None = None
        self._worker: DurableWorker | None = None
        self._stopping = asyncio.Event()
        self._waiting_for: dict[str, str] = {}

    def store(self) -> ObjectStore | None:
        """The store; None until it passed its probe."""
        return self._store

    async def dead_segments(self) -> frozenset[str] | None:
        """Ids of segments whose capture was given up; None while NATS cannot be asked."""
        if self._bus is None:
            return None
        try:
            letters = await self._bus.dead_letters(limit=DEAD_LETTERS_READ)
        except BusError:
            return None
        return frozenset(
            letter.data.event_id.removeprefix("captured:")
            for letter in letters
            if letter.data.consumer == CONSUMER
        )

    def add_checks(self, readiness: Readiness) -> None:
        """Add the checks of `/readyz`."""
        readiness.add("nats", self._check_nats)
        readiness.add("store", self._check_store)
        readiness.add("worker", self._check_worker)

    async def run(self) -> None:
        """Work until `stop`; start over when NATS or S3 is lost for good."""
        while not self._stopping.is_set():
            try:
                await self._work()
            except (BusError, StorageError) as error:
                logger.warning("not at work: %s", error)
                await self._pause(self._settings.startup_retry_seconds)
            except Exception:
                # The service must not stay up without its worker because of a bug.
                logger.exception("the worker broke; starting it again")
                await self._pause(self._settings.startup_retry_seconds)
            finally:
                await self._close()

    async def stop(self) -> None:
        """Ask `run` to end: stop fetching and let the running handlers finish."""
        self._stopping.set()
        if self._worker is not None:
            await self._worker.stop()

    async def _work(self) -> None:
        store = await self._noting("store", self._open_store)
        bus = await self._noting("nats", self._open_bus)
        exporter = SegmentExporter(
            store, self._emulators, bus.publisher("exporter"), self._rules, self._metrics
        )
        self._worker = DurableWorker(
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
        if not self._stopping.is_set():
            logger.info("at work", extra={"game": self._rules.cartridge.title})
            await self._worker.run()

    async def _open_store(self) -> ObjectStore:
        def probed() -> ObjectStore:
            store = self._given_store or open_store(
                self._settings.episodes_store, S3Credentials.of(self._settings)
            )
            probe_store(store)
            return store

        self._store = await asyncio.to_thread(probed)
        return self._store

    async def _open_bus(self) -> Bus:
        self._bus = await connect(self._settings.nats_url, name="exporter")
        await self._bus.ensure_topology()
        return self._bus

    async def _noting(self, name: str, opening: Callable[[], Awaitable[T]]) -> T:
        """Run `opening`; its failure is what `/readyz` says of `name`."""
        try:
            return await opening()
        except (BusError, StorageError) as error:
            self._waiting_for[name] = str(error)
            raise

    async def _pause(self, seconds: float) -> None:
        with contextlib.suppress(TimeoutError):
            async with asyncio.timeout(seconds):
                await self._stopping.wait()

    async def _close(self) -> None:
        self._worker = None
        if self._bus is not None:
            bus, self._bus = self._bus, None
            await bus.close()

    def _check_nats(self) -> str | None:
        if self._bus is None:
            return self._waiting_for.get("nats", "not tried yet")
        return None if self._bus.connected else "the connection is lost; reconnecting"

    def _check_store(self) -> str | None:
        return None if self._store else self._waiting_for.get("store", "not tried yet")

    def _check_worker(self) -> str | None:
        if self._worker is not None and self._worker.healthy:
            return None
        return "the worker does not fetch events"
