"""Keeps the service at work: reaches NATS and S3, trains, and says what is missing.

Neither server needs to be there first. Until both are, the service lives, answers REST, and tells
in `/readyz` what it waits for.
"""

import asyncio
import contextlib
import logging
from collections.abc import Awaitable, Callable
from datetime import UTC, datetime
from typing import TypeVar

from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import SegmentScored
from rlaif.reward_model.adapters.label_log import LabelLog
from rlaif.reward_model.adapters.registry import ModelRegistry
from rlaif.reward_model.consumers import ScoreListener
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.reward_model.training import Training
from rlaif.reward_model.wiring import candidate_settings, training_rules
from rlaif.service.health import Readiness
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store

logger = logging.getLogger(__name__)

CONSUMER = "reward-model"

T = TypeVar("T")


class Runtime:
    """The connections, the worker and the training task of one process."""

    def __init__(
        self,
        settings: RewardModelSettings,
        metrics: RewardModelMetrics,
        observer: WorkerObserver,
        *,
        stores: tuple[ObjectStore, ObjectStore] | None = None,
    ) -> None:
        """Serve; `stores` (episodes, models) replace those of the settings, in tests."""
        self._settings = settings
        self._metrics = metrics
        self._observer = observer
        self._given_stores = stores
        self._bus: Bus | None = None
        self._stores: tuple[ObjectStore, ObjectStore] | None = None
        self._worker: DurableWorker | None = None
        self._training: Training | None = None
        self._registry: ModelRegistry | None = None
        self._stopping = asyncio.Event()
        self._waiting_for: dict[str, str] = {}

    def training(self) -> Training | None:
        """The training task; None until NATS and S3 were reached."""
        return self._training

    def registry(self) -> ModelRegistry | None:
        """The published models; None until S3 was reached."""
        return self._registry

    def add_checks(self, readiness: Readiness) -> None:
        """Add the checks of `/readyz`."""
        readiness.add("nats", self._check_nats)
        readiness.add("store", self._check_stores)
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
                # The service must not stay up without its task because of a bug.
                logger.exception("the training task broke; starting it again")
                await self._pause(self._settings.startup_retry_seconds)
            finally:
                await self._close()

    async def stop(self) -> None:
        """Ask `run` to end: stop fetching, and let a running training finish."""
        self._stopping.set()
        if self._training is not None:
            self._training.stop()

    async def _work(self) -> None:
        episodes, models = await self._noting("store", self._open_stores)
        bus = await self._noting("nats", self._open_bus)
        registry = ModelRegistry(models, now=_now)
        training = Training(
            LabelLog(
                episodes,
                judge_config=self._settings.judge_config,
                most_labels=self._settings.most_labels,
            ),
            registry,
            bus.publisher("reward-model"),
            candidate_settings(self._settings),
            training_rules(self._settings),
            self._metrics,
            now=_now,
        )
        listener = ScoreListener(training)
        worker = DurableWorker(
            bus,
            SegmentScored,
            CONSUMER,
            listener.handle_segment_scored,
            observer=self._observer,
        )
        if self._stopping.is_set():
            return
        self._registry, self._training, self._worker = registry, training, worker
        await _together(training, worker)

    async def _open_stores(self) -> tuple[ObjectStore, ObjectStore]:
        def probed() -> tuple[ObjectStore, ObjectStore]:
            credentials = S3Credentials.of(self._settings)
            opened = self._given_stores or (
                open_store(self._settings.episodes_store, credentials),
                open_store(self._settings.models_store, credentials),
            )
            probe_store(opened[1])
            # The scores are only read: a read-only key is enough there.
            next(iter(opened[0].list("scores/")), None)
            return opened

        self._stores = await asyncio.to_thread(probed)
        return self._stores

    async def _open_bus(self) -> Bus:
        self._bus = await connect(self._settings.nats_url, name="reward-model")
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
        self._worker, self._training = None, None
        if self._bus is not None:
            bus, self._bus = self._bus, None
            await bus.close()

    def _check_nats(self) -> str | None:
        if self._bus is None:
            return self._waiting_for.get("nats", "not tried yet")
        return None if self._bus.connected else f"lost NATS at {self._bus.address}; reconnecting"

    def _check_stores(self) -> str | None:
        return None if self._stores else self._waiting_for.get("store", "not tried yet")

    def _check_worker(self) -> str | None:
        if self._worker is not None and self._worker.healthy:
            return None
        return "the worker does not fetch events"


async def _together(training: Training, worker: DurableWorker) -> None:
    """Run both until either ends; then end the other, the worker first."""
    tasks = (
        asyncio.create_task(training.run(), name="training"),
        asyncio.create_task(worker.run(), name="score-worker"),
    )
    try:
        await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
    finally:
        await worker.stop()
        training.stop()
        results = await asyncio.gather(*tasks, return_exceptions=True)
    for result in results:
        if isinstance(result, BaseException):
            raise result


def _now() -> datetime:
    return datetime.now(UTC)
