"""The history of a run: its curves, and metrics before and after each model load."""

import asyncio
from typing import Annotated

from fastapi import APIRouter, Query, Response

from rlaif.contracts.ids import ID_PATTERN
from rlaif.hud.read_model.history.views import HistoryView, LoadsView
from rlaif.hud.read_model.projections import HudState

MOST_POINTS = 1000

RunId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="The current run when left out, or the newest that is known.",
    ),
]


def history_router(state: HudState) -> APIRouter:
    """The routes; all of them read."""
    router = APIRouter(prefix="/api/v1", tags=["history"])
    _add_past(router, state)
    return router


def _add_past(router: APIRouter, state: HudState) -> None:

    @router.get("/history", operation_id="get_history")
    async def get_history(
        response: Response,
        run: RunId = None,
        points: Annotated[
            int,
            Query(ge=2, le=MOST_POINTS, description="Most points; their sums are the same."),
        ] = 300,
    ) -> HistoryView:
        """The past of a run from events that are kept: what was played, reached and paid."""
        response.headers["Cache-Control"] = "no-store"
        return state.history.view(run or state.current_run_id, points=points)

    one_at_a_time = asyncio.Lock()

    @router.get("/loads", operation_id="list_loads")
    async def list_loads(
        response: Response,
        run: RunId = None,
        limit: Annotated[int, Query(ge=1, le=100, description="Newest loads.")] = 20,
    ) -> LoadsView:
        """Before and after each reward model that a run loaded, with bootstrap intervals."""
        response.headers["Cache-Control"] = "no-store"
        compare = state.history.loads(run or state.current_run_id, newest=limit)
        async with one_at_a_time:  # pages that ask together share what the first one reckons
            return await asyncio.to_thread(compare)
