"""REST routes of the language models' page: routes, calls, and cost of labels.

The cost of labels is requested from the judge service.
"""

from typing import Annotated

from fastapi import APIRouter, Query

from rlaif.hud.read_model.llm import CallsView, LlmView, calls_view, llm_view
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import User
from rlaif.hud.routes.stored import NO_STORE
from rlaif.hud.upstream import Upstream, forwarding_router

COSTS = (("GET", "/api/v1/llm/labels", "/api/v1/judges"),)


def llm_router(state: HudState, judge: Upstream) -> APIRouter:
    """The routes; `judge` is the judge service."""
    router = APIRouter(dependencies=NO_STORE)

    @router.get("/api/v1/llm", operation_id="get_llm", tags=["llm"])
    async def get_llm() -> LlmView:
        """All routes."""
        return llm_view(state.judges, state.trainer)

    @router.get("/api/v1/llm/calls", operation_id="list_llm_calls", tags=["llm"])
    async def list_llm_calls(
        user: Annotated[User | None, Query(description="Judges or planner; default: both.")] = None,
        failed: Annotated[bool | None, Query(description="Default: both.")] = None,
        limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of calls.")] = 40,
    ) -> CallsView:
        """The newest calls, newest first; they are kept in memory only."""
        return calls_view(
            state.judges, state.trainer, state.episode_of, user=user, failed=failed, limit=limit
        )

    router.include_router(forwarding_router(judge, "llm", COSTS))
    return router
