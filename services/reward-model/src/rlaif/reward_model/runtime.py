"""Connections and tasks of the service; `rlaif.service.lifecycle` keeps them running."""

import asyncio
import logging
from collections.abc import AsyncIterator, Callable
from dataclasses import dataclass
from datetime import UTC, datetime
from functools import cached_property
from typing import Any, ClassVar

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.outbox import Outbox
from rlaif.bus.ports import TelemetryPublisher
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import (
    ChampionChanged,
    CloudEvent,
    EventData,
    RunIterated,
    RunStarted,
    SegmentScored,
)
from rlaif.contracts.reward_models import GamingAlarm
from rlaif.contracts.telemetry.readings import Missing, RewardModelStatus
from rlaif.reward_model.champions.registry import ModelRegistry
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.score_reading import ScoreReader
from rlaif.reward_model.labels.votes import VoteLog
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.reward_model.review.service import Review
from rlaif.reward_model.settings import RewardModelSettings, TrainingSettings
from rlaif.reward_model.training_loop import TrainingLoop
from rlaif.reward_model.training_process import TrainingProcess
from rlaif.service.announcer import CHECK_SECONDS, Repeated
from rlaif.service.background import BackgroundTasks
from rlaif.service.lifecycle import Lifecycle
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_replacing, probe_store
from rlaif.storage.watched import WatchedStore

logger = logging.getLogger(__name__)

CONSUMER = "reward-model"

Stores = tuple[ObjectStore, ObjectStore]
WatchedStores = tuple[WatchedStore, WatchedStore]
"""The buckets of episodes and of models."""


@dataclass(frozen=True)
class HistoryListener:
    """Feeds the stored history of runs to the monitor and acts on its alarms.

    `follow` yields the stored events of `HISTORY` and new ones. Without `rollback` alarms are
    only counted and logged.
    """

    HISTORY: ClassVar[tuple[type[EventData], ...]] = (RunStarted, RunIterated, ChampionChanged)

    follow: Callable[[], AsyncIterator[CloudEvent[Any]]]
    monitor: RewardHackingMonitor
    training: TrainingLoop
    metrics: RewardModelMetrics
    rollback: bool = True

    async def run(self) -> None:
        async for event in self.follow():
            try:
                await self.observe(event.data)
            except Exception:  # the event is stored, and would fail again at each start
                logger.exception("the reward hacking monitor skips event %s", event.id)

    async def observe(self, data: EventData) -> None:
        match data:
            case RunStarted():
                self.monitor.started(data)
            case ChampionChanged():
                self.monitor.changed(data)
            case RunIterated():
                live = self.training.champions.live
                champion = live.champion if live and live.pays else None
                alarm = self.monitor.iterated(data, champion, self.training.labels)
                if alarm is not None:
                    await self._act(alarm)

    async def _act(self, alarm: GamingAlarm) -> None:
        self.metrics.alarmed()
        logger.error("%s", alarm.description)
        if self.rollback:
            try:
                await self.training.champions.roll_back(alarm)
            except (StorageError, LookupError, ValueError) as error:
                logger.error("rollback failed, activate a version manually: %s", error)


@dataclass(frozen=True)
class TrainingJob:
    """The training task, the worker that wakes it, and auxiliary tasks."""

    training: TrainingLoop
    worker: DurableWorker
    review: Review
    listener: HistoryListener
    outbox: Outbox
    bus: Bus
    process: TrainingProcess

    @property
    def healthy(self) -> bool:
        return self.worker.healthy

    @cached_property
    def auxiliary(self) -> BackgroundTasks:
        monitor = self.listener.monitor
        return BackgroundTasks(
            {
                "monitor": self.listener.run,
                "status": lambda: publish_status(
                    self.training, monitor, self.bus.telemetry(), _now
                ),
                "outbox": self.outbox.run,
            },
            outage_errors=(BusError, StorageError),
        )

    async def run(self) -> None:
        """Run training and worker until either ends, then stop the others, the worker first."""
        async with self.auxiliary.running():
            await self._work()

    async def _work(self) -> None:
        tasks = (
            asyncio.create_task(self.training.run(), name="training"),
            asyncio.create_task(self.worker.run(), name="score-worker"),
        )
        try:
            await asyncio.wait(tasks, return_when=asyncio.FIRST_COMPLETED)
        finally:
            await self.worker.stop()
            self.training.stop()
            results = await asyncio.gather(*tasks, return_exceptions=True)
            await self.process.close()
        for result in results:
            if isinstance(result, BaseException):
                raise result

    async def stop(self) -> None:
        """Let a current training finish; `run` then stops the worker."""
        self.training.stop()


