"""The judge's REST routes: who judges and how well they are, and the scores."""

import asyncio
from collections.abc import Callable
from typing import Annotated

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field, ValidationError

from rlaif.contracts.ids import ID_PATTERN
from rlaif.contracts.scores import JudgeCallRecord, ScoreRecord
from rlaif.judge.judges import Judge
from rlaif.judge.prompts import PROMPT_VERSION
from rlaif.judge.routes import Route
from rlaif.judge.settings import JudgeSettings
from rlaif.judge.wiring import Bench
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import not_found, reached, store_unavailable
from rlaif.storage import keys
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError


class RouteReport(BaseModel):
    """What a route went through since the service started."""

    calls: int
    failures: int
    last_error: str | None
    p50_seconds: float | None = Field(description="Median of the last 200 answers.")
    resting_seconds: float = Field(description="How long the breaker keeps calls back; 0 for not.")


class JudgeReport(BaseModel):
    """One judge."""

    name: str
    model: str
    route: str
    criteria: list[str]
    pictures: int
    health: RouteReport


class JudgesReport(BaseModel):
    """Body of `/api/v1/judges`."""

    judge_config: str = Field(description="Scores lie under this id.")
    prompt_version: str
    votes: int
    weights: dict[str, float]
    judges: list[JudgeReport]


class ScoreSummary(ScoreRecord):
    """A score in a list: without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


def build_router(
    settings: JudgeSettings, bench: Bench, store: Callable[[], ObjectStore | None]
) -> APIRouter:
    """The routes; `store` gives None while S3 was not reached yet."""
    router = APIRouter(prefix="/api/v1")
    prefix = keys.scores(bench.rules.judge_config)

    @router.get("/judges", tags=["judges"], operation_id="list_judges")
    async def list_judges() -> JudgesReport:
        """Judges, models, routes, weights and votes, and how the routes are."""
        return JudgesReport(
            judge_config=bench.rules.judge_config,
            prompt_version=PROMPT_VERSION,
            votes=settings.votes,
            weights=dict(bench.rules.weights),
            judges=[_judge_report(judge, bench.routes[judge.name]) for judge in bench.judges],
        )

    @router.get("/scores", tags=["scores"], operation_id="list_scores")
    async def list_scores(paging: Paging) -> Page[ScoreSummary]:
        """Scores of the active configuration, by segment id, without their calls."""
        return await asyncio.to_thread(_score_page, reached(store()), prefix, paging)

    @router.get("/scores/{segment_id}", tags=["scores"], operation_id="get_score")
    async def get_score(
        segment_id: Annotated[str, Path(pattern=ID_PATTERN, description="Id of the segment.")],
    ) -> ScoreRecord:
        """One score with every call behind it."""
        key = keys.score(bench.rules.judge_config, segment_id)
        try:
            return ScoreRecord.model_validate_json(
                await asyncio.to_thread(reached(store()).get, key)
            )
        except ObjectNotFoundError:
            raise not_found("score", segment_id) from None
        except (StorageError, ValidationError) as error:
            raise store_unavailable(str(error)) from error

    return router


def _score_page(store: ObjectStore, prefix: str, paging: Paging) -> Page[ScoreSummary]:
    try:
        found = paging.take(store.list(prefix, after=paging.after), lambda info: info.key)
        scores = [ScoreSummary.model_validate_json(store.get(info.key)) for info in found.items]
    except (StorageError, ValidationError) as error:
        raise store_unavailable(str(error)) from error
    return Page(items=scores, next_cursor=found.next_cursor)


def _judge_report(judge: Judge, route: Route) -> JudgeReport:
    health = route.health
    return JudgeReport(
        name=judge.name,
        model=judge.model,
        route=route.name,
        criteria=[criterion.name for criterion in judge.criteria],
        pictures=judge.pictures,
        health=RouteReport(
            calls=health.calls,
            failures=health.failures,
            last_error=health.last_error,
            p50_seconds=health.p50_seconds(),
            resting_seconds=route.resting,
        ),
    )
