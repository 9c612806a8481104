"""The REST interface: what the page shows, for tools and as a fallback."""

from collections.abc import Callable
from datetime import datetime
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request, Response

from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import EventsPage, Snapshot
from rlaif.hud.routes.stored import NO_STORE, unless_cached
from rlaif.service.problems import Problem

SCREEN_RESPONSE: dict[int | str, dict[str, Any]] = {
    200: {"content": {"image/webp": {}, "image/jpeg": {}}, "description": "The newest frame."}
}


def api_router(state: HudState, clock: Callable[[], datetime]) -> APIRouter:
    """The routes of the live page."""
    router = APIRouter(prefix="/api/v1", tags=["live"], dependencies=NO_STORE)

    @router.get("/state", operation_id="get_state")
    async def get_state() -> Snapshot:
        """Everything that the page shows, at this moment."""
        return state.snapshot(clock())

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
        return unless_cached(request, frame.picture, frame.codec.media_type, headers)

    @router.get("/events", operation_id="list_events")
    async def list_events(
        after: Annotated[int, Query(ge=0, description="Id of the last line seen.")] = 0,
        limit: Annotated[int, Query(ge=1, le=1000, description="Maximum number of lines.")] = 200,
    ) -> EventsPage:
        """Lines of the event log after an id, oldest first."""
        return state.journal.after(after, limit=limit)

    return router
