"""The REST interface of the live page, of the charts and of the language models.

It serves the page's content to tools, and to the page as a fallback.
"""

import asyncio
from collections.abc import Callable
from datetime import UTC, datetime
from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Request, Response

from rlaif.bus.connection import Bus
from rlaif.contracts.model import ID_PATTERN
from rlaif.contracts.run_origin import RunDescription
from rlaif.contracts.telemetry.readings import DescriptionWish
from rlaif.hud.read_model.history.csv_table import csv_of
from rlaif.hud.read_model.history.headline import compare_runs
from rlaif.hud.read_model.history.runs import RunDetail, RunView, run_detail
from rlaif.hud.read_model.history.views import (
    ComparedRunsView,
    HistoryView,
    LoadsView,
    ScorePointsView,
)
from rlaif.hud.read_model.llm import CallsView, LlmView, calls_view, llm_view
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import IssueView, PaidStepsView, Snapshot, User
from rlaif.hud.routes.stored import NO_STORE, unless_cached
from rlaif.hud.routes.system import connected
from rlaif.hud.upstream import Upstream, forwarding_router
from rlaif.service.problems import Problem

SCREEN_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/webp": {}}, "description": "The newest frame."}
}

MAX_POINTS = 1000
COSTS = (("GET", "/api/v1/llm/labels", "/api/v1/judges"),)


def api_router(state: HudState, clock: Callable[[], datetime]) -> APIRouter:
    """The routes of the live page."""
    router = APIRouter(prefix="/api/v1", tags=["live"], dependencies=NO_STORE)

    @router.get("/state", operation_id="get_state")
    async def get_state() -> Snapshot:
        """The whole content of the page at this time."""
        return state.snapshot(clock())

    @router.get("/issues", operation_id="list_issues")
    async def list_issues() -> dict[str, tuple[IssueView, ...]]:
        """The `issues` of the whole content of the page, which takes longer."""
        state.refresh(clock())
        return {"issues": state.health.issues}

    @router.get(
        "/screen",
        operation_id="get_screen",
        response_class=Response,
        responses=SCREEN_RESPONSE,
    )
    async def get_screen(request: Request) -> Response:
        """The newest screen, 160 by 144 pixels; 304 when `If-None-Match` has its ETag."""
        frame = state.screen.frame
        if frame is None:
            raise Problem(404, "no-screen-yet", "No screen yet", "No trainer has sent a frame yet.")
        headers = {"ETag": f'"{state.journal.epoch}-{frame.sequence}"', "Cache-Control": "no-cache"}
        return unless_cached(request, frame.picture, "image/webp", headers)

    return router


CONFIRMED_SECONDS, _POLLS = 10.0, 100
"""Maximum wait until the trainer confirms a description, and number of polls."""

RunId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="Default: the current run, or the newest known one.",
    ),
]


def _no_run(detail: str) -> Problem:
    return Problem(404, "run-not-found", "Run not found", detail)


def _unlisted(run_id: str, state: HudState) -> Problem:
    if run_id == state.current_run_id:  # from telemetry: its first event follows
        return _no_run(f"Run {run_id} is starting; it is known once its emulators run.")
    return _no_run(f"No run {run_id} among the newest that are known.")


