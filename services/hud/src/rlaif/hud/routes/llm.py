"""REST routes of the language models' page: routes, calls, and cost of labels.

The cost of labels is requested from the judge service.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from rlaif.hud.read_model.llm import CallsView, LlmView, User, calls_view, llm_view
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.upstream import Upstream

JUDGES = "/api/v1/judges"


class Standing(BaseModel):
    """Figures of a judge since its service started."""

    prompt_tokens: int
    completion_tokens: int
    cached_answers: int
    parse_fail_rate: float | None
    believed: bool = Field(description="False: it is excluded for a criterion.")


class JudgeCosts(BaseModel):
    """One judge."""

    name: str
    model: str
    route: str
    standing: Standing


class Budget(BaseModel):
    """Tokens of the current day in UTC."""

    per_day: int | None = Field(description="Null: no limit.")
    spent: int
    pause: str | None = Field(description="Why judging is paused; null if it is not.")


class LabelCosts(BaseModel):
    """Cost of labels since the judge service started."""

    labels: int = Field(description="Segments with a weighted score.")
    tokens_per_label: float | None
    useful_labels: int = Field(
        description="Segments in which votes decided a learned criterion, and comparisons in which "
        "both orders agreed."
    )
    tokens_per_useful_label: float | None
    seconds_per_label: float | None
    budget: Budget
    judges: list[JudgeCosts]


def llm_router(state: HudState, judge: Upstream) -> APIRouter:
    """The routes; `judge` is the judge service."""
    router = APIRouter(prefix="/api/v1/llm", tags=["llm"])

    @router.get("", operation_id="get_llm")
    async def get_llm(response: Response) -> LlmView:
        """Routes, and the newest failed calls with a recommended action."""
        response.headers["Cache-Control"] = "no-store"
        return llm_view(state.judges, state.trainer, state.episode_of)

    @router.get("/calls", operation_id="list_llm_calls")
    async def list_llm_calls(
        response: Response,
        user: Annotated[User | None, Query(description="Judges or planner; default: both.")] = (
            None
        ),
        ended: Annotated[
            Literal["well", "badly"] | None, Query(description="Default: both.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=200, description="Maximum number of calls.")] = 40,
    ) -> CallsView:
        """The newest calls, newest first; they are kept in memory only."""
        response.headers["Cache-Control"] = "no-store"
        failed = None if ended is None else ended == "badly"
        return calls_view(
            state.judges,
            state.trainer,
            state.episode_of,
            user=user,
            failed=failed,
            limit=limit,
        )

    @router.get("/labels", operation_id="get_label_costs")
    async def get_label_costs() -> LabelCosts:
        """Tokens and time per label, from the judge service."""
        return await judge.read(LabelCosts, JUDGES)

    return router
