"""The past of a run: its curves, before and after each load, and the last hour in sentences."""

import asyncio
from collections.abc import Callable
from datetime import datetime, timedelta
from typing import Annotated

from fastapi import APIRouter, Query, Response

from rlaif.contracts.ids import ID_PATTERN
from rlaif.hud.read_model.digest.views import DigestView
from rlaif.hud.read_model.history.views import DriftView, HistoryView, LoadsView
from rlaif.hud.read_model.projections import HudState

MOST_POINTS = 1000

MOMENT = timedelta(seconds=2)
"""For so long a digest is given again: it looks through all that is kept, 10 ms."""

RunId = Annotated[
    str | None,
    Query(
        pattern=ID_PATTERN,
        description="The current run when left out, or the newest that is known.",
    ),
]


def history_router(state: HudState, clock: Callable[[], datetime]) -> APIRouter:
    """The routes; all of them read."""
    router = APIRouter(prefix="/api/v1", tags=["history"])
    _add_past(router, state)
    _add_digest(router, state, clock)
    return router


def _add_digest(router: APIRouter, state: HudState, clock: Callable[[], datetime]) -> None:
    told: DigestView | None = None
    one_at_a_time = asyncio.Lock()

    @router.get(
        "/digest", operation_id="get_digest", summary="The last hour in at most five sentences"
    )
    async def get_digest(response: Response) -> DigestView:
        """What happened in the last hour, the most important first, each with where to see it.

        Made of what the HUD keeps, without a language model. It says so when nothing happened, and
        when there is too little to say whether play changed.
        """
        nonlocal told
        response.headers["Cache-Control"] = "no-store"
        async with one_at_a_time:
            now = clock()
            if told is None or now - told.at >= MOMENT:
                told = await asyncio.to_thread(state.digest(now))
            return told


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

    @router.get("/drift", operation_id="get_drift")
    async def get_drift(response: Response, run: RunId = None) -> DriftView:
        """What the live model pays an episode against what judges give, with an alarm.

        The alarm is raised when pay rises while judges fall, by ranks among the episodes that the
        live model paid.
        """
        response.headers["Cache-Control"] = "no-store"
        return state.history.drift(run or state.current_run_id)
