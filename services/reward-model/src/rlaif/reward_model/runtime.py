"""What the service opens and runs; `rlaif.service.lifecycle` keeps it at work."""

import asyncio
from datetime import UTC, datetime

from rlaif.bus.connection import Bus, connect_ready
from rlaif.bus.errors import BusError
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import SegmentScored
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import Watchdog
from rlaif.reward_model.consumers import ProgressListener, ScoreListener
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.settings import RewardModelSettings
from rlaif.reward_model.telling import StatusTeller
from rlaif.reward_model.training import Training
from rlaif.reward_model.wiring import candidate_settings, training_rules, watchdog_settings
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store

CONSUMER = "reward-model"

Stores = tuple[ObjectStore, ObjectStore]
"""The buckets of episodes and of models."""


class TrainingJob:
    """The training task, the worker that wakes it, what watches the trainer and what tells people.

    Attributes:
        training: The task.
        watchdog: Sees the trainer's progress.
    """

    def __init__(
        self,
        training: Training,
        worker: DurableWorker,
        watchdog: Watchdog,
        listener: ProgressListener,
        teller: StatusTeller,
    ) -> None:
        self.training = training
        self.watchdog = watchdog
        self._worker = worker
        self._listener = listener
        self._teller = teller

    @property
    def healthy(self) -> bool:
        """Whether the worker fetches events."""
        return self._worker.healthy

    async def run(self) -> None:
        """Run training and worker until either ends; then end the other, the worker first.

        What stands beside them ends with them; nothing waits for it.
        """
        beside = (
            asyncio.create_task(self._listener.run(), name="watchdog"),
            asyncio.create_task(self._teller.run(), name="teller"),
        )
        tasks = (
            asyncio.create_task(self.training.run(), name="training"),
            asyncio.create_task(self._worker.run(), name="score-worker"),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in beside:
                task.cancel()
            await self._worker.stop()
            self.training.stop()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            await asyncio.gather(*beside, return_exceptions=True)
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def stop(self) -> None:
        """Let a running training finish; `run` then ends the worker."""
        self.training.stop()


class Runtime:
    """The connections, the worker and the training task of one process.

    Attributes:
        lifecycle: Opens, runs and closes them.
    """

    def __init__(
        self,
        settings: RewardModelSettings,
        metrics: RewardModelMetrics,
        observer: WorkerObserver,
        *,
        stores: Stores | None = None,
    ) -> None:
        """Serve; `stores` replace those of the settings, in tests."""
        self._settings = settings
        self._metrics = metrics
        self._observer = observer
        self._given_stores = stores
        self._registry: ModelRegistry | None = None
        self.lifecycle = Lifecycle(
            name="reward-model",
            open_store=self._open_stores,
            open_bus=lambda: connect_ready(settings.nats_url, name="reward-model"),
            start=self._start,
            away=(BusError, StorageError),
            retry_seconds=settings.startup_retry_seconds,
        )

    def training(self) -> Training | None:
        """The training task; None until NATS and S3 were reached."""
        return self.lifecycle.job.training if self.lifecycle.job else None

    def check_champion(self) -> str | None:
        """Why the champion cannot be used; None when it can, or when nothing was reached yet."""
        training = self.training()
        return training.trouble if training else None

    def watchdog(self) -> Watchdog | None:
        """What watches the trainer; None until NATS and S3 were reached."""
        return self.lifecycle.job.watchdog if self.lifecycle.job else None

    def registry(self) -> ModelRegistry | None:
        """The published models; None until NATS and S3 were reached."""
        return self._registry

    def _open_stores(self) -> Stores:
        credentials = S3Credentials.of(self._settings)
        episodes, models = self._given_stores or (
            open_store(self._settings.episodes_store, credentials),
            open_store(self._settings.models_store, credentials),
        )
        probe_store(models)
        # The scores are only read: a read-only key is enough there.
        next(iter(episodes.list("scores/")), None)
        return episodes, models

    def _start(self, stores: Stores, bus: Bus) -> TrainingJob:
        episodes, models = stores
        self._registry = ModelRegistry(models, now=_now)
        training = Training(
            LabelLog(
                episodes,
                judge_config=self._settings.judge_config,
                most_labels=self._settings.most_labels,
            ),
            self._registry,
            bus.publisher("reward-model"),
            candidate_settings(self._settings),
            training_rules(self._settings),
            self._metrics,
            now=_now,
        )
        worker = DurableWorker(
            bus,
            SegmentScored,
            CONSUMER,
            ScoreListener(training).handle_segment_scored,
            observer=self._observer,
        )
        watchdog = Watchdog(watchdog_settings(self._settings))
        listener = ProgressListener(
            bus.subscribe,
            watchdog,
            training,
            self._metrics,
            roll_back=self._settings.watchdog_rollback,
        )
        teller = StatusTeller(training, bus.telemetry(), _now)
        return TrainingJob(training, worker, watchdog, listener, teller)


def _now() -> datetime:
    return datetime.now(UTC)
