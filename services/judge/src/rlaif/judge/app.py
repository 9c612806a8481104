"""The judge as a web app with a worker beside it."""

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial

from fastapi import FastAPI

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.contracts.scores import ScoreRecord
from rlaif.judge.api import build_router
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.runtime import Runtime
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import build_parts
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage.ports import ObjectStore


def create_app(
    settings: JudgeSettings,
    *,
    store: ObjectStore | None = None,
    models: ObjectStore | None = None,
) -> FastAPI:
    """Build the service; its lifespan starts the worker last and stops it first.

    `store` and `models` replace the buckets of the settings, in tests.
    """
    metrics, readiness = ServiceMetrics("judge"), Readiness()
    parts = build_parts(settings, lambda judges: JudgeMetrics(metrics, judges))
    runtime = Runtime(settings, parts, metrics.worker_observer(), store=store, models=models)
    runtime.lifecycle.add_checks(readiness)
    for name, examiner in parts.examiners().items():
        readiness.add(f"route:{name}", examiner.check)
        readiness.add(f"trust:{name}", partial(parts.canary_rounds.check, name))

    readiness.add("budget", parts.budget.check)

    @asynccontextmanager
    async def lifespan(_app: FastAPI) -> AsyncIterator[None]:
        try:
            async with parts.examined(), runtime.lifecycle.running(readiness):
                yield
        finally:
            await parts.close()

    return build_app(
        name="judge",
        title="Judge: scores segments with language models",
        settings=settings,
        lifespan=lifespan,
        routers=[
            build_router(settings, parts, lambda: runtime.lifecycle.store, runtime.human_scores)
        ],
        readiness=readiness,
        metrics=metrics,
        writes={"score": ScoreRecord, "comparison": ComparisonRecord},
    )
