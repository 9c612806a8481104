"""Requests that the HUD forwards: the token is passed on, failures are problems."""

import asyncio
import logging
from collections.abc import Callable
from typing import Any

import httpx
import pytest
from fastapi import APIRouter

from rlaif.hud.upstream import MAX_ANSWER, Upstream, forwarding_router
from rlaif.service.app import build_app
from rlaif.service.health import Readiness
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.problems import not_found
from rlaif.service.settings import ServiceSettings
from rlaif.testing.servers.client import client_of

TOKEN = {"Authorization": "Bearer sesame"}
ROUTES = (
    ("GET", "/gold", "/api/v1/gold"),
    ("PUT", "/gold", "/api/v1/gold"),
    ("GET", "/silver/{name}", "/api/v1/silver/{name}"),
)
Handler = Callable[[httpx.Request], httpx.Response]


def hud_of(upstream: Upstream) -> httpx.AsyncClient:
    return client_of(forwarding_router(upstream, "metals", ROUTES))


def hud_over(handler: Handler, **others: Any) -> httpx.AsyncClient:
    transport = httpx.MockTransport(handler)
    return hud_of(Upstream("vault", "http://vault:1", transport=transport, **others))


@pytest.fixture
def hud() -> httpx.AsyncClient:
    """A HUD before a service that guards its writes."""
    router = APIRouter(prefix="/api/v1")

    @router.get("/gold")
    async def gold(unit: str = "g") -> dict[str, str]:
        return {"unit": unit}

    @router.put("/gold", status_code=202)
    async def give(body: dict[str, int]) -> dict[str, int]:
        return body

    @router.get("/silver/{name}")
    async def silver(name: str) -> None:
        raise not_found("metal", name)

    service = build_app(
        name="common",
        title="Vault",
        settings=ServiceSettings.model_validate({"api_token": "sesame"}),
        lifespan=None,
        routers=[router],
        readiness=Readiness(),
        metrics=ServiceMetrics("common"),
    )
    return hud_of(Upstream("vault", "http://vault:1", transport=httpx.ASGITransport(service)))


async def test_a_read_needs_no_token_and_keeps_its_parameters(hud: httpx.AsyncClient) -> None:
    answer = await hud.get("/gold", params={"unit": "oz & lb"})
    assert answer.json() == {"unit": "oz & lb"}
    assert answer.headers["cache-control"] == "no-store"


async def test_a_write_carries_the_token_of_its_request_and_no_other(
    hud: httpx.AsyncClient,
) -> None:
    answer = await hud.put("/gold", json={"g": 3}, headers=TOKEN)
    assert (answer.status_code, answer.json()) == (202, {"g": 3})
    for headers, type in (({}, "token-missing"), ({"Authorization": "Bearer x"}, "token-wrong")):
        refused = await hud.put("/gold", json={"g": 3}, headers=headers)
        assert (refused.status_code, refused.json()["type"]) == (401, f"/problems/{type}")
        assert refused.headers["www-authenticate"].startswith("Bearer")
    invalid = await hud.put("/gold", json={"g": "x"}, headers=TOKEN)
    assert invalid.status_code == 422, "the service checks the body"


async def test_the_problem_of_the_service_is_passed_on(hud: httpx.AsyncClient) -> None:
    problem = await hud.get("/silver/a%2Fb")
    assert problem.status_code == 404, "the slash stays a part of the name"
    answer = await hud.get("/silver/plate")
    assert (answer.status_code, answer.json()["type"]) == (404, "/problems/metal-not-found")
    assert answer.json()["detail"] == "There is no metal 'plate'."


async def test_a_value_of_dots_stays_one_segment_of_the_path() -> None:
    paths = []

    def recorded(request: httpx.Request) -> httpx.Response:
        paths.append(request.url.raw_path)
        return httpx.Response(200, json={})

    await hud_over(recorded).get("/silver/%2e%2e")
    assert paths == [b"/api/v1/silver/%2E%2E"]


async def test_an_unreachable_service_is_named_with_its_address() -> None:
    def refused(request: httpx.Request) -> httpx.Response:
        raise httpx.ConnectError("Connection refused")

    answer = await hud_over(refused).get("/gold")
    assert (answer.status_code, answer.json()["type"]) == (502, "/problems/service-unreachable")
    assert "vault at http://vault:1" in answer.json()["detail"]


async def test_a_silent_service_times_out_and_a_write_may_have_succeeded() -> None:
    async def silent(request: httpx.Request) -> httpx.Response:
        await asyncio.Event().wait()
        raise AssertionError

    client = hud_over(silent, seconds=0.01)  # type: ignore[arg-type]
    read = await client.get("/gold")
    assert (read.status_code, read.json()["type"]) == (504, "/problems/service-silent")
    assert "may have succeeded" not in read.json()["detail"]
    write = await client.put("/gold", json={}, headers=TOKEN)
    assert "may have succeeded" in write.json()["detail"]


@pytest.mark.parametrize(
    "answer",
    [
        httpx.Response(200, text="<html>"),
        httpx.Response(302, headers={"location": "http://elsewhere/"}),
        httpx.Response(500, text="no"),
        httpx.Response(404, headers={"content-type": "application/problem+json"}, text="[]"),
        httpx.Response(200, content=b"1" * (MAX_ANSWER + 1)),
    ],
)
async def test_an_invalid_answer_is_a_problem(answer: httpx.Response) -> None:
    found = await hud_over(lambda _: answer).get("/gold")
    assert (found.status_code, found.json()["type"]) == (502, "/problems/service-unreadable")


async def test_no_proxy_of_the_environment_sees_the_token(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HTTP_PROXY", "http://127.0.0.1:9")  # a closed port
    seen: list[bytes] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append(await reader.readuntil(b"\r\n\r\n"))
        writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\n{}")
        writer.close()

    async with await asyncio.start_server(answer, "127.0.0.1", 0) as server:
        port = server.sockets[0].getsockname()[1]
        client = hud_of(Upstream("vault", f"http://127.0.0.1:{port}"))
        written = await client.put("/gold", json={}, headers={**TOKEN, "Idempotency-Key": "k"})
        assert written.json() == {}
    (request,) = seen
    assert b"PUT /api/v1/gold HTTP/1.1" in request
    assert b"authorization: bearer sesame" in request.lower()
    assert b"idempotency-key: k" in request.lower()


async def test_only_a_bearer_token_is_passed_on_and_it_is_not_logged(
    caplog: pytest.LogCaptureFixture,
) -> None:
    caplog.set_level(logging.DEBUG)
    seen: list[str | None] = []

    def answer(request: httpx.Request) -> httpx.Response:
        seen.append(request.headers.get("authorization"))
        return httpx.Response(200, json={})

    client = hud_over(answer)
    for header in ("bearer sesame", "Basic sesame", ""):
        await client.put("/gold", json={}, headers={"authorization": header})
    await client.get("/gold", headers=TOKEN)
    assert seen == ["bearer sesame", None, None, None]
    assert "sesame" not in caplog.text
