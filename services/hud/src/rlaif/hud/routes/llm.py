"""The REST routes of the language models' page: how the routes do, what was said, what it costs.

What a label costs is the judge service's own reckoning: it is asked each time.
"""

from typing import Annotated, Literal

from fastapi import APIRouter, Query, Response
from pydantic import BaseModel, Field

from rlaif.hud.read_model.llm import CallsView, LlmView, User
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.upstream import Upstream

JUDGES = "/api/v1/judges"


class Standing(BaseModel):
    """What a judge did since its service started."""

    prompt_tokens: int
    completion_tokens: int
    cached_answers: int
    parse_fail_rate: float | None
    believed: bool = Field(description="False: on some criterion its votes do not count.")


class JudgeCosts(BaseModel):
    """One judge, by its service's word."""

    name: str
    model: str
    route: str
    standing: Standing


class Budget(BaseModel):
    """Tokens of this day of UTC."""

    per_day: int | None = Field(description="Null for no limit.")
    spent: int
    pause: str | None = Field(description="Why judging pauses; null when it does not.")


class LabelCosts(BaseModel):
    """What labels cost since the judge service started."""

    labels: int = Field(description="Segments with a weighted score.")
    tokens_per_label: float | None
    useful_labels: int = Field(
        description="Segments with new evidence on which votes decided something that is learned, "
        "and comparisons in which both orders agreed."
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
        """How each route answers, and the newest calls that went wrong, with what to do."""
        response.headers["Cache-Control"] = "no-store"
        return state.llm()

    @router.get("/calls", operation_id="list_llm_calls")
    async def list_llm_calls(
        response: Response,
        user: Annotated[User | None, Query(description="Judges or planner; both if left out.")] = (
            None
        ),
        ended: Annotated[
            Literal["well", "badly"] | None, Query(description="Either if left out.")
        ] = None,
        limit: Annotated[int, Query(ge=1, le=200, description="Most calls.")] = 40,
    ) -> CallsView:
        """What was asked and said lately, newest first; it is kept in memory alone."""
        response.headers["Cache-Control"] = "no-store"
        failed = None if ended is None else ended == "badly"
        return state.llm_calls(user=user, failed=failed, limit=limit)

    @router.get("/labels", operation_id="get_label_costs")
    async def get_label_costs() -> LabelCosts:
        """What a label costs in tokens and time, as the judge service reckons it."""
        return await judge.read(LabelCosts, JUDGES)

    return router
