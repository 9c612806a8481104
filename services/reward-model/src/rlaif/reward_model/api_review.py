"""The REST routes of the review: pairs for people, their votes, and how far judges agree."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Annotated

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
from rlaif.reward_model.answering import ready, store_problems
from rlaif.reward_model.review_desk import (
    Ballot,
    ReviewDesk,
    UnknownPairError,
    VoteConflictError,
)
from rlaif.service.paging import Page, Paging
from rlaif.service.problems import Problem
from rlaif.service.vote_parameters import PairId, RequestId


def build_review_router(desk: Callable[[], ReviewDesk | None]) -> APIRouter:
    """The routes; `desk` gives None while NATS or S3 was not reached yet."""
    router = APIRouter(prefix="/api/v1", tags=["review"])
    _add_reading(router, desk)
    _add_voting(router, desk)
    return router


@contextmanager
def _review_problems() -> Iterator[None]:
    """Errors of the desk, and of the store, become problems."""
    try:
        with store_problems():
            yield
    except UnknownPairError as error:
        raise Problem(404, "pair-not-found", "No such pair", f"{error}.") from None
    except VoteConflictError as error:
        raise Problem(409, "vote-of-another", "The vote stays", f"{error}.") from None


def _segments(pair_id: str) -> tuple[str, str]:
    first, _, second = pair_id.partition("--")
    return first, second


def _add_reading(router: APIRouter, desk: Callable[[], ReviewDesk | None]) -> None:
    @router.get("/pairs/next", operation_id="next_pairs")
    async def next_pairs(
        actor: Annotated[str, Query(max_length=64, description="Who asks.")] = "",
        limit: Annotated[int, Query(ge=1, le=MOST_NEXT, description="Most pairs.")] = 2,
    ) -> PairList:
        """Pairs that this person did not answer yet, without a word about them."""
        active = ready(desk())
        with store_problems():
            items = await active.next_pairs(actor.strip(), limit)
        return PairList(items=tuple(items), labels=active.labels)

    @router.get("/pairs/{pair_id}", operation_id="get_pair")
    async def get_pair(pair_id: PairId) -> PairToReview:
        """One pair, whoever answered it."""
        active = ready(desk())
        with _review_problems():
            return active.pair(*_segments(pair_id))

    @router.get("/votes", operation_id="list_votes")
    async def list_votes(paging: Paging) -> Page[VoteRecord]:
        """The log of votes, the newest first: what was said, and what was taken back."""
        below = paging.after_number()
        lines = [
            line for line in reversed(ready(desk()).records) if below is None or line.number < below
        ]
        page = paging.take(lines, lambda line: str(line.number))
        return Page(items=page.items, next_cursor=page.next_cursor)

    @router.get("/agreement", operation_id="get_agreement")
    async def get_agreement() -> AgreementReport:
        """How often each judge and people say the same of a pair, beyond chance."""
        return await ready(desk()).agreement()


def _add_voting(router: APIRouter, desk: Callable[[], ReviewDesk | None]) -> None:
    @router.post("/preferences/{pair_id}/votes", operation_id="cast_vote", status_code=201)
    async def cast_vote(
        pair_id: PairId, vote: VoteRequest, response: Response, request_id: RequestId = ""
    ) -> VoteReport:
        """Say which of the two is better; the answer has the judges' words.

        The vote is a line of the log, which is never changed, and the next training learns it.
        """
        ballot = Ballot(vote.actor, vote.a, vote.choice, vote.blind, request_id)
        with _review_problems():
            report, written = await ready(desk()).vote(*_segments(pair_id), ballot)
        response.status_code = 201 if written else 200
        return report

    @router.post("/votes/{number}/undo", operation_id="undo_vote", status_code=201)
    async def undo_vote(
        number: Annotated[int, Path(ge=1, le=10**10 - 1, description="Number of the vote.")],
        by: UndoRequest,
        response: Response,
        request_id: RequestId = "",
    ) -> VoteRecord:
        """Take a vote back: another line of the log. It teaches nothing any more."""
        with _review_problems():
            record, written = await ready(desk()).undo(number, by.actor, request_id)
        response.status_code = 201 if written else 200
        return record
