"""What the service opens and runs; `rlaif.service.lifecycle` keeps it at work."""

import asyncio
from dataclasses import dataclass
from datetime import UTC, datetime

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.outbox import Outbox
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import SegmentScored
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.champions.wanted_list import WantedList
from rlaif.reward_model.consumers import ProgressListener, ScoreListener
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.vote_log import VoteLog
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.review_desk import ReviewDesk
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.reward_model.status_sender import StatusSender
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_replacing, probe_store

CONSUMER = "reward-model"

Stores = tuple[ObjectStore, ObjectStore]
"""The buckets of episodes and of models."""


@dataclass(frozen=True)
class TrainingJob:
    """The training task, the worker that wakes it, and what stands beside them."""

    training: TrainingLoop
    worker: DurableWorker
    desk: ReviewDesk
    listener: ProgressListener
    status_sender: StatusSender
    outbox: Outbox

    @property
    def healthy(self) -> bool:
        """Whether the worker fetches events."""
        return self.worker.healthy

    async def run(self) -> None:
        """Run training and worker until either ends; then end the other, the worker first.

        What stands beside them ends with them; nothing waits for it.
        """
        beside = (
            asyncio.create_task(self.listener.run(), name="monitor"),
            asyncio.create_task(self.status_sender.run(), name="status-sender"),
            asyncio.create_task(self.outbox.run(), name="outbox"),
        )
        tasks = (
            asyncio.create_task(self.training.run(), name="training"),
            asyncio.create_task(self.worker.run(), name="score-worker"),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            for task in beside:
                task.cancel()
            await self.worker.stop()
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
    """The connections, the worker and the training task of one process."""

    def __init__(
        self,
        settings: RewardModelSettings,
        metrics: RewardModelMetrics,
        observer: WorkerObserver,
        *,
        stores: Stores | None = None,
        candidate: CandidateSettings | None = None,
        timing: TrainingSettings | None = None,
    ) -> None:
        """Serve; `stores` and `candidate` replace those of the settings, in tests."""
        self._candidate = candidate or settings.candidate
        self._timing = timing or TrainingSettings()
        self._settings = settings
        self._metrics = metrics
        self._observer = observer
        self._given_stores = stores
        self.lifecycle = Lifecycle(
            name="reward-model",
            open_store=self._open_stores,
            open_bus=lambda: open_bus(settings, name="reward-model"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    def training(self) -> TrainingLoop | None:
        """The training task; None until NATS and S3 were reached."""
        return self.lifecycle.job.training if self.lifecycle.job else None

    def desk(self) -> ReviewDesk | None:
        """Where people compare pairs; None until NATS and S3 were reached."""
        return self.lifecycle.job.desk if self.lifecycle.job else None

    def check_champion(self) -> str | None:
        """Why the champion cannot be used; None when it can, or when nothing was reached yet."""
        training = self.training()
        return training.champions.trouble if training else None

    def monitor(self) -> RewardHackingMonitor | None:
        """What watches the trainer; None until NATS and S3 were reached."""
        return self.lifecycle.job.listener.monitor if self.lifecycle.job else None

    def _open_stores(self) -> Stores:
        credentials = S3Credentials.of(self._settings)
        episodes, models = self._given_stores or (
            open_store(self._settings.episodes_store, credentials),
            open_store(self._settings.models_store, credentials),
        )
        probe_store(models)
        probe_replacing(models)
        # The scores are only read: a read-only key is enough there.
        next(iter(episodes.list("scores/")), None)
        return episodes, models

    def _start(self, stores: Stores, bus: Bus) -> TrainingJob:
        episodes, models = stores
        outbox = Outbox(bus.publisher("reward-model"))
        votes = VoteLog(models)
        training = TrainingLoop(
            LabelLog(
                episodes,
                judge_config=self._settings.judge_config,
                most_labels=self._settings.most_labels,
                enough_labels=self._candidate.gate.min_labels,
                memory=models,
                votes=votes,
            ),
            ModelRegistry(models, now=_now),
            outbox,
            self._candidate,
            self._timing,
            self._metrics,
            now=_now,
            wanted=WantedList(models, now=_now),
            on_champion_change=outbox.put,
        )
        worker = DurableWorker(
            bus,
            SegmentScored,
            CONSUMER,
            ScoreListener(training).handle_segment_scored,
            observer=self._observer,
        )
        monitor = RewardHackingMonitor(self._settings.watchdog)
        listener = ProgressListener(bus.subscribe, monitor, training, self._metrics)
        status_sender = StatusSender(training, monitor, bus.telemetry(), _now)
        desk = ReviewDesk(training, votes, ScoreReader(episodes), now=_now)
        return TrainingJob(training, worker, desk, listener, status_sender, outbox)


def _now() -> datetime:
    return datetime.now(UTC)
