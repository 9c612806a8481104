"""What the trainer opens and runs beside a run; `rlaif.service.lifecycle` keeps it at work."""

import asyncio
import time
from collections.abc import Callable

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError, BusUnavailableError
from rlaif.contracts.events import SegmentCaptured, SegmentExported
from rlaif.contracts.telemetry import WatchWish
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer.run_folder.protocol import GrantCaptures
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.service.capture_budget import CaptureBudget
from rlaif.trainer.service.champion import ChampionWatcher
from rlaif.trainer.service.consumers import build_workers
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.past_teller import tell_pasts
from rlaif.trainer.service.room_uploader import RoomUploader
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.store_mirror import StoreMirror
from rlaif.trainer.service.uploader import CaptureUploader
from rlaif.trainer.settings import TrainerSettings

_RETRY_SECONDS = 2.0
_GRANT_SECONDS = 1.0

Stores = tuple[ObjectStore, ObjectStore]
"""The buckets of episodes and of models."""


class RingJob:
    """Uploads captures, watches for champions, shows the screen and grants captures."""

    def __init__(
        self,
        settings: TrainerSettings,
        runs: RunManager,
        metrics: ServiceMetrics,
        stores: Stores,
        bus: Bus,
    ) -> None:
        episodes, models = stores
        self._settings = settings
        self._runs = runs
        self._bus = bus
        self._stopping = asyncio.Event()
        self.uploader = CaptureUploader(runs.spools, episodes, bus.publisher("trainer"))
        self._rooms = RoomUploader(runs.current_folder, episodes)
        self.champion = ChampionWatcher(
            models, settings.data_dir.resolve() / "reward_models", runs.send, runs.refuse
        )
        self._view = LiveView(
            bus.telemetry(),
            lambda: runs.state,
            lambda: runs.screens,
            runs.history,
            runs.player_calls.take,
            fps=settings.game.watch_fps,
            wishes=lambda: bus.subscribe(WatchWish.SUBJECT),
        )
        self._workers = build_workers(bus, self.champion, metrics.worker_observer())

    @property
    def healthy(self) -> bool:
        """Whether every worker fetches events."""
        return all(worker.healthy for worker in self._workers)

    async def run(self) -> None:
        """Do all of it at once until `stop`; one that fails ends the others."""
        async with asyncio.TaskGroup() as group:
            tasks = [
                group.create_task(each)
                for each in (
                    self.uploader.run(),
                    self._rooms.run(),
                    self.champion.run(),
                    self._view.run(),
                    self._grant_captures(),
                    tell_pasts(self._runs, self._bus.publisher("trainer")),
                    *(worker.run() for worker in self._workers),
                )
            ]
            await self._stopping.wait()
            for task in tasks:
                task.cancel()

    async def stop(self) -> None:
        """Make `run` end; captures that are not uploaded yet stay in their spool."""
        self._stopping.set()

    async def _grant_captures(self) -> None:
        """Keep the training process's capture budget in step with the queues behind it."""
        budget = CaptureBudget(
            self._settings.capture.captures_per_minute, self._settings.capture.judge_backlog
        )
        captured = 0
        while True:
            await asyncio.sleep(_GRANT_SECONDS)
            total = self._runs.segments_captured
            budget.spend(max(0, total - captured))
            captured = total
            granted = budget.grant(time.monotonic(), await _backlog(self._bus, self._runs.spools))
            await self._runs.send(GrantCaptures(segments=granted))


def ring_lifecycle(
    settings: TrainerSettings, runs: RunManager, readiness: Readiness, metrics: ServiceMetrics
) -> Lifecycle[Stores, Bus, RingJob]:
    """What keeps `runs` connected to the ring; adds its checks to `readiness`."""

    def open_stores() -> Stores:
        # Not probed: training goes on without S3, and the uploader says what is wrong with it.
        credentials = S3Credentials.of(settings)
        return (
            open_store(settings.episodes_store, credentials),
            open_store(settings.models_store, credentials),
        )

    def start(stores: Stores, bus: Bus) -> RingJob:
        job = RingJob(settings, runs, metrics, stores, bus)
        readiness.add("episodes store", lambda: job.uploader.outage)
        readiness.add("champion", job.champion.check)
        return job

    lifecycle = Lifecycle(
        name="trainer",
        open_store=open_stores,
        open_bus=lambda: open_bus(settings, name="trainer"),
        start=start,
        outage_errors=(BusError, StorageError),
        retry_seconds=_RETRY_SECONDS,
    )
    readiness.add("bus", lifecycle.check_bus)
    return lifecycle


def add_run_checks(readiness: Readiness, runs: RunManager, mirror: StoreMirror) -> None:
    """Add what is known of the run and of its copies: the checks of service and command alike."""
    readiness.add("run", lambda: runs.trouble)
    readiness.add("disk", lambda: runs.disk_trouble)
    readiness.add("learning", lambda: runs.learning_trouble)
    readiness.add("planner", lambda: runs.planner_trouble)
    readiness.add("spool", lambda: runs.captures_lost)
    readiness.add("models store", lambda: mirror.outage)


async def _backlog(bus: Bus, spools: Callable[[], list[Spool]]) -> int | None:
    """Segments that wait in spools, exporter and judge; None when bus or disk do not say."""
    try:
        waiting = await bus.backlog(SegmentCaptured, "exporter")
        waiting += await bus.backlog(SegmentExported, "judge")
        waiting += sum(spool.count() for spool in spools())
    except (BusUnavailableError, OSError):
        return None
    return waiting
