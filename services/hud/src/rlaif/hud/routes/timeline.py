"""What charts draw beside the past of a run: scored segments, and the newest steps one by one."""

from typing import Annotated

from fastapi import APIRouter, Query, Response

from rlaif.contracts.ids import ID_PATTERN
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import PaidStepsView, ScorePointsView

MOST_POINTS = 1000
"""More do not fit a chart; 100 bytes each."""


def timeline_router(state: HudState) -> APIRouter:
    """Routes of the timeline."""
    router = APIRouter(prefix="/api/v1", tags=["timeline"])

    @router.get("/score-points", operation_id="get_score_points")
    async def get_score_points(
        response: Response,
        run: Annotated[
            str | None, Query(pattern=ID_PATTERN, description="The current one when left out.")
        ] = None,
        points: Annotated[int, Query(ge=3, le=MOST_POINTS, description="Most points.")] = 300,
    ) -> ScorePointsView:
        """What the judges gave each segment of a run, and its moving mean."""
        response.headers["Cache-Control"] = "no-store"
        return state.score_points(run, points)

    @router.get("/steps", operation_id="get_paid_steps")
    async def get_paid_steps(
        response: Response,
        after: Annotated[
            int | None,
            Query(description="Number of the newest step that is known; then only those after it."),
        ] = None,
    ) -> PaidStepsView:
        """What the newest decisions of the watched game were paid, by part.

        With `after` all of them come all the same when there is a gap between.
        """
        response.headers["Cache-Control"] = "no-store"
        return state.paid_steps.view(after)

    return router
