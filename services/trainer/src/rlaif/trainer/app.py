"""Puts the trainer together: what it opens, in which order, and what it closes first."""

import asyncio
import contextlib
import logging
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rlaif.bus.connection import Bus, connect
from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.events import SegmentCaptured, SegmentExported
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore
from rlaif.trainer.api import router
from rlaif.trainer.budget import CaptureBudget
from rlaif.trainer.champion import ChampionWatcher
from rlaif.trainer.consumers import build_workers
from rlaif.trainer.live import LiveView
from rlaif.trainer.runs.manager import RunManager
from rlaif.trainer.runs.protocol import GrantCaptures
from rlaif.trainer.runs.spool import Spool
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.uploader import CaptureUploader

log = logging.getLogger(__name__)

_RETRY_SECONDS = 2.0
_GRANT_SECONDS = 1.0


def create_app(settings: TrainerSettings) -> FastAPI:
    """The trainer's app. Training goes on while NATS or S3 are away: captures wait on disk."""
    readiness = Readiness()
    metrics = ServiceMetrics("trainer")
    runs = RunManager(settings, metrics)

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        ring = asyncio.create_task(_join_ring(settings, runs, readiness, metrics))
        try:
            if settings.autostart:
                runs.resume_or_start()
            yield
        finally:
            await runs.stop()
            ring.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await ring

    readiness.add("run", lambda: runs.trouble)
    app = build_app(
        name="trainer",
        title="Zelda RLAIF trainer",
        settings=settings,
        lifespan=lifespan,
        routers=[router],
        readiness=readiness,
        metrics=metrics,
    )
    app.state.runs = runs
    return app


async def _join_ring(
    settings: TrainerSettings, runs: RunManager, readiness: Readiness, metrics: ServiceMetrics
) -> None:
    """Connect to bus and stores, then upload, watch and show until cancelled."""
    trouble: list[str | None] = ["connecting"]
    readiness.add("bus", lambda: trouble[0])
    while True:
        try:
            bus = await connect(settings.nats_url, name="trainer")
            break
        except BusUnavailableError as error:
            trouble[0] = str(error)
            await asyncio.sleep(_RETRY_SECONDS)
    readiness.add("bus", lambda: None if bus.connected else "lost NATS; reconnecting")
    episodes = open_store(settings.episodes_store, S3Credentials.of(settings))
    models = open_store(settings.models_store, S3Credentials.of(settings))
    try:
        await _serve_ring(settings, runs, readiness, metrics, bus, episodes, models)
    finally:
        await bus.close()


async def _serve_ring(
    settings: TrainerSettings,
    runs: RunManager,
    readiness: Readiness,
    metrics: ServiceMetrics,
    bus: Bus,
    episodes: ObjectStore,
    models: ObjectStore,
) -> None:
    while True:
        try:
            await bus.ensure_topology()
            break
        except BusUnavailableError as error:
            log.warning("streams are not there yet", extra={"reason": str(error)})
            await asyncio.sleep(_RETRY_SECONDS)
    uploader = CaptureUploader(runs.spools, episodes, bus.publisher("trainer"))
    champion = ChampionWatcher(models, settings.data_dir.resolve() / "reward_models", runs.send)
    view = LiveView(
        bus.telemetry(), lambda: runs.state, lambda: runs.screen_path, fps=settings.watch_fps
    )
    readiness.add("episodes store", lambda: uploader.outage)
    workers = build_workers(bus, champion, metrics.worker_observer())
    try:
        async with asyncio.TaskGroup() as tasks:
            tasks.create_task(uploader.run())
            tasks.create_task(champion.run())
            tasks.create_task(view.run())
            tasks.create_task(_grant_captures(settings, runs, bus))
            for worker in workers:
                tasks.create_task(worker.run())
    finally:
        for worker in workers:
            await worker.stop()


async def _grant_captures(settings: TrainerSettings, runs: RunManager, bus: Bus) -> None:
    """Keep the training process's capture budget in step with the queues behind it."""
    budget = CaptureBudget(settings.captures_per_minute, settings.judge_backlog)
    captured = 0
    while True:
        await asyncio.sleep(_GRANT_SECONDS)
        total = runs.segments_captured
        budget.spend(max(0, total - captured))
        captured = total
        granted = budget.grant(time.monotonic(), await _backlog(bus, runs.spools()))
        await runs.send(GrantCaptures(segments=granted))


async def _backlog(bus: Bus, spools: list[Spool]) -> int | None:
    """Segments that wait in spools, exporter and judge; None when the bus does not say."""
    try:
        waiting = await bus.backlog(SegmentCaptured, "exporter")
        waiting += await bus.backlog(SegmentExported, "judge")
    except BusUnavailableError:
        return None
    return waiting + sum(spool.count() for spool in spools)
