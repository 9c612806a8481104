"""The trainer's HTTP service."""

import asyncio
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

from fastapi import FastAPI

from rlaif.contracts.game.captures import Capture
from rlaif.service.app import build_app
from rlaif.trainer.service.api import build_router
from rlaif.trainer.service.runtime import Trainer
from rlaif.trainer.settings import TrainerSettings


def create_app(settings: TrainerSettings) -> FastAPI:
    """The trainer's app. Training continues without NATS or S3: captures wait on disk."""
    trainer = Trainer(settings)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        async with trainer.running():
            task = None
            if settings.autostart:
                task = asyncio.create_task(trainer.runs.resume_or_start())
            try:
                yield
            finally:
                if task is not None:
                    task.cancel()

    app = build_app(
        name="trainer",
        title="Zelda RLAIF trainer",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(trainer.runs)],
        readiness=trainer.readiness,
        metrics=trainer.metrics,
        writes={"capture": Capture},
    )
    app.state.runs = trainer.runs
    return app