class Runtime:
    """The connections and tasks of one process."""

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
            watched=lambda stores: stores,
            open_bus=lambda: open_bus(settings, name="reward-model"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    def training(self) -> TrainingLoop | None:
        """The training task; None until NATS and S3 are reached."""
        return self.lifecycle.job.training if self.lifecycle.job else None

    def review(self) -> Review | None:
        """The review; None until NATS and S3 are reached."""
        return self.lifecycle.job.review if self.lifecycle.job else None

    def monitor(self) -> RewardHackingMonitor | None:
        """The reward hacking monitor; None until NATS and S3 are reached."""
        return self.lifecycle.job.listener.monitor if self.lifecycle.job else None

    def check_tasks(self) -> str | None:
        """The auxiliary tasks that failed; None if all run, or before the connections are open."""
        return self.lifecycle.job.auxiliary.check() if self.lifecycle.job else None

    def check_champion(self) -> str | None:
        """Why the champion cannot be used; None if it can, or before the connections are open."""
        training = self.training()
        return training.champions.issue if training else None

    def check_training(self) -> str | None:
        """Why the last training gave no candidate; None if it gave one, or before the first."""
        training = self.training()
        return training.failure if training else None

    def _open_stores(self) -> WatchedStores:
        credentials = S3Credentials.of(self._settings)
        opened = self._given_stores or (
            open_store(self._settings.episodes_store, credentials),
            open_store(self._settings.models_store, credentials),
        )
        episodes, models = map(WatchedStore, opened)
        probe_store(models)
        probe_replacing(models)
        # Scores are only read; a read-only key is enough for that bucket.
        next(iter(episodes.list("scores/")), None)
        return episodes, models

    def _start(self, stores: WatchedStores, bus: Bus) -> TrainingJob:
        episodes, models = stores
        settings = self._settings
        outbox = Outbox(bus.publisher("reward-model"))
        votes = VoteLog(models)
        log = LabelLog(
            episodes,
            judge_config=settings.judge_config,
            most_labels=settings.most_labels,
            enough_labels=self._candidate.gate.min_labels,
            votes=votes,
        )
        process = TrainingProcess()
        training = TrainingLoop(
            log,
            ModelRegistry(models, now=_now),
            outbox,
            self._candidate,
            self._timing,
            self._metrics,
            now=_now,
            models=models,
            train=process.train,
        )

        async def wake(event: CloudEvent[Any]) -> None:
            """Losing this event only delays a training."""
            scored: SegmentScored = event.data
            training.hint(scored.score_key)

        worker = DurableWorker(bus, SegmentScored, CONSUMER, wake, observer=self._observer)
        listener = HistoryListener(
            lambda: bus.feed().follow(*HistoryListener.HISTORY, history=True),
            RewardHackingMonitor(),
            training,
            self._metrics,
            settings.watchdog_rollback,
        )
        return TrainingJob(
            training,
            worker,
            Review(training, votes, ScoreReader(episodes), now=_now),
            listener,
            outbox,
            bus,
            process,
        )


async def publish_status(
    training: TrainingLoop,
    monitor: RewardHackingMonitor,
    telemetry: TelemetryPublisher,
    now: Callable[[], datetime],
) -> None:
    """Publish `RewardModelStatus` on every change and periodically, until cancelled.

    Starts when the champion has been read: before, "none is live" would be wrong.
    """
    seconds = asyncio.get_running_loop().time
    repeated = Repeated()
    while True:
        if training.champions.known:
            status = status_of(training, monitor, now())
            if repeated.due(status, seconds()):
                await telemetry.send(status)
        await asyncio.sleep(CHECK_SECONDS)


def status_of(
    training: TrainingLoop, monitor: RewardHackingMonitor, now: datetime
) -> RewardModelStatus:
    """The telemetry reading at `now`; an expired pin is none."""
    status, live = training.status(), training.champions.live
    champion = live.champion if live and live.pays else None
    held = champion is not None and champion.held(now)
    return RewardModelStatus(
        at=now,
        state=status.state,
        labels=status.labels,
        missing=tuple(
            Missing(what=need.what, have=need.found, need=need.least)
            for need in (status.pairs, *status.needs)
            if need is not None and not need.met
        ),
        champion_version=champion.version if champion else None,
        activation=champion.activation if champion else None,
        pinned=held,
        pin_reason=champion.pin_reason if champion and held else None,
        pinned_until=champion.pinned_until if champion and held else None,
        withdrawn=live.champion.withdrawn if live else None,
        champion_gate=live.manifest.metrics if champion and live else None,
        gaming_alarm=monitor.alarm,
    )


def _now() -> datetime:
    return datetime.now(UTC)