def history_router(state: HudState, bus: Callable[[], Bus | None]) -> APIRouter:
    """The routes; `bus` returns None while NATS is unavailable."""
    router = APIRouter(prefix="/api/v1", tags=["history"], dependencies=NO_STORE)
    one_at_a_time = asyncio.Lock()

    def known(run: str | None) -> str | None:
        if run is not None and run != state.current_run_id and state.history.run(run) is None:
            raise _unlisted(run, state)
        return run or state.current_run_id

    @router.get("/history", operation_id="get_history")
    async def get_history(
        run: RunId = None,
        points: Annotated[
            int,
            Query(ge=2, le=MAX_POINTS, description="Maximum number of points; sums are the same."),
        ] = 300,
    ) -> HistoryView:
        """The history of a run from stored events: progress, rewards, loads and starts."""
        return state.history.view(known(run), points=points)

    @router.get(
        "/history.csv",
        operation_id="get_history_csv",
        response_class=Response,
        responses={200: {"content": {"text/csv": {}}, "description": "A row per point."}},
    )
    async def get_history_csv(run: RunId = None) -> Response:
        """All points of the history in memory, as a table."""
        view = state.history.view(run or state.current_run_id, points=MAX_POINTS * 2)
        if not view.points:
            raise _no_run(
                f"No history of run {run}." if run else "No run has reported an iteration yet."
            )
        name = f'attachment; filename="{view.run_id}.csv"'
        return Response(
            csv_of(view.points), media_type="text/csv", headers={"Content-Disposition": name}
        )

    @router.get("/loads", operation_id="list_loads")
    async def list_loads(
        run: RunId = None,
        limit: Annotated[int, Query(ge=1, le=100, description="Newest loads.")] = 20,
    ) -> LoadsView:
        """Figures before and after each model load of a run, with bootstrap intervals."""
        compare = state.history.loads(known(run), newest=limit)
        async with one_at_a_time:  # concurrent requests share the cached comparisons
            return await asyncio.to_thread(compare)

    @router.get("/score-points", operation_id="get_score_points")
    async def get_score_points(
        run: RunId = None,
        points: Annotated[
            int, Query(ge=3, le=MAX_POINTS, description="Maximum number of points.")
        ] = 300,
    ) -> ScorePointsView:
        """Scores of the segments of a run, and their moving mean."""
        return state.history.score_points(known(run), points)

    @router.get("/steps", operation_id="get_paid_steps")
    async def get_paid_steps(
        after: Annotated[
            int | None,
            Query(description="Only steps after this number; all of them if there is a gap."),
        ] = None,
    ) -> PaidStepsView:
        """Rewards of the newest decisions of the watched game, by part."""
        return state.trainer.steps.view(after)

    _add_runs(router, state, bus)
    return router


def _add_runs(router: APIRouter, state: HudState, bus: Callable[[], Bus | None]) -> None:
    @router.get("/runs", operation_id="list_runs")
    async def list_runs() -> tuple[RunView, ...]:
        """All known runs, newest first, with the settings in which they differ."""
        return tuple(state.history.runs())

    @router.get("/runs/{run_id}", operation_id="get_run")
    async def get_run(run_id: Annotated[str, Path(description="Run.")]) -> RunDetail:
        """One run, with its settings and the command that repeats it."""
        run = state.history.run(run_id)
        if run is None:
            raise _unlisted(run_id, state)
        return run_detail(run)

    @router.get("/runs/{run_id}/comparison", operation_id="compare_runs")
    async def get_comparison(
        run_id: Annotated[str, Path(description="Run of `after`.")],
        before: Annotated[str, Query(pattern=ID_PATTERN, description="Run of `before`.")],
    ) -> ComparedRunsView:
        """Milestones per episode of two runs at the same step, with a bootstrap interval."""
        first, second = (state.history.run(each) for each in (before, run_id))
        if first is None or second is None:
            raise _unlisted(before if first is None else run_id, state)
        return await asyncio.to_thread(compare_runs, first, second)

    @router.put("/runs/{run_id}/description", operation_id="describe_run")
    async def describe_run(
        run_id: Annotated[str, Path(description="Run.")], body: RunDescription
    ) -> RunDetail:
        """Replace name, note and tags of a run; responds when the trainer has saved them."""
        run = state.history.run(run_id)
        if run is None:
            raise _unlisted(run_id, state)
        wish = DescriptionWish(at=datetime.now(UTC), run_id=run_id, **dict(body))
        await connected(bus).telemetry().send(wish)
        for _ in range(_POLLS):
            if run.description == body:
                return run_detail(run)
            await asyncio.sleep(CONFIRMED_SECONDS / _POLLS)
        raise Problem(
            504,
            "service-silent",
            "The trainer did not confirm",
            f"No trainer saved the description of run {run_id} within {CONFIRMED_SECONDS:g} s. "
            "Check that the trainer with this run in its data directory is running, then retry.",
        )


def llm_router(state: HudState, judge: Upstream) -> APIRouter:
    """The routes; `judge` is the judge service."""
    router = APIRouter(dependencies=NO_STORE)

    @router.get("/api/v1/llm", operation_id="get_llm", tags=["llm"])
    async def get_llm() -> LlmView:
        """All routes."""
        return llm_view(state.judge_calls, state.trainer)

    @router.get("/api/v1/llm/calls", operation_id="list_llm_calls", tags=["llm"])
    async def list_llm_calls(
        user: Annotated[User | None, Query(description="Judges or planner; default: both.")] = None,
        failed: Annotated[bool | None, Query(description="Default: both.")] = None,
        limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of calls.")] = 40,
    ) -> CallsView:
        """The newest calls, newest first; they are kept in memory only."""
        return calls_view(
            state.judge_calls,
            state.trainer,
            state.episode_of,
            user=user,
            failed=failed,
            limit=limit,
        )

    router.include_router(forwarding_router(judge, "llm", COSTS))
    return router
