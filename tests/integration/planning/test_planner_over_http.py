"""The planner of a runner against real servers: the mock LLM, and broken ones."""

import asyncio
import json
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from dataclasses import dataclass

import pytest

from rlaif.contracts.planning.briefing import Briefing
from rlaif.contracts.planning.plans import Answer
from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.settings import MockLlmSettings
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.planning.planner import open_planner
from rlaif.trainer.play.planner_port import Planner, PlannerQuestion, PlannerReply
from rlaif.trainer.settings.planner import PlannerSettings

MODES = ("dialog", "puzzle", "vision")
SHOP = Briefing(
    game="seedling-vale", place="Nut Shop", room="3/17", at=(3, 4), rupees=25, items=("sword",),
    text=True, said="Wooden shield, 20 coins?", asks=True, choices=("Yes", "No"),
)  # fmt: skip


@dataclass(frozen=True)
class Request:
    """Head and body as they came."""

    head: str
    body: bytes


Serve = Callable[[Request, asyncio.StreamWriter], Awaitable[None]]


def ask_for(situation: str, mode="dialog", kind="plan", **more) -> PlannerQuestion:
    return PlannerQuestion(0, mode, kind, situation, SHOP, **more)


@asynccontextmanager
async def planner_at(url: str, **settings) -> AsyncIterator[Planner]:
    planner = open_planner(PlannerSettings(base_url=url, **{"calls_per_second": 1_000} | settings))
    assert planner is not None
    try:
        yield planner
    finally:
        await asyncio.to_thread(planner.close)


async def replies_of(planner: Planner, number: int) -> list[PlannerReply]:
    found: list[PlannerReply] = []

    def enough() -> bool:
        found.extend(planner.replies())
        return len(found) >= number

    await eventually(enough, f"{number} replies")
    return found


