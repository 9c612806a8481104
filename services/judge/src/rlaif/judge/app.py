"""The judge: a web app with a queue worker beside it."""

import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from datetime import UTC, datetime
from functools import partial

from fastapi import FastAPI

from rlaif.bus.connection import Bus, open_bus
from rlaif.bus.errors import BusError
from rlaif.bus.ports import WorkerSettings
from rlaif.bus.worker import DurableWorker, WorkerObserver
from rlaif.contracts.events import SegmentExported
from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.judge.api import build_router
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import JudgeParts, build_parts
from rlaif.judge.scoring.score_store import HumanScores
from rlaif.judge.settings import JudgeSettings
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.storage.probe import probed

logger = logging.getLogger(__name__)

CONSUMER = "judge"


class Runtime:
    """The connections and the worker of one judge process."""

    def __init__(
        self,
        parts: JudgeParts,
        observer: WorkerObserver,
        *,
        store: ObjectStore | None,
        models: ObjectStore | None,
    ) -> None:
        """`store` and `models` replace those of the settings."""
        settings = self._settings = parts.settings
        self._parts = parts
        self._observer = observer
        self._models = models
        self.lifecycle = Lifecycle(
            name="judge",
            open_store=lambda: probed(
                store or open_store(settings.episodes_store, S3Credentials.of(settings))
            ),
            open_bus=lambda: open_bus(settings, name="judge"),
            start=self._start,
            outage_errors=(BusError, StorageError),
        )

    def human_scores(self) -> HumanScores | None:
        """Writes overrides; None until S3 and NATS have been reached."""
        store, bus = self.lifecycle.store, self.lifecycle.bus
        if store is None or bus is None:
            return None
        return HumanScores(store, bus.publisher("judge"), now=lambda: datetime.now(UTC))

    def _start(self, store: ObjectStore, bus: Bus) -> DurableWorker:
        # Only the list of requested comparisons is read there.
        models = self._models or open_store(
            self._settings.models_store, S3Credentials.of(self._settings)
        )
        handler = self._parts.handler(store, models, bus.publisher("judge"), bus.telemetry())
        logger.info("started", extra={"judge_config": self._parts.rules.judge_config})
        return DurableWorker(
            bus,
            SegmentExported,
            CONSUMER,
            handler.handle_segment_exported,
            settings=WorkerSettings(concurrency=self._settings.concurrency),
            observer=self._observer,
        )


def create_app(
    settings: JudgeSettings,
    *,
    store: ObjectStore | None = None,
    models: ObjectStore | None = None,
) -> FastAPI:
    """Build the service; its lifespan starts the worker last and stops it first.

    `store` and `models` replace the buckets of the settings.
    """
    metrics, readiness = ServiceMetrics("judge"), Readiness()
    parts = build_parts(settings, lambda judges: JudgeMetrics(metrics, judges))
    runtime = Runtime(parts, metrics.worker_observer(), store=store, models=models)
    runtime.lifecycle.add_checks(readiness)
    for name, prober in parts.probers().items():
        readiness.add(f"route:{name}", prober.check)
        readiness.add(f"trust:{name}", partial(parts.canary_rounds.check, name))
    readiness.add("budget", parts.budget.check)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            async with parts.probing(), runtime.lifecycle.running(readiness):
                yield
        finally:
            await parts.close()

    return build_app(
        name="judge",
        title="Judge: scores segments with language models",
        settings=settings,
        lifespan=lifespan,
        routers=[build_router(parts, lambda: runtime.lifecycle.store, runtime.human_scores)],
        readiness=readiness,
        metrics=metrics,
        writes={"score": ScoreRecord, "comparison": ComparisonRecord},
    )
