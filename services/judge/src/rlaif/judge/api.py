"""REST API: judges, scores and comparisons."""

import asyncio
from collections.abc import Callable
from typing import Annotated, TypeVar

from fastapi import APIRouter, Path, Query
from pydantic import BaseModel, Field, ValidationError

from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import JudgeCallRecord, ScoreRecord
from rlaif.contracts.model import ID_PATTERN
from rlaif.guides.guides import guide_of, guided_games
from rlaif.judge.panel.prompts import PROMPT_VERSION, system_prompt
from rlaif.judge.panel.schema import answer_schema
from rlaif.judge.parts import JudgeParts
from rlaif.judge.rubric.judges import Judge, briefed
from rlaif.judge.trust.statistics import JudgeStatistics
from rlaif.service.paging import Page, Paging, read_page
from rlaif.service.problems import not_found, reached, store_unavailable
from rlaif.storage import keys
from rlaif.storage.ports import DAMAGED, ObjectNotFoundError, ObjectStore, StorageError

B = TypeVar("B", bound=BaseModel)
Game = Annotated[
    str | None,
    Query(max_length=64, description="Game whose guide is included; none if omitted."),
]
SegmentId = Annotated[str, Path(pattern=ID_PATTERN, description="Id of the segment.")]


class RouteReport(BaseModel):
    """Health of a route since the start of the service."""

    calls: int
    failures: int
    retries: int
    last_error: str | None
    p50_seconds: float | None = Field(description="Median of the last 200 answers.")
    deadline_seconds: float = Field(description="Current timeout of a call.")
    trouble: str | None = Field(
        description="Problem of the route and what to check; null if it is healthy."
    )
    answered: bool = Field(description="Whether it has answered any call so far.")


class JudgeReport(BaseModel):
    """One judge."""

    name: str
    model: str = Field(
        description="That gave the last answer; before the first one, as configured."
    )
    route: str
    criteria: list[str]
    pictures: int
    context_tokens: int
    asks_quest: bool = Field(description="Reports positions on the quest, in games with a guide.")
    health: RouteReport
    statistics: JudgeStatistics


class BudgetReport(BaseModel):
    """Tokens of this day (UTC)."""

    per_day: int | None = Field(description="Limit for all replicas; null for none.")
    spent: int = Field(
        description="Of all replicas as far as known; without a limit, of this one since its start."
    )
    pause: str | None = Field(description="Reason why judging is paused; null if it is not.")


class JudgesReport(BaseModel):
    """Body of `/api/v1/judges`."""

    judge_config: str = Field(description="Id under which scores are stored.")
    prompt_version: str
    votes: int
    computed: list[str] = Field(description="Criteria that are computed from the RAM.")
    guided_games: list[str] = Field(description="Games with a guide.")
    weights: dict[str, float]
    labels: int = Field(description="Segments with a weighted score since the start.")
    tokens_per_label: float | None
    seconds_per_label: float | None
    budget: BudgetReport
    judges: list[JudgeReport]


class JudgePrompt(BaseModel):
    """The frozen prompt of a judge."""

    name: str
    model: str
    system: str
    answer_schema: dict[str, object]


