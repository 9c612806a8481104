"""One call of the adapter: what comes back, and how it fails, against servers of every kind."""

import asyncio
import contextlib
import json
import socket
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager

import pytest

from rlaif.llm.connections import Connections
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import (
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.settings import CallSettings
from rlaif.testing.servers.chat_server import ChatServer, chat_server

TIMES = CallSettings(connect_seconds=1.0, total_seconds=1.0)
REQUEST = CompletionRequest(
    model="qwen25-7b",
    messages=({"role": "user", "content": "hello"},),
    schema_name="greeting",
    schema={"type": "object", "properties": {}, "required": [], "additionalProperties": False},
    seed=1,
    temperature=0.0,
    max_tokens=64,
)
"""A valid request that the mock LLM cannot read: it applies its faults before it reads."""


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with connections_to(TIMES, api_key="secret") as made:
        yield made


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with chat_server("hi") as made:
        yield made


@pytest.mark.parametrize(
    ("fault", "error", "code", "status"),
    [
        ("429", ThrottledError, "throttled", 429),
        ("500", UnavailableError, "server_error", 500),
        ("timeout", CallTimeoutError, "total_timeout", None),
        ("drip", CallTimeoutError, "total_timeout", None),
        ("huge", InvalidReplyError, "no_completion", None),
        ("html", InvalidReplyError, "no_completion", None),
        ("cut", InvalidReplyError, "no_completion", None),
        *((str(status), RefusedError, "refused", status) for status in (400, 401, 307, 418)),
    ],
)
async def test_a_fault_of_the_server_has_its_own_error(
    stand_in, connections, fault, error, code, status
):
    await stand_in.fail(f"{fault}:1")
    with pytest.raises(error) as raised:
        await OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES).complete(REQUEST)
    assert (raised.value.fault, raised.value.status) == (code, status)
    if isinstance(raised.value, ThrottledError):
        assert raised.value.retry_after == 1.0


async def test_a_wrong_path_is_a_refusal_and_a_closed_port_an_outage(stand_in, connections):
    with pytest.raises(RefusedError) as refused:
        await OpenAiModel(connections, f"{stand_in.url}/nowhere/at/all", TIMES).complete(REQUEST)
    assert refused.value.status == 404
    for url in ("http://127.0.0.1:9", "127.0.0.1:9", "http://not a host"):
        with pytest.raises(UnavailableError, match="cannot be reached") as away:
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)
        assert (away.value.status, away.value.fault) == (None, "unreachable")


@asynccontextmanager
async def _raw_server(*parts: bytes) -> AsyncIterator[str]:
    """A server that sends these bytes to every request, and closes the connection."""
    served = asyncio.Queue[asyncio.Task[None]]()

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            for part in parts:
                writer.write(part)
                await writer.drain()
        except (ConnectionError, asyncio.IncompleteReadError):
            pass  # the client has left
        finally:
            writer.close()

    def serve(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        served.put_nowait(asyncio.ensure_future(send(reader, writer)))

    server = await asyncio.start_server(serve, "127.0.0.1", 0)
    try:
        yield f"http://127.0.0.1:{server.sockets[0].getsockname()[1]}/dialog"
    finally:
        server.close()
        while not served.empty():
            await served.get_nowait()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


async def test_a_connection_that_is_not_taken_is_a_connect_timeout() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        # The queue of a listener that does not accept holds a few, the others get no answer.
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
            times = CallSettings(connect_seconds=0.3, total_seconds=5.0)
            async with connections_to(times, api_key=None) as connections:
                with pytest.raises(
                    CallTimeoutError, match=r"no connection within 0\.3 s"
                ) as raised:
                    await OpenAiModel(connections, f"http://127.0.0.1:{port}", times).complete(
                        REQUEST
                    )
    assert raised.value.fault == "connect_timeout"


async def test_calls_that_are_cancelled_at_any_moment_cost_no_later_call_its_connection(
    server, connections
):
    """A deadline ends a call wherever it is: while it connects, writes or reads."""
    model = OpenAiModel(connections, server.url, TIMES)
    for turns in range(40):
        calls = [asyncio.ensure_future(model.complete(REQUEST)) for _ in range(8)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    answers = await asyncio.gather(*(model.complete(REQUEST) for _ in range(8)))
    assert all(answer.text for answer in answers)


async def test_a_connection_is_used_again_after_a_call_that_ended_well(server, connections):
    model = OpenAiModel(connections, server.url, TIMES)
    await model.complete(REQUEST)
    async with connections.one() as first:
        pass
    await model.complete(REQUEST)
    async with connections.one() as again:
        assert again is first
    with pytest.raises(RuntimeError, match="broken off"):
        async with connections.one():
            raise RuntimeError("broken off")
    async with connections.one() as fresh:
        assert fresh is not first


WHEN = "Wed, 21 Oct 2026 07:28:00 GMT"


@pytest.mark.parametrize(
    ("value", "date", "seconds"),
    [
        *((value, WHEN, None) for value in ("²", "-1", "nan", "soon", "")),
        (WHEN, "", None),
        (WHEN, WHEN.replace("28:00", "27:30"), 30.0),
        ("7.5", "", 7.5),
        ("1e9", "", 600.0),
    ],
)
async def test_a_pause_is_a_number_or_a_date_by_the_clock_of_the_server(
    connections, value, date, seconds
):
    head = f"HTTP/1.1 429 No\r\nRetry-After: {value}\r\nDate: {date}\r\nContent-Length: 0\r\n\r\n"
    encoded = head.encode("latin-1") if value.isascii() or value == "²" else head.encode()
    async with _raw_server(encoded) as url:
        with pytest.raises(ThrottledError) as raised:
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)
    assert raised.value.retry_after == seconds


async def test_a_key_that_a_server_repeats_is_masked(connections: Connections) -> None:
    said = b"HTTP/1.1 401 No\r\nContent-Length: 24\r\n\r\nthe key secret is wrong!"
    async with _raw_server(said) as url:
        with pytest.raises(RefusedError, match="the key … is wrong!"):
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)


