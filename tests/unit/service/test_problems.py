from collections.abc import Callable
from contextlib import AbstractAsyncContextManager

import httpx
import pytest
from fastapi import APIRouter, FastAPI, HTTPException
from pydantic import BaseModel

from rlaif.service.problems import Problem, not_found, reached, store_unavailable

Build = Callable[..., FastAPI]
Client = Callable[[FastAPI], AbstractAsyncContextManager[httpx.AsyncClient]]


class Vote(BaseModel):
    choices: dict[str, int]


@pytest.fixture
def app(build: Build) -> FastAPI:
    router = APIRouter(prefix="/api/v1")

    @router.get("/segments/{id}")
    async def segment(id: str, limit: int = 1) -> None:
        raise not_found("segment", id)

    @router.post("/votes")
    async def vote(vote: Vote) -> None: ...

    @router.get("/busy")
    async def busy() -> None:
        raise Problem(503, "busy", "Busy", headers={"Retry-After": "3"})

    @router.get("/stores/{there}")
    async def store(there: bool) -> str:
        return reached("the store" if there else None)

    @router.get("/outage")
    async def outage() -> None:
        raise store_unavailable("connection refused" + "!" * 1000)

    @router.get("/teapot")
    async def teapot() -> None:
        raise HTTPException(418, "short and stout")

    return build(router)


def _is_problem(answer: httpx.Response, status: int, type: str) -> dict[str, object]:
    body: dict[str, object] = answer.json()
    assert answer.status_code == status
    assert answer.headers["content-type"] == "application/problem+json"
    assert body["status"] == status
    assert body["type"] == f"/problems/{type}"
    assert body["instance"] == answer.request.url.path
    assert body["trace_id"] == answer.headers["traceparent"].split("-")[1]
    assert body["title"]
    return body


async def test_a_problem_of_a_handler_keeps_its_words(app: FastAPI, client: Client) -> None:
    async with client(app) as http:
        body = _is_problem(await http.get("/api/v1/segments/s-9"), 404, "segment-not-found")
        assert body["detail"] == "There is no segment 's-9'."
        answer = await http.get("/api/v1/busy")
        _is_problem(answer, 503, "busy")
        assert answer.headers["retry-after"] == "3"


async def test_a_store_that_cannot_be_read_has_its_reason(app, client):
    async with client(app) as http:
        assert (await http.get("/api/v1/stores/true")).json() == "the store"
        answer = await http.get("/api/v1/stores/false")
        body = _is_problem(answer, 503, "store-unavailable")
        assert "/readyz" in str(body["detail"])
        assert answer.headers["retry-after"] == "5"
        body = _is_problem(await http.get("/api/v1/outage"), 503, "store-unavailable")
        assert str(body["detail"]).startswith("connection refused!")
        assert len(str(body["detail"])) == 300


async def test_errors_of_the_framework_have_the_same_shape(app: FastAPI, client: Client) -> None:
    async with client(app) as http:
        _is_problem(await http.get("/api/v1/nothing"), 404, "not-found")
        answer = await http.delete("/api/v1/busy")
        _is_problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "GET"
        body = _is_problem(await http.get("/api/v1/teapot"), 418, "im-a-teapot")
        assert body["detail"] == "short and stout"


async def test_an_invalid_request_points_at_each_wrong_value(app: FastAPI, client: Client) -> None:
    async with client(app) as http:
        answer = await http.get("/api/v1/segments/s", params={"limit": "many"})
        body = _is_problem(answer, 422, "invalid-request")
        assert body["errors"] == [
            {
                "location": "query",
                "pointer": "/limit",
                "detail": "Input should be a valid integer, unable to parse string as an integer",
            }
        ]
        answer = await http.post("/api/v1/votes", json={"choices": {"a/b~c": "x"}})
        errors = _is_problem(answer, 422, "invalid-request")["errors"]
        assert isinstance(errors, list)
        assert [(e["location"], e["pointer"]) for e in errors] == [("body", "/choices/a~1b~0c")]
        answer = await http.post(
            "/api/v1/votes", content=b"{", headers={"content-type": "application/json"}
        )
        errors = _is_problem(answer, 422, "invalid-request")["errors"]
        assert isinstance(errors, list)
        assert errors[0]["pointer"] == ""
        assert "not JSON" in errors[0]["detail"]
