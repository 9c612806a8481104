"""REST routes of the review: pairs for people, their votes, and agreement with the judges."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

from fastapi import APIRouter, Path, Query, Response

from rlaif.contracts.judging.reviews import (
    MAX_NEXT,
    AgreementReport,
    PairList,
    PairToReview,
    UndoRequest,
    VoteRecord,
    VoteReport,
    VoteRequest,
)
from rlaif.reward_model.api.problems import ready, store_problems
from rlaif.reward_model.review.service import Review, UnknownPairError, VoteConflictError
from rlaif.service.paging import Page, Paging, PairId, RequestId
from rlaif.service.problems import Problem

Actor = Annotated[str, Query(max_length=64, description="Name of the person who votes.")]
Limit = Annotated[int, Query(ge=1, le=MAX_NEXT, description="Maximum number of pairs.")]
Number = Annotated[int, Path(ge=1, le=10**10 - 1, description="Number of the vote.")]


def build_review_router(review: Callable[[], Review | None]) -> APIRouter:
    """The routes; `review` gives None until NATS and S3 are reached."""
    router = APIRouter(prefix="/api/v1", tags=["review"])
    _add_reading(router, review)
    _add_voting(router, review)
    return router


@contextmanager
def _review_problems() -> Iterator[None]:
    try:
        with store_problems():
            yield
    except UnknownPairError as error:
        raise Problem(404, "pair-not-found", "No such pair", f"{error}.") from None
    except VoteConflictError as error:
        raise Problem(409, "vote-of-another", "Not your vote", f"{error}.") from None


def _segments(pair_id: str) -> tuple[str, str]:
    first, _, second = pair_id.partition("--")
    return first, second


def _add_reading(router: APIRouter, review: Callable[[], Review | None]) -> None:
    @router.get("/pairs/next", operation_id="next_pairs")
    async def next_pairs(actor: Actor = "", limit: Limit = 2) -> PairList:
        """Pairs that this person has not answered, without any opinion about them."""
        active = ready(review())
        with store_problems():
            items = await active.next_pairs(actor.strip(), limit)
        return PairList(items=tuple(items), labels=active.labels)

    @router.get("/pairs/{pair_id}", operation_id="get_pair")
    async def get_pair(pair_id: PairId) -> PairToReview:
        """One pair."""
        active = ready(review())
        with _review_problems():
            return active.pair(*_segments(pair_id))

    @router.get("/votes", operation_id="list_votes")
    async def list_votes(paging: Paging) -> Page[VoteRecord]:
        """The log of votes and withdrawals, newest first."""
        below = paging.after_number()
        newest = reversed(ready(review()).records)
        lines = (line for line in newest if below is None or line.number < below)
        return paging.take(lines, lambda line: str(line.number))

    @router.get("/agreement", operation_id="get_agreement")
    async def get_agreement() -> AgreementReport:
        """Agreement of each judge with people, beyond chance."""
        return await ready(review()).agreement()


def _add_voting(router: APIRouter, review: Callable[[], Review | None]) -> None:
    @router.post("/preferences/{pair_id}/votes", operation_id="cast_vote", status_code=201)
    async def cast_vote(
        pair_id: PairId, vote: VoteRequest, response: Response, request_id: RequestId = ""
    ) -> VoteReport:
        """Vote on a pair; the answer has the judges' rationales. The next training uses the vote.

        The vote is a line of an append-only log.
        """
        with _review_problems():
            report, written = await ready(review()).vote(*_segments(pair_id), vote, request_id)
        response.status_code = 201 if written else 200
        return report

    @router.post("/votes/{number}/undo", operation_id="undo_vote", status_code=201)
    async def undo_vote(
        number: Number, by: UndoRequest, response: Response, request_id: RequestId = ""
    ) -> VoteRecord:
        """Withdraw an own vote, by another line of the log."""
        with _review_problems():
            record, written = await ready(review()).undo(number, by.actor, request_id)
        response.status_code = 201 if written else 200
        return record