class ScoreSummary(ScoreRecord):
    """A score without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


class ComparisonSummary(ComparisonRecord):
    """A comparison without its calls."""

    calls: tuple[JudgeCallRecord, ...] = Field(default=(), exclude=True)


def build_router(parts: JudgeParts, store: Callable[[], ObjectStore | None]) -> APIRouter:
    """The routes; `store` returns None until S3 is connected."""
    router = APIRouter(prefix="/api/v1")
    config = parts.rules.judge_config
    _add_judges(router, parts)

    @router.get("/scores", tags=["scores"], operation_id="list_scores")
    async def list_scores(paging: Paging) -> Page[ScoreSummary]:
        """Scores of the active configuration by segment id, without their calls."""
        prefix = keys.scores(config)
        return await asyncio.to_thread(page_of, reached(store()), prefix, paging, ScoreSummary)

    @router.get("/scores/{segment_id}", tags=["scores"], operation_id="get_score")
    async def get_score(segment_id: SegmentId) -> ScoreRecord:
        """A score with all of its calls."""
        key = keys.score(config, segment_id)
        try:
            data = await asyncio.to_thread(reached(store()).get, key)
            return ScoreRecord.model_validate_json(data)
        except ObjectNotFoundError:
            raise not_found("score", segment_id) from None
        except (StorageError, ValidationError) as error:
            raise store_unavailable(str(error)) from error

    @router.get("/comparisons", tags=["scores"], operation_id="list_comparisons")
    async def list_comparisons(paging: Paging) -> Page[ComparisonSummary]:
        """Pairs compared in both orders, by segment ids, without their calls."""
        prefix = keys.comparisons(config)
        return await asyncio.to_thread(page_of, reached(store()), prefix, paging, ComparisonSummary)

    return router


def _add_judges(router: APIRouter, parts: JudgeParts) -> None:
    @router.get("/judges", tags=["judges"], operation_id="list_judges")
    async def list_judges() -> JudgesReport:
        """Judges with models, routes, weights, health of the routes, and statistics."""
        stats = parts.metrics.statistics
        return JudgesReport(
            judge_config=parts.rules.judge_config,
            prompt_version=PROMPT_VERSION,
            votes=parts.settings.votes,
            computed=sorted(parts.rules.computed),
            guided_games=list(guided_games()),
            weights=dict(parts.rules.weights),
            labels=stats.labels,
            tokens_per_label=stats.tokens_per_label,
            seconds_per_label=stats.seconds_per_label,
            budget=BudgetReport(
                per_day=parts.budget.per_day,
                spent=parts.budget.spent,
                pause=parts.budget.check(),
            ),
            judges=[_report(parts, judge) for judge in parts.judges],
        )

    @router.get("/judges/{name}", tags=["judges"], operation_id="get_judge_prompt")
    async def get_judge_prompt(
        name: Annotated[str, Path(description="Judge.")], game: Game = None
    ) -> JudgePrompt:
        """The frozen prompt of a judge with all criteria and the guide of a game that has one."""
        judge = next((judge for judge in parts.judges if judge.name == name), None)
        if judge is None:
            raise not_found("judge", name[:64])
        if game is not None and not guide_of(game).objectives:
            raise not_found("guide", game)
        judge = briefed(judge, game)
        return JudgePrompt(
            name=judge.name,
            model=judge.model,
            system=system_prompt(judge),
            answer_schema=answer_schema(judge),
        )


def _report(parts: JudgeParts, judge: Judge) -> JudgeReport:
    route = parts.routes[judge.name]
    calls, prober, statistics = route.stats, route.prober, parts.metrics.statistics.judges
    return JudgeReport(
        name=judge.name,
        model=statistics[judge.name].model or judge.model,
        route=route.name,
        criteria=[criterion.name for criterion in judge.criteria],
        pictures=judge.pictures,
        context_tokens=judge.context_tokens,
        asks_quest=judge.asks_quest,
        health=RouteReport(
            calls=calls.calls,
            failures=calls.failures,
            retries=calls.retries,
            last_error=calls.last_error,
            p50_seconds=calls.p50_seconds(),
            deadline_seconds=route.deadline(),
            trouble=prober.check() if prober else None,
            answered=bool(prober and prober.answered),
        ),
        statistics=statistics[judge.name],
    )


def page_of(store: ObjectStore, prefix: str, paging: Paging, kind: type[B]) -> Page[B]:
    """A page of the records below `prefix`. Blocks."""
    try:
        found = paging.take(store.list(prefix, after=paging.after), lambda info: info.key)
        return read_page(
            found,
            lambda info: kind.model_validate_json(store.get(info.key)),
            skip=(*DAMAGED, ValidationError),
        )
    except StorageError as error:
        raise store_unavailable(str(error)) from error
