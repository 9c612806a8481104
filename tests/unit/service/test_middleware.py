"""The bounds of a request: its body, its time, and the number of connections."""

import asyncio
import socket
import subprocess
import sys
from collections.abc import AsyncIterator, Callable
from contextlib import AbstractAsyncContextManager, asynccontextmanager

import httpx
import pytest
from fastapi import APIRouter, FastAPI, Request
from fastapi.responses import StreamingResponse

from rlaif.service import cli, middleware
from rlaif.service.lifecycle import serving
from rlaif.service.middleware import MAX_BODY_BYTES
from rlaif.testing.waiting import eventually

Build = Callable[..., FastAPI]
Client = Callable[[FastAPI], AbstractAsyncContextManager[httpx.AsyncClient]]


@pytest.fixture
def router() -> APIRouter:
    router = APIRouter()
    router.gate = asyncio.Event()  # type: ignore[attr-defined]

    @router.post("/things")
    async def make(request: Request) -> int:
        return len(await request.body())

    @router.get("/slow")
    async def slow() -> StreamingResponse:
        async def parts() -> AsyncIterator[str]:
            yield "first "
            await router.gate.wait()  # type: ignore[attr-defined]
            yield "last"

        return StreamingResponse(parts())

    return router


@asynccontextmanager
async def served(app: FastAPI) -> AsyncIterator[int]:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        async with serving(app, listener):
            yield listener.getsockname()[1]


async def parts(size: int) -> AsyncIterator[bytes]:
    for _ in range(0, size, 1000):
        yield bytes(1000)


async def test_a_body_at_the_limit_arrives_whole_and_one_above_it_is_refused(
    build: Build, client: Client, router: APIRouter
) -> None:
    async with client(build(router)) as http:
        for content in (bytes(MAX_BODY_BYTES), parts(MAX_BODY_BYTES)):
            answer = await http.post("/things", content=content)
            assert (answer.status_code, answer.json()) == (200, MAX_BODY_BYTES)
        for content in (bytes(MAX_BODY_BYTES + 1), parts(MAX_BODY_BYTES + 1000)):
            answer = await http.post("/things", content=content)
            assert answer.status_code == 413
            assert answer.json()["type"] == "/problems/body-too-large"
            assert answer.headers["content-type"] == "application/problem+json"


HALF_REQUESTS = [
    b"",
    b"GET /livez HTTP/1.1\r\nHost:",
    b"POST /things HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf",
    b"GET /livez HTTP/1.1\r\nHost: x\r\n\r\nGET /livez",
]


@pytest.mark.parametrize("sent", HALF_REQUESTS)
async def test_a_connection_without_a_whole_request_is_closed(build, router, monkeypatch, sent):
    monkeypatch.setattr(middleware, "REQUEST_SECONDS", 0.1)
    async with served(build(router)) as port:
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        writer.write(sent)
        await reader.read()  # returns at the end of the connection
        writer.close()


async def test_a_long_answer_to_a_whole_request_is_not_cut(build, router, monkeypatch):
    monkeypatch.setattr(middleware, "REQUEST_SECONDS", 0.1)
    async with served(build(router)) as port, httpx.AsyncClient() as http:
        asked = asyncio.create_task(http.get(f"http://127.0.0.1:{port}/slow"))
        reader, writer = await asyncio.open_connection("127.0.0.1", port)
        await reader.read()  # an idle connection was closed meanwhile
        writer.close()
        await asyncio.sleep(0.2)
        router.gate.set()
        assert (await asked).text == "first last"


async def test_connections_above_the_limit_are_refused_until_others_end(build, router, monkeypatch):
    monkeypatch.setattr(cli, "MAX_CONNECTIONS", 3)
    async with served(build(router)) as port, httpx.AsyncClient() as http:
        idle = [await asyncio.open_connection("127.0.0.1", port) for _ in range(3)]

        async def status() -> int:
            return (await http.get(f"http://127.0.0.1:{port}/livez")).status_code

        assert await status() == 503
        for _, writer in idle:
            writer.close()

        async def answers() -> bool:
            return await status() == 200

        await eventually(answers, "an answer")


def test_the_limit_of_descriptors_is_raised_to_what_is_allowed() -> None:
    program = (
        "import resource as r; from rlaif.service.cli import raise_descriptor_limit as up;"
        "r.setrlimit(r.RLIMIT_NOFILE, (64, 512)); assert up() == 512;"
        "assert r.getrlimit(r.RLIMIT_NOFILE) == (512, 512)"
    )
    subprocess.run([sys.executable, "-c", program], check=True)