@asynccontextmanager
async def raw_server(answer: Serve) -> AsyncIterator[str]:
    """A server that reads a request and does what `answer` does."""
    connections: dict[asyncio.Task[None], asyncio.WriteTransport] = {}

    async def handle(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
            length = int(head.partition("content-length: ")[2].partition("\r")[0])
            await answer(Request(head, await reader.readexactly(length)), writer)
        except (ConnectionError, asyncio.IncompleteReadError):
            pass
        finally:
            writer.close()

    # Not a coroutine, which would never run for a connection accepted just before the end.
    def accept(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        connections[asyncio.create_task(handle(reader, writer))] = writer.transport

    server = await asyncio.start_server(accept, "127.0.0.1", 0)
    try:
        port = server.sockets[0].getsockname()[1]
        yield f"http://127.0.0.1:{port}"
    finally:
        server.close()
        await _turns()  # accepted connections reach `accept`
        for task, transport in connections.items():
            task.cancel()
            transport.abort()
        await asyncio.gather(*connections, return_exceptions=True)
        await _turns()  # aborted transports close their sockets


async def _turns() -> None:
    for _ in range(5):
        await asyncio.sleep(0)


def says(status: str, body: bytes, *headers: str) -> Serve:
    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(body)}", "Connection: close"]
        writer.write("\r\n".join([*lines, *headers, "", ""]).encode() + body)
        await writer.drain()

    return answer


async def hangs(request: Request, writer: asyncio.StreamWriter) -> None:
    await asyncio.sleep(60)


async def drips(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nContent-Length: 100000\r\n\r\n{")
    while True:
        writer.write(b" ")
        await writer.drain()
        await asyncio.sleep(0.02)


async def never_ends(request: Request, writer: asyncio.StreamWriter) -> None:
    writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n\r\n")
    while True:
        writer.write(b"x" * 65536)
        await writer.drain()


@pytest.mark.parametrize("mode", MODES)
async def test_the_mock_plans_and_suggests_on_every_route(mode):
    async with (
        serve(create_app(MockLlmSettings(latency_seconds=0))) as url,
        planner_at(url) as planner,
    ):
        assert planner.ask(ask_for("shop", mode))
        assert planner.ask(ask_for("shop", mode, "suggestion", picture=b"\xff\xd8 a screen"))
        replies = {reply.question.kind: reply for reply in await replies_of(planner, 2)}
        plan, suggestion = replies["plan"].plan, replies["suggestion"].suggestion
        assert plan is not None
        assert plan.macros == (Answer(choice=0),)  # the shield is wanted and can be paid
        assert suggestion is not None
        assert suggestion.button == "A"
        counts = planner.counts().by_mode[mode]
        assert (counts.asked, counts.outcomes, sum(counts.latency)) == (2, {"ok": 2}, 2)
        assert counts.tokens_read > 3000
        assert counts.latency_seconds > 0


async def test_a_hung_server_delays_no_other_and_its_route_is_paused():
    async with (
        raw_server(hangs) as url,
        planner_at(url, plan_seconds=5, failures=2, in_flight=2, pause_seconds=60) as planner,
    ):
        for number in range(50):
            planner.ask(ask_for(f"{number}"))
            assert planner.replies() == [], "nothing waits for the server"
        assert [reply.outcome for reply in await replies_of(planner, 2)] == ["timeout"] * 2
        assert not planner.ask(ask_for("more"))
        assert planner.ask(ask_for("more", "puzzle"))  # a route of its own
        counts = planner.counts().by_mode["dialog"]
        assert counts.not_asked["busy"] == 48
        assert counts.not_asked["resting"] == 1


@pytest.mark.parametrize(
    ("answer", "outcome", "said"),
    [
        pytest.param(drips, "timeout", "answer", id="a byte now and then"),
        pytest.param(never_ends, "invalid", "larger than", id="endless"),
        pytest.param(says("200 OK", b"<html>hello</html>"), "invalid", "not a chat", id="html"),
        pytest.param(says("200 OK", b""), "invalid", "not a chat", id="nothing"),
        pytest.param(says("401 No", b"bad key sk-1"), "refused", "HTTP 401", id="wrong key"),
        pytest.param(says("302 Found", b"", "Location: /x"), "refused", "302", id="redirect"),
        pytest.param(says("500 Oh", b"oops"), "error", "HTTP 500", id="server error"),
        pytest.param(
            says("429 Slow", b"", "Retry-After: 30"), "throttled", "HTTP 429", id="too many"
        ),
    ],
)
async def test_an_unusable_model_is_distinguished_and_counted(answer, outcome, said):
    async with (
        raw_server(answer) as url,
        planner_at(url, plan_seconds=0.5, api_key="sk-1") as planner,
    ):
        planner.ask(ask_for("x"))
        (reply,) = await replies_of(planner, 1)
        assert (reply.outcome, reply.plan) == (outcome, None)
        assert reply.detail is not None
        assert said in reply.detail
        assert "sk-1" not in reply.detail
        assert "127.0.0.1" not in reply.detail
        assert planner.counts().by_mode["dialog"].outcomes == {outcome: 1}


async def test_no_server_at_the_address_is_an_error():
    async with planner_at("http://127.0.0.1:9") as planner:
        planner.ask(ask_for("x"))
        (reply,) = await replies_of(planner, 1)
        assert reply.outcome == "error"


async def test_the_key_is_sent_and_all_questions_of_a_kind_begin_alike():
    seen: list[Request] = []

    async def answer(request: Request, writer: asyncio.StreamWriter) -> None:
        seen.append(request)
        await says("500 No", b"")(request, writer)

    async with (
        raw_server(answer) as url,
        planner_at(url, failures=1000, api_key="sk-1") as planner,
    ):
        for mode in MODES:
            planner.ask(ask_for("x", mode))
        await replies_of(planner, 3)
    assert all("authorization: bearer sk-1\r\n" in request.head for request in seen)
    bodies = [json.loads(request.body) for request in seen]
    assert len({json.dumps(body["messages"][0]) for body in bodies}) == 1
    assert {body["model"] for body in bodies} == {"qwen25-7b", "qwen25-32b", "qwen25-vl-32b"}
    paths = sorted(request.head.split()[1] for request in seen)
    assert paths == [f"/{mode}/v1/chat/completions" for mode in MODES]
