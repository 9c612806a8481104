"""The trainer without REST: the current run and its connections to bus and stores.

The service and `rlaif train` both run a `Trainer`; the service adds REST, the command output for
a terminal.
"""

import asyncio
import logging
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from functools import partial
from typing import Any, TypeVar

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError, BusUnavailableError
from rlaif.bus.outbox import Outbox
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import (
    CloudEvent,
    RewardModelPublished,
    SegmentCaptured,
    SegmentExported,
)
from rlaif.contracts.run_origin import RunDescription
from rlaif.contracts.telemetry.readings import DescriptionWish, Telemetry, WatchWish
from rlaif.pacing.token_bucket import TokenBucket
from rlaif.service.background import BackgroundTasks
from rlaif.service.cli import bind
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import StorageError
from rlaif.storage.watched import WatchedStore
from rlaif.trainer.run_folder.protocol import GrantCaptures
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.service.champion import ChampionWatcher
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.store import StoreMirror
from rlaif.trainer.service.uploader import CaptureUploader, RoomUploader
from rlaif.trainer.settings import TrainerSettings

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 2.0
_GRANT_SECONDS = 1.0
_EVENT_SECONDS = 1.0
_EVENT_RETRY_SECONDS = 5.0
_DRAIN_SECONDS, _DRAIN_PAUSE_SECONDS = 10.0, 0.2

BURST_MINUTES = 0.25
"""Capacity of the token bucket, in minutes of the rate. A grant is divided between two batches and
segments are selected at random: with 0.1 minutes only half of the rate was reached."""

Request = TypeVar("Request", bound=Telemetry)

Stores = tuple[WatchedStore, WatchedStore]
"""The buckets of episodes and of models."""


class CaptureBudget:
    """A token bucket that closes while `backlog_limit` segments wait for exporter and judge."""

    def __init__(self, per_minute: float, backlog_limit: int) -> None:
        self._backlog_limit = backlog_limit
        # A pause is not followed by a flood of segments, and segments come from many episodes.
        burst = max(1.0, per_minute * BURST_MINUTES)
        self._bucket = TokenBucket(per_minute / 60.0, burst, tokens=1.0)

    def grant(self, now: float, backlog: int | None) -> int:
        """Segments that may be captured from `now` on; none while the backlog is unknown."""
        tokens = int(self._bucket.level(now))
        return 0 if backlog is None else max(0, min(tokens, self._backlog_limit - backlog))

    def spend(self, segments: int) -> None:
        self._bucket.spend(segments)


class PipelineJob:
    """Uploads captures, follows the champion, publishes telemetry and events, grants captures."""

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
        self.uploader = CaptureUploader(runs.spools, episodes, bus.publisher("trainer"))
        self._rooms = RoomUploader(runs.current_folder, episodes)
        self.champion = ChampionWatcher(
            models, settings.data_dir.resolve() / "reward_models", runs.send, runs.refuse
        )
        self._view = LiveView(
            bus.telemetry(),
            lambda: runs.state,
            lambda: runs.screens,
            runs.take_player_calls,
            fps=settings.game.watch_fps,
        )
        self._worker = DurableWorker(
            bus,
            RewardModelPublished,
            "trainer",
            self._handle_published,
            observer=metrics.worker_observer(),
        )
        outbox = Outbox(bus.publisher("trainer"))
        self.tasks = BackgroundTasks(
            {
                "captures": self.uploader.run,
                "rooms": self._rooms.run,
                "champion": self.champion.run,
                "live view": self._view.run,
                "grants": self._grant_captures,
                "events": lambda: publish_events(runs, outbox),
                "watch requests": lambda: handle_requests(
                    bus.subscribe(WatchWish.SUBJECT), WatchWish, self._view.watch
                ),
                "description requests": lambda: handle_requests(
                    bus.subscribe(DescriptionWish.SUBJECT),
                    DescriptionWish,
                    partial(_describe_run, runs),
                ),
            },
            outage_errors=(BusError, StorageError),
        )

    @property
    def healthy(self) -> bool:
        return self._worker.healthy

    async def run(self) -> None:
        """Run all tasks until `stop`; only a permanently lost connection ends them."""
        async with self.tasks.running():
            await self._worker.run()

    async def stop(self) -> None:
        await self._worker.stop()

    async def _handle_published(self, _event: CloudEvent[Any]) -> None:
        self.champion.hint()

    async def _grant_captures(self) -> None:
        """Adapt the capture budget of the training process to the queues downstream."""
        budget = CaptureBudget(self._settings.captures_per_minute, self._settings.judge_backlog)
        captured = 0
        while True:
            await asyncio.sleep(_GRANT_SECONDS)
            total = self._runs.segments_captured
            budget.spend(max(0, total - captured))
            captured = total
            granted = budget.grant(time.monotonic(), await _backlog(self._bus, self._runs.spools))
            await self._runs.send(GrantCaptures(segments=granted))


async def publish_events(runs: RunManager, outbox: Outbox) -> None:
    """Publish the events of all runs until cancelled.

    One at a time, so that the newest iterations of a run are merged while NATS is unavailable.
    """
    while True:
        if not len(outbox):
            event = runs.next_event()
            if event is None:
                await asyncio.sleep(_EVENT_SECONDS)
                continue
            outbox.put(event, on_done=partial(runs.event_published, event))
        if not await outbox.flush():
            await asyncio.sleep(_EVENT_RETRY_SECONDS)


