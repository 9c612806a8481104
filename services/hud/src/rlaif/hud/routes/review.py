"""The REST routes of the review page: pairs, votes and agreement, all the reward-model service's.

It has the labels, the log of votes and the judges' words; the HUD keeps nothing of them. A vote
goes on with the person's own token.
"""

from typing import Annotated, Any

from fastapi import APIRouter, Path, Query, Response

from rlaif.contracts.reviews import (
    MOST_NEXT,
    AgreementReport,
    PairList,
    PairToReview,
    UndoRequest,
    VoteReport,
    VoteRequest,
)
from rlaif.contracts.votes import VoteRecord
from rlaif.hud.upstream import Bearer, Upstream
from rlaif.service.paging import Page, Paging, encode_cursor
from rlaif.service.vote_parameters import PairId, RequestId

UNREACHED: dict[int | str, dict[str, Any]] = {
    502: {"description": "The reward-model service cannot be reached, or answered otherwise."},
    504: {"description": "It did not answer in time."},
}


def review_router(service: Upstream) -> APIRouter:
    """The routes; `service` is the reward-model service."""
    router = APIRouter(prefix="/api/v1", tags=["review"], responses=UNREACHED)
    _add_reading(router, service)
    _add_voting(router, service)
    return router


def _add_reading(router: APIRouter, service: Upstream) -> None:
    @router.get("/pairs/next", operation_id="next_pairs")
    async def next_pairs(
        response: Response,
        actor: Annotated[str, Query(max_length=64, description="Who asks.")] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_NEXT, description="Most pairs.")] = 2,
    ) -> PairList:
        """Pairs that this person did not answer yet, without a word about them."""
        response.headers["Cache-Control"] = "no-store"
        return await service.read(PairList, "/api/v1/pairs/next", {"actor": actor, "limit": limit})

    @router.get("/pairs/{pair_id}", operation_id="get_pair")
    async def get_pair(pair_id: PairId) -> PairToReview:
        """One pair, whoever answered it; A and B are always the same."""
        return await service.read(PairToReview, f"/api/v1/pairs/{pair_id}")

    @router.get("/votes", operation_id="list_votes")
    async def list_votes(response: Response, paging: Paging) -> Page[VoteRecord]:
        """The log of votes, the newest first: what was said, and what was taken back."""
        response.headers["Cache-Control"] = "no-store"
        cursor = encode_cursor(paging.after) if paging.after else None
        parameters = {"limit": paging.limit, "cursor": cursor}
        return await service.read(Page[VoteRecord], "/api/v1/votes", parameters)

    @router.get("/agreement", operation_id="get_agreement")
    async def get_agreement(response: Response) -> AgreementReport:
        """How often each judge and people say the same of a pair, beyond chance."""
        response.headers["Cache-Control"] = "no-store"
        return await service.read(AgreementReport, "/api/v1/agreement")


def _add_voting(router: APIRouter, service: Upstream) -> None:
    @router.post("/preferences/{pair_id}/votes", operation_id="cast_vote", status_code=201)
    async def cast_vote(
        pair_id: PairId, vote: VoteRequest, bearer: Bearer, request_id: RequestId = ""
    ) -> VoteReport:
        """Say which of the two is better; the answer has the judges' words.

        The vote is a line of the reward-model service's log, and the next training learns it.
        """
        return await service.change(
            VoteReport,
            "POST",
            f"/api/v1/preferences/{pair_id}/votes",
            vote.model_dump(),
            bearer=bearer,
            headers=_sent(request_id),
        )

    @router.post("/votes/{number}/undo", operation_id="undo_vote", status_code=201)
    async def undo_vote(
        number: Annotated[int, Path(ge=1, le=10**10 - 1, description="Number of the vote.")],
        by: UndoRequest,
        bearer: Bearer,
        request_id: RequestId = "",
    ) -> VoteRecord:
        """Take a vote back: another line of the log. It teaches nothing any more."""
        return await service.change(
            VoteRecord,
            "POST",
            f"/api/v1/votes/{number}/undo",
            by.model_dump(),
            bearer=bearer,
            headers=_sent(request_id),
        )


def _sent(request_id: str) -> dict[str, str]:
    return {"Idempotency-Key": request_id} if request_id else {}
