"""REST routes of the charts: history of a run, model loads, scores, and the newest steps."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query

from rlaif.contracts.model import ID_PATTERN
from rlaif.hud.read_model.history.views import HistoryView, LoadsView, ScorePointsView
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import PaidStepsView
from rlaif.hud.routes.stored import NO_STORE

MAX_POINTS = 1000

RunId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="Default: the current run, or the newest one that is known.",
    ),
]


def history_router(state: HudState) -> APIRouter:
    """The routes; all of them read."""
    router = APIRouter(prefix="/api/v1", tags=["history"], dependencies=NO_STORE)
    one_at_a_time = asyncio.Lock()

    @router.get("/history", operation_id="get_history")
    async def get_history(
        run: RunId = None,
        points: Annotated[
            int,
            Query(ge=2, le=MAX_POINTS, description="Maximum number of points; sums are the same."),
        ] = 300,
    ) -> HistoryView:
        """The history of a run from stored events: progress, rewards, loads and starts."""
        return state.history.view(run or state.current_run_id, points=points)

    @router.get("/loads", operation_id="list_loads")
    async def list_loads(
        run: RunId = None,
        limit: Annotated[int, Query(ge=1, le=100, description="Newest loads.")] = 20,
    ) -> LoadsView:
        """Before and after each model load of a run, with bootstrap intervals."""
        compare = state.history.loads(run or state.current_run_id, newest=limit)
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
        return state.history.score_points(run or state.current_run_id, points)

    @router.get("/steps", operation_id="get_paid_steps")
    async def get_paid_steps(
        after: Annotated[
            int | None,
            Query(description="Only steps after this number; all of them if there is a gap."),
        ] = None,
    ) -> PaidStepsView:
        """Rewards of the newest decisions of the watched game, by part."""
        return state.trainer.steps.view(after)

    return router
