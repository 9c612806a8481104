"""What the HUD asks of another service: the token goes through, failures are problems."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import APIRouter, FastAPI
from pydantic import BaseModel, RootModel, SecretStr

from rlaif.hud.upstream import LARGEST_ANSWER, Bearer, Upstream
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import Problem, install_problem_handlers, not_found
from rlaif.service.settings import ServiceSettings

TOKEN = SecretStr("Bearer sesame")
Handler = Callable[[httpx.Request], httpx.Response]


def upstream(handler: Handler, **others: Any) -> Upstream:
    return Upstream("vault", "http://vault:1", transport=httpx.MockTransport(handler), **others)


def service(token: str | None = "sesame") -> FastAPI:
    """A service that guards its writes."""
    router = APIRouter(prefix="/api/v1")

    @router.get("/gold")
    async def gold(unit: str = "g") -> dict[str, str]:
        return {"unit": unit}

    @router.put("/gold")
    async def give(body: dict[str, int]) -> dict[str, int]:
        return body

    @router.get("/silver")
    async def silver() -> None:
        raise not_found("metal", "silver")

    return build_app(
        name="common",
        title="Vault",
        settings=ServiceSettings.model_validate({"api_token": token}),
        lifespan=None,
        routers=[router],
        readiness=Readiness(),
        metrics=ServiceMetrics("common"),
    )


@pytest.fixture
def vault() -> Upstream:
    return Upstream("vault", "http://vault:1", transport=httpx.ASGITransport(service()))


class Anything(RootModel[Any]):
    pass


async def got(vault: Upstream, *request: Any) -> Any:
    return (await vault.read(Anything, *request)).root


async def written(vault: Upstream, *request: Any, **how: Any) -> Any:
    return (await vault.change(Anything, *request, **how)).root


async def problem_of(asked: Any) -> Problem:
    with pytest.raises(Problem) as caught:
        await asked
    return caught.value


async def test_a_read_needs_no_token_and_leaves_out_what_is_not_asked(vault: Upstream) -> None:
    assert await got(vault, "/api/v1/gold", {"unit": None}) == {"unit": "g"}
    assert await got(vault, "/api/v1/gold", {"unit": "oz & lb"}) == {"unit": "oz & lb"}


async def test_a_write_carries_the_token_of_the_person_and_no_other(vault: Upstream) -> None:
    assert await written(vault, "PUT", "/api/v1/gold", {"g": 3}, bearer=TOKEN) == {"g": 3}
    for bearer, type in ((None, "token-missing"), (SecretStr("Bearer x"), "token-wrong")):
        problem = await problem_of(written(vault, "PUT", "/api/v1/gold", {"g": 3}, bearer=bearer))
        assert (problem.status, problem.type) == (401, type)
        assert dict(problem.headers or {})["www-authenticate"].startswith("Bearer")


async def test_the_problem_of_the_service_is_passed_on(vault: Upstream) -> None:
    problem = await problem_of(got(vault, "/api/v1/silver"))
    assert (problem.status, problem.type, problem.title) == (
        404, "metal-not-found", "No such metal",
    )  # fmt: skip
    assert problem.detail == "There is no metal 'silver'."


async def test_a_service_that_is_not_there_is_named_with_its_address() -> None:
    def refused(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Connection refused")

    problem = await problem_of(got(upstream(refused), "/"))
    assert (problem.status, problem.type) == (502, "service-unreachable")
    assert "vault at http://vault:1" in str(problem.detail)


async def test_a_silent_service_is_given_up_and_a_write_says_that_it_may_be_done() -> None:
    async def silent(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    asked = Upstream("vault", "http://vault:1", seconds=0.01, transport=httpx.MockTransport(silent))
    read = await problem_of(got(asked, "/"))
    assert (read.status, read.type) == (504, "service-silent")
    assert "may have succeeded" not in str(read.detail)
    write = await problem_of(written(asked, "POST", "/", bearer=TOKEN))
    assert "may have succeeded" in str(write.detail)


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(302, headers={"location": "http://elsewhere/"}),
        httpx.Response(500, text="no"),
        httpx.Response(404, headers={"content-type": "application/problem+json"}, text="[]"),
        httpx.Response(200, content=b"1" * (LARGEST_ANSWER + 1)),
    ],
)
async def test_what_is_no_answer_of_ours_is_a_problem(answer: httpx.Response) -> None:
    problem = await problem_of(got(upstream(lambda _: answer), "/"))
    assert (problem.status, problem.type) == (502, "service-unreadable")


class Weight(BaseModel):
    grams: int


async def test_an_answer_of_another_version_is_a_problem_that_names_the_field() -> None:
    known = upstream(lambda _: httpx.Response(200, json={"grams": 3, "of": "gold"}))
    assert await known.read(Weight, "/") == Weight(grams=3)
    other = upstream(lambda _: httpx.Response(200, json={"ounces": 1}))
    assert "grams" in str((await problem_of(other.read(Weight, "/"))).detail)


async def test_an_empty_answer_is_none() -> None:
    assert await written(upstream(lambda _: httpx.Response(204)), "POST", "/", bearer=None) is None


async def test_no_proxy_of_the_environment_sees_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # a closed port
    seen: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        vault = Upstream("vault", f"http://127.0.0.1:{port}")
        key = {"Idempotency-Key": "k"}
        assert await written(vault, "POST", "/x", bearer=TOKEN, headers=key) == {}
    (request,) = seen
    assert b"POST /x HTTP/1.1" in request
    assert b"authorization: bearer sesame" in request.lower()
    assert b"idempotency-key: k" in request.lower()


async def test_a_route_gets_the_bearer_token_alone_and_shows_stars(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    app, seen = FastAPI(), []
    install_problem_handlers(app)

    @app.put("/pin")
    async def pin(bearer: Bearer) -> str:
        seen.append(bearer)
        return f"{bearer!r}"

    async with httpx.AsyncClient(
        transport=httpx.ASGITransport(app), base_url="http://hud"
    ) as client:
        for header in ("bearer sesame", "Basic sesame", ""):
            answer = await client.put("/pin", headers={"authorization": header})
            assert "sesame" not in answer.text
    assert [each and each.get_secret_value() for each in seen] == ["bearer sesame", None, None]
    assert "sesame" not in caplog.text
    assert "authorization" not in str(app.openapi()).lower()
