"""Keeps the judge at work: reaches NATS and S3, runs the worker, and says what is missing.

Neither server needs to be there first. Until both are, the service lives, answers REST, and tells
in `/readyz` what it waits for.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from typing import TypeVar

from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver, WorkerSettings
from rlaif.contracts.events import SegmentExported
from rlaif.judge.consumers import SegmentScorer
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import Bench
from rlaif.service.health import Readiness
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store

logger = logging.getLogger(__name__)

CONSUMER = "judge"

T = TypeVar("T")


class Runtime:
    """The connections and the worker of one judge process."""

    def __init__(
        self,
        settings: JudgeSettings,
        bench: Bench,
        metrics: JudgeMetrics,
        observer: WorkerObserver,
        *,
        store: ObjectStore | None = None,
    ) -> None:
        """Serve `bench`; `store` replaces the one of the settings, in tests."""
        self._settings = settings
        self._bench = bench
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
        scorer = SegmentScorer(
            store,
            self._bench.panel,
            bus.publisher("judge"),
            bus.telemetry(),
            self._bench.rules,
            self._metrics,
        )
        self._worker = DurableWorker(
            bus,
            SegmentExported,
            CONSUMER,
            scorer.handle_segment_exported,
            settings=WorkerSettings(concurrency=self._settings.concurrency),
            observer=self._observer,
        )
        if not self._stopping.is_set():
            logger.info("at work", extra={"judge_config": self._bench.rules.judge_config})
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
        self._bus = await connect(self._settings.nats_url, name="judge")
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
        return None if self._bus.connected else f"lost NATS at {self._bus.address}; reconnecting"

    def _check_store(self) -> str | None:
        return None if self._store else self._waiting_for.get("store", "not tried yet")

    def _check_worker(self) -> str | None:
        if self._worker is None:
            return "waits for NATS and the store"
        return None if self._worker.healthy else "has not fetched events for a while"
