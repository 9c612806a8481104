"""The HUD's routes of the review: everything is the reward-model service's, the token too."""

from collections.abc import Callable
from datetime import UTC, datetime

import httpx
import pytest
from fastapi import FastAPI

from rlaif.contracts.judging.reviews import Clip, PairToReview, VoteRecord, VoteReport
from rlaif.hud.routes.models import review_router
from rlaif.hud.upstream import Upstream
from rlaif.service.problems import install_problem_handlers

PAIR = PairToReview(
    pair_id="one--two",
    a=Clip(segment_id="two", episode_id="ep-2", decision_steps=75),
    b=Clip(segment_id="one", episode_id="ep-1", decision_steps=75),
)
VOTE = VoteRecord(
    number=3, kind="vote", actor="ada", a="two", b="one", choice="a", blind=True,
    created_at=datetime(2026, 1, 2, tzinfo=UTC),
)  # fmt: skip
BODY = {"actor": "ada", "a": "two", "choice": "a", "blind": True}


def client_of(answer: Callable[[httpx.Request], httpx.Response]) -> httpx.AsyncClient:
    app = FastAPI()
    install_problem_handlers(app)
    service = Upstream("reward-model", "http://rm:1", transport=httpx.MockTransport(answer))
    app.include_router(review_router(service))
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://hud/api/v1")


async def test_pairs_are_asked_of_the_service_for_this_person_and_kept_by_nobody():
    asked = []

    def answer(request: httpx.Request) -> httpx.Response:
        asked.append(str(request.url))
        return httpx.Response(200, json={"items": [PAIR.model_dump()], "labels": 9})

    async with client_of(answer) as client:
        found = await client.get("/pairs/next", params={"actor": "Ada L", "limit": 3})
    assert found.json() == {"items": [PAIR.model_dump()], "labels": 9}
    assert found.headers["cache-control"] == "no-store"
    assert asked == ["http://rm:1/api/v1/pairs/next?actor=Ada+L&limit=3"]


async def test_a_vote_goes_on_with_the_persons_token_and_the_key_that_makes_it_one():
    sent = []

    def answer(request: httpx.Request) -> httpx.Response:
        sent.append(request)
        report = VoteReport(record=VOTE, agreed=2, asked=3, words=())
        return httpx.Response(201, json=report.model_dump(mode="json"))

    async with client_of(answer) as client:
        headers = {"Authorization": "Bearer sesame", "Idempotency-Key": "k-1"}
        found = await client.post("/preferences/one--two/votes", json=BODY, headers=headers)
    assert found.status_code == 201
    assert (found.json()["agreed"], found.json()["asked"]) == (2, 3)
    (request,) = sent
    assert request.url.path == "/api/v1/preferences/one--two/votes"
    assert request.headers["authorization"] == "Bearer sesame"
    assert request.headers["idempotency-key"] == "k-1"


async def test_without_the_token_the_services_own_problem_is_what_the_page_gets():
    def answer(request: httpx.Request) -> httpx.Response:
        problem = {"type": "/problems/token-missing", "title": "The bearer token is missing",
                   "status": 401, "instance": request.url.path}  # fmt: skip
        return httpx.Response(
            401, json=problem, headers={"content-type": "application/problem+json"}
        )

    async with client_of(answer) as client:
        for path, body in (
            ("/preferences/one--two/votes", BODY),
            ("/votes/3/undo", {"actor": "ada"}),
        ):
            found = await client.post(path, json=body)
            assert (found.status_code, found.json()["type"]) == (401, "/problems/token-missing")


@pytest.mark.parametrize("body", [BODY | {"choice": "c"}, BODY | {"actor": ""}, BODY | {"x": 1}])
async def test_what_is_no_vote_is_not_sent_on(body):
    def answer(request: httpx.Request) -> httpx.Response:
        raise AssertionError(request)

    async with client_of(answer) as client:
        assert (await client.post("/preferences/one--two/votes", json=body)).status_code == 422


async def test_a_service_that_is_away_is_named():
    def answer(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("refused", request=request)

    async with client_of(answer) as client:
        found = await client.get("/agreement")
    assert (found.status_code, found.json()["type"]) == (502, "/problems/service-unreachable")
    assert "reward-model" in found.json()["detail"]