async def test_an_endless_error_page_is_read_no_further_than_its_beginning(connections):
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100000000\r\n\r\n"
    async with _raw_server(head, *[b"x" * 65536] * 20) as url:
        with pytest.raises(UnavailableError, match=r"HTTP 502: x+$") as raised:
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)
    assert len(str(raised.value)) < 300


async def test_a_reply_that_breaks_off_is_an_outage_and_one_that_cannot_be_decoded_is_invalid(
    connections,
):
    async with _raw_server(HEAD, b'{"choices": [') as url:
        with pytest.raises(UnavailableError):
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
    async with _raw_server(packed) as url:
        with pytest.raises(InvalidReplyError, match="decoded"):
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)


@pytest.mark.parametrize("status", ["301 Moved", "302 Found", "307 Temporary Redirect"])
async def test_a_redirect_is_reported_as_one(connections: Connections, status: str) -> None:
    head = f"HTTP/1.1 {status}\r\nLocation: https://login.example/?next=1\r\n"
    async with _raw_server(f"{head}Content-Length: 0\r\n\r\n".encode()) as url:
        with pytest.raises(RefusedError, match="redirects are not followed") as raised:
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)
    assert "login.example" not in str(raised.value), "stored errors name no hosts"


@pytest.mark.parametrize("status", ["200 OK", "201 Created", "206 Partial Content"])
async def test_any_success_that_holds_a_completion_is_an_answer(connections, status: str) -> None:
    body = json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode()
    head = f"HTTP/1.1 {status}\r\nContent-Length: {len(body)}\r\n\r\n"
    async with _raw_server(head.encode(), body) as url:
        assert (await OpenAiModel(connections, url, TIMES).complete(REQUEST)).text == "hi"


@pytest.mark.parametrize(
    "reply",
    [
        b"HTTP/1.1 204 No Content\r\n\r\n",
        b'HTTP/1.1 200 OK\r\nContent-Length: 15\r\n\r\n{"choices": []}',
    ],
    ids=["no content", "no choices"],
)
async def test_a_success_without_a_completion_is_invalid(
    connections: Connections, reply: bytes
) -> None:
    async with _raw_server(reply) as url:
        with pytest.raises(InvalidReplyError):
            await OpenAiModel(connections, url, TIMES).complete(REQUEST)


async def test_the_key_travels_as_a_bearer_token() -> None:
    seen: list[str] = []

    async def answer(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        seen.append((await reader.readuntil(b"\r\n\r\n")).decode().lower())
        body = json.dumps({"choices": [{"message": {"content": "hi"}}]}).encode()
        writer.write(b"HTTP/1.1 200 OK\r\nConnection: close\r\n")
        writer.write(f"Content-Length: {len(body)}\r\n\r\n".encode() + body)
        await writer.drain()
        writer.close()

    server = await asyncio.start_server(answer, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with server, connections_to(TIMES, api_key="secret") as connections:
        reply = await OpenAiModel(connections, f"http://127.0.0.1:{port}/v1", TIMES).complete(
            REQUEST
        )
    assert reply.text == "hi"
    assert (reply.finish_reason, reply.prompt_tokens) == (None, None)
    assert seen[0].startswith("post /v1/chat/completions ")
    assert "authorization: bearer secret" in seen[0]
