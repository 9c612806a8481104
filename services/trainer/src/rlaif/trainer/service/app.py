"""Puts the trainer together: what it opens, in which order, and what it closes first."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rlaif.contracts.captures import Capture
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.service.api import build_router
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.store_mirror import StoreMirror
from rlaif.trainer.service.runtime import add_run_checks, ring_lifecycle
from rlaif.trainer.settings import TrainerSettings


def create_app(settings: TrainerSettings) -> FastAPI:
    """The trainer's app. Training goes on while NATS or S3 are away: captures wait on disk."""
    readiness = Readiness()
    metrics = ServiceMetrics("trainer")
    runs = RunManager(settings, metrics)
    ring = ring_lifecycle(settings, runs, readiness, metrics)
    mirror = StoreMirror.of(settings, lambda: runs.state)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with ring.running(readiness):
            tasks = [asyncio.create_task(mirror.run())]
            if settings.autostart:
                tasks.append(asyncio.create_task(runs.resume_or_start()))
            try:
                yield
            finally:
                for task in tasks:
                    task.cancel()
                await runs.stop()
                # The disk may be gone at the next start: a pod's is.
                await mirror.copy_last()

    add_run_checks(readiness, runs, mirror)
    app = build_app(
        name="trainer",
        title="Zelda RLAIF trainer",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(runs, readiness)],
        readiness=readiness,
        metrics=metrics,
        writes={"capture": Capture},
    )
    app.state.runs = runs
    return app
