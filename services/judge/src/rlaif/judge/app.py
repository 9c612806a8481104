"""The FastAPI app of the judge with its worker."""

import asyncio
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from typing import Any

from fastapi import FastAPI

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.outcome import Retry
from rlaif.bus.worker import DurableWorker
from rlaif.contracts.events import CloudEvent, SegmentExported
from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.api import build_router
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import build_parts
from rlaif.judge.rubric.judges import Judge
from rlaif.judge.served_models import ServedModels, served_judges
from rlaif.judge.settings import JudgeSettings
from rlaif.service.app import build_app
from rlaif.service.background import BackgroundTasks
from rlaif.service.cli import restart
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probe_store
from rlaif.storage.watched import WatchedStore

logger = logging.getLogger(__name__)

CONSUMER = "judge"


def create_service(settings: JudgeSettings) -> FastAPI:
    """Build the app with the models that the servers have."""
    judges, away = asyncio.run(served_judges(settings))
    return create_app(settings, judges=judges, away=away)


def create_app(
    settings: JudgeSettings,
    *,
    judges: tuple[Judge, ...] | None = None,
    away: bool = False,
    store: ObjectStore | None = None,
    models: ObjectStore | None = None,
) -> FastAPI:
    """Build the app; its lifespan starts the worker last and stops it first.

    `judges`, `store` and `models` replace the judges and the buckets of the settings. `away`: the
    models of the judges are unknown, as no server answered.
    """
    metrics, readiness = ServiceMetrics("judge"), Readiness()
    parts = build_parts(settings, lambda known: JudgeMetrics(metrics, known), judges=judges)
    credentials = S3Credentials.of(settings)
    served = ServedModels(
        settings,
        parts.judges,
        away=away,
        answers=lambda: any(prober.answered for prober in parts.probers().values()),
        restart=lambda: restart(app),
    )

    def start(episodes: ObjectStore, bus: Bus) -> DurableWorker:
        # Only the list of requested comparisons is read from the models bucket.
        opened = models or open_store(settings.models_store, credentials)
        handler = parts.handler(episodes, opened, bus.publisher("judge"), bus.telemetry())
        logger.info("started", extra={"judge_config": parts.rules.judge_config})

        async def handle(event: CloudEvent[Any]) -> None:
            if served.away:
                raise Retry("no server of the language models has answered yet")
            await handler.handle_segment_exported(event)

        return DurableWorker(
            bus,
            SegmentExported,
            CONSUMER,
            handle,
            settings=settings.worker,
            observer=metrics.worker_observer(),
        )

    lifecycle = Lifecycle(
        name="judge",
        open_store=lambda: probe_store(
            WatchedStore(store or open_store(settings.episodes_store, credentials))
        ),
        watched=lambda opened: (opened,),
        open_bus=lambda: open_bus(settings, name="judge"),
        start=start,
        outage_errors=(BusError, StorageError),
    )

    lifecycle.add_checks(readiness)
    for name, prober in parts.probers().items():
        readiness.add(f"route:{name}", prober.check)
        readiness.add(f"trust:{name}", partial(parts.canary_rounds.check, name))
    readiness.add("budget", parts.budget.check)

    following = BackgroundTasks({"models": served.run} if judges is not None else {})

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            async with following.running(), parts.probing(), lifecycle.running(readiness):
                yield
        finally:
            await parts.close()

    app = build_app(
        name="judge",
        title="Judge: scores segments with language models",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(parts, lambda: lifecycle.store)],
        readiness=readiness,
        metrics=metrics,
        writes={"score": ScoreRecord, "comparison": ComparisonRecord},
    )
    return app