async def handle_requests(
    requests: AsyncIterator[tuple[str, bytes]],
    kind: type[Request],
    handle: Callable[[Request], Awaitable[None]],
) -> None:
    """Execute requests from the page until cancelled; those that fail are skipped."""
    async for _, payload in requests:
        try:
            await handle(kind.model_validate_json(payload))
        except Exception as error:
            logger.warning(
                "a request is skipped", extra={"kind": kind.SUBJECT, "reason": str(error)}
            )


async def _describe_run(runs: RunManager, wish: DescriptionWish) -> None:
    """Store a person's description of a run; `OSError` for a run of another machine."""
    given = RunDescription(**wish.model_dump(include=set(RunDescription.model_fields)))
    await asyncio.to_thread(runs.describe, wish.run_id, given)


class Trainer:
    """The current run with its copies in the models store and its connections.

    Attributes:
        runs: The current run, and those on disk.
        mirror: Copies runs to the models store.
        pipeline: Keeps the connections to bus and stores.
    """

    def __init__(self, settings: TrainerSettings) -> None:
        self.settings = settings
        self.readiness = Readiness()
        self.metrics = ServiceMetrics("trainer")
        self.runs = runs = RunManager(settings, self.metrics)
        self.pipeline = self._lifecycle()
        self.mirror = mirror = StoreMirror(settings, runs.open_store(), lambda: runs.state)
        add = self.readiness.add
        add("run", lambda: runs.issue)
        add("disk", lambda: runs.state.disk_issue if runs.state else None)
        add("learning", lambda: runs.state.learning_issue if runs.state else None)
        add("planner", lambda: runs.state.planner_issue if runs.state and runs.alive else None)
        add("spool", lambda: runs.captures_lost)
        self._copying = BackgroundTasks({"copies of runs": mirror.run})
        add("tasks", self._check_tasks)
        add("models store", lambda: mirror.outage)

    @asynccontextmanager
    async def running(self) -> AsyncIterator[None]:
        """Connect and copy while the context is open; `finish` before its end."""
        async with self.pipeline.running(self.readiness):
            try:
                async with self._copying.running():
                    yield
            finally:
                await self.finish()

    def _check_tasks(self) -> str | None:
        job = self.pipeline.job
        found = [self._copying.check(), job.tasks.check() if job else None]
        return "; ".join(filter(None, found)) or None

    async def finish(self, *, drain: bool = False) -> None:
        """Stop the run and copy its remaining files, as the disk may be lost with this process.

        With `drain`, waits some seconds for uploads of captures and for events, such as of the last
        evaluation.
        """
        await self.runs.stop()
        if drain and self.pipeline.job is not None:
            uploader = self.pipeline.job.uploader
            for _ in range(int(_DRAIN_SECONDS / _DRAIN_PAUSE_SECONDS)):
                away = uploader.outage or self.pipeline.check_bus()
                if away or not (self.captures_waiting or self.runs.events_waiting):
                    break
                await asyncio.sleep(_DRAIN_PAUSE_SECONDS)
        await self.mirror.copy_last()

    @property
    def captures_waiting(self) -> int:
        return sum(spool.count() for spool in self.runs.spools())

    def _lifecycle(self) -> Lifecycle[Stores, Bus, PipelineJob]:
        settings, readiness = self.settings, self.readiness

        def open_stores() -> Stores:
            # Not probed: training continues without S3.
            credentials = S3Credentials.of(settings)
            return (
                WatchedStore(open_store(settings.episodes_store, credentials)),
                WatchedStore(open_store(settings.models_store, credentials)),
            )

        def start(stores: Stores, bus: Bus) -> PipelineJob:
            job = PipelineJob(settings, self.runs, self.metrics, stores, bus)
            readiness.add("episodes store", lambda: job.uploader.outage)
            readiness.add("champion", job.champion.check)
            return job

        lifecycle = Lifecycle(
            name="trainer",
            open_store=open_stores,
            watched=lambda stores: stores,
            open_bus=lambda: open_bus(settings, name="trainer"),
            start=start,
            outage_errors=(BusError, StorageError),
            retry_seconds=_RETRY_SECONDS,
        )
        readiness.add("bus", lifecycle.check_bus)
        readiness.add("store", lifecycle.check_store)
        return lifecycle


@asynccontextmanager
async def metrics_page(
    settings: TrainerSettings, readiness: Readiness, metrics: ServiceMetrics
) -> AsyncIterator[None]:
    """Serve /metrics and /readyz of `rlaif train` at `metrics_port`, if one is set.

    A training job on a cluster has no service that could be scraped instead.

    Raises:
        StartupError: The port is in use.
    """
    if not settings.metrics_port:
        yield
        return
    # Imported here, so that the command loads no web server otherwise.
    from rlaif.service.app import build_app
    from rlaif.service.lifecycle import serving

    app = build_app(
        name="trainer",
        title="Zelda RLAIF training job",
        settings=settings,
        lifespan=None,
        routers=[],
        readiness=readiness,
        metrics=metrics,
    )
    with bind(settings, "metrics_port") as listener:
        async with serving(app, listener):
            yield


async def _backlog(bus: Bus, spools: Callable[[], list[Spool]]) -> int | None:
    """Segments waiting in spools, exporter and judge; None when bus or disk are unavailable."""
    try:
        waiting = await bus.backlog(SegmentCaptured, "exporter")
        waiting += await bus.backlog(SegmentExported, "judge")
        waiting += sum(spool.count() for spool in spools())
    except (BusUnavailableError, OSError):
        return None
    return waiting
