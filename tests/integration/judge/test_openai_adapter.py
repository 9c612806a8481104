import asyncio
import contextlib
import json
import socket
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rlaif.judge.evidence.summary import summarise
from rlaif.judge.panel.prompts import messages
from rlaif.judge.panel.schema import InvalidAnswerError, answer_schema, read_answer
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.settings import RouteSettings
from rlaif.llm.connections import Connections
from rlaif.llm.openai import (
    OpenAiModel,
    connections_to,
    endpoint,
)
from rlaif.llm.ports import (
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.llm.reply import read_completion
from rlaif.testing.data.segments import described_state, screen_png, state_records

TIMES = RouteSettings(connect_seconds=1.0, read_seconds=0.5, total_seconds=1.0)


@pytest.fixture
async def connections() -> AsyncIterator[Connections]:
    async with connections_to(TIMES, api_key="secret") as made:
        yield made


def _request(at: int = 0, **changes: Any) -> CompletionRequest:
    judge = JUDGES[at]
    evidence = summarise(state_records([described_state(n) for n in range(75)]))
    fields: dict[str, Any] = {
        "model": judge.model,
        "messages": messages(judge, evidence, screen_png(), variant=0),
        "schema_name": "verdict",
        "schema": answer_schema(judge),
        "seed": 1,
        "temperature": 0.0,
        "max_tokens": 256,
    }
    return CompletionRequest(**(fields | changes))


async def _fault(stand_in: Any, connections: Connections, fault: str) -> Any:
    await stand_in.fail(f"{fault}:1")
    return await OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES).complete(_request())


@pytest.mark.parametrize("at", range(3), ids=lambda at: JUDGES[at].name)
async def test_every_judge_gets_a_valid_answer(
    stand_in: Any, connections: Connections, at: int
) -> None:
    judge = JUDGES[at]
    model = OpenAiModel(connections, f"{stand_in.url}{judge.route}", TIMES)
    answer = await model.complete(_request(at))
    verdict = read_answer(judge, answer.text)
    assert set(verdict.levels) == {criterion.name for criterion in judge.criteria}
    assert verdict.rationale
    assert answer.finish_reason == "stop"
    assert answer.engine == "rlaif-mock-llm"
    assert answer.prompt_tokens
    assert answer.completion_tokens


async def test_a_throttled_call_tells_how_long_to_wait(
    stand_in: Any, connections: Connections
) -> None:
    with pytest.raises(ThrottledError) as raised:
        await _fault(stand_in, connections, "429")
    assert raised.value.retry_after == 1.0


async def test_a_server_error_is_an_outage(stand_in: Any, connections: Connections) -> None:
    with pytest.raises(UnavailableError, match="500"):
        await _fault(stand_in, connections, "500")


@pytest.mark.parametrize("fault", ["timeout", "drip"])
async def test_a_server_that_hangs_or_drips_ends_with_the_deadline(
    stand_in: Any, connections: Connections, fault: str
) -> None:
    started = time.monotonic()
    with pytest.raises(CallTimeoutError):
        await _fault(stand_in, connections, fault)
    # Far from the 60 s that httpx would take; a busy machine needs some.
    assert time.monotonic() - started < 10 * TIMES.total_seconds


async def test_a_slow_answer_within_the_deadline_counts(
    stand_in: Any, connections: Connections
) -> None:
    answer = await _fault(stand_in, connections, "slow")
    assert read_answer(JUDGES[0], answer.text)


@pytest.mark.parametrize("fault", ["huge", "endless"])
async def test_a_reply_over_the_cap_is_dropped(
    stand_in: Any, connections: Connections, fault: str
) -> None:
    with pytest.raises(InvalidReplyError, match="larger"):
        await _fault(stand_in, connections, fault)


@pytest.mark.parametrize("fault", ["garbage", "truncated"])
async def test_a_spoiled_answer_arrives_and_is_not_read(
    stand_in: Any, connections: Connections, fault: str
) -> None:
    answer = await _fault(stand_in, connections, fault)
    with pytest.raises(InvalidAnswerError):
        read_answer(JUDGES[0], answer.text)


async def test_a_refused_request_is_told_apart_from_an_outage(
    stand_in: Any, connections: Connections
) -> None:
    model = OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES)
    with pytest.raises(RefusedError, match="400"):
        await model.complete(_request(messages=({"role": "user", "content": "hello"},)))


async def test_a_wrong_path_is_a_refusal_and_a_closed_port_an_outage(
    stand_in: Any, connections: Connections
) -> None:
    with pytest.raises(RefusedError) as refused:
        await OpenAiModel(connections, f"{stand_in.url}/nowhere/at/all", TIMES).complete(_request())
    assert refused.value.status == 404
    for url in ("http://127.0.0.1:9", "127.0.0.1:9", "http://not a host"):
        with pytest.raises(UnavailableError, match="cannot be reached") as away:
            await OpenAiModel(connections, url, TIMES).complete(_request())
        assert (away.value.status, away.value.fault) == (None, "unreachable")


@pytest.mark.parametrize(("fault", "status"), [("400", 400), ("401", 401), ("404", 404),
                                               ("307", 307), ("418", 418)])  # fmt: skip
async def test_whatever_status_says_no_is_a_refusal_with_its_words(
    stand_in: Any, connections: Connections, fault: str, status: int
) -> None:
    with pytest.raises(RefusedError, match=f"HTTP {status}") as refused:
        await _fault(stand_in, connections, fault)
    assert (refused.value.status, refused.value.fault) == (status, "refused")


@pytest.mark.parametrize("fault", ["html", "empty", "cut"])
async def test_a_200_that_is_no_completion_is_an_invalid_reply(
    stand_in: Any, connections: Connections, fault: str
) -> None:
    with pytest.raises(InvalidReplyError):
        await _fault(stand_in, connections, fault)


async def test_a_server_for_text_answers_text_and_fails_on_pictures(
    stand_in: Any, connections: Connections
) -> None:
    assert (await _fault(stand_in, connections, "blind")).text
    with pytest.raises(UnavailableError, match="500"):
        await OpenAiModel(connections, f"{stand_in.url}/vision", TIMES).complete(_request(2))


@asynccontextmanager
async def _raw_server(*parts: bytes, pause: float = 0.0, close: bool = True) -> AsyncIterator[str]:
    """A server that sends these bytes, whatever is asked; then it closes or falls silent."""
    ended, served = asyncio.Event(), asyncio.Queue[asyncio.Task[None]]()

    async def send(reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            await reader.readuntil(b"\r\n\r\n")
            for part in parts:
                writer.write(part)
                await writer.drain()
                await asyncio.sleep(pause)
            if not close:
                await ended.wait()
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
        ended.set()
        server.close()
        while not served.empty():
            await served.get_nowait()


HEAD = b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"


@pytest.mark.parametrize(
    ("parts", "fault"),
    [((HEAD, b"{"), "read_timeout"), ((HEAD, *[b" "] * 100), "total_timeout")],
    ids=["silent", "drips"],
)
async def test_the_time_that_was_over_is_named(
    connections: Connections, parts: tuple[bytes, ...], fault: str
) -> None:
    async with _raw_server(*parts, pause=0.05, close=False) as url:
        with pytest.raises(CallTimeoutError) as raised:
            await OpenAiModel(connections, url, TIMES).complete(_request())
    assert raised.value.fault == fault


async def test_a_connection_that_is_not_taken_is_a_connect_timeout() -> None:
    with socket.socket() as listener:
        listener.bind(("127.0.0.1", 0))
        listener.listen(0)
        port = listener.getsockname()[1]
        # The queue of a listener that accepts nobody takes a few, then the rest get no answer.
        with contextlib.ExitStack() as stack:
            for _ in range(4):
                waiting = stack.enter_context(socket.socket())
                waiting.setblocking(False)
                waiting.connect_ex(("127.0.0.1", port))
            times = RouteSettings(connect_seconds=0.3, read_seconds=5.0, total_seconds=5.0)
            async with connections_to(times, api_key=None) as connections:
                with pytest.raises(
                    CallTimeoutError, match=r"no connection within 0\.3 s"
                ) as raised:
                    await OpenAiModel(connections, f"http://127.0.0.1:{port}", times).complete(
                        _request()
                    )
    assert raised.value.fault == "connect_timeout"


async def test_calls_that_are_cancelled_at_any_moment_cost_no_later_call_its_connection(
    stand_in: Any, connections: Connections
) -> None:
    """A deadline ends a call wherever it is: while it connects, writes or reads."""
    model = OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES)
    for turns in range(40):
        calls = [asyncio.ensure_future(model.complete(_request())) for _ in range(8)]
        for _ in range(turns):
            await asyncio.sleep(0)
        for call in calls:
            call.cancel()
        await asyncio.gather(*calls, return_exceptions=True)
    answers = await asyncio.gather(*(model.complete(_request()) for _ in range(8)))
    assert all(answer.text for answer in answers)


async def test_a_connection_is_used_again_after_a_call_that_ended_well(
    stand_in: Any, connections: Connections
) -> None:
    model = OpenAiModel(connections, f"{stand_in.url}/dialog", TIMES)
    await model.complete(_request())
    async with connections.one() as first:
        pass
    await model.complete(_request())
    async with connections.one() as again:
        assert again is first
    with pytest.raises(RuntimeError, match="broken off"):
        async with connections.one():
            raise RuntimeError("broken off")
    async with connections.one() as fresh:
        assert fresh is not first


@pytest.mark.parametrize(
    "value", ["²", "-1", "soon", "", "1e9", "٣", "Wed, 21 Oct 2026 07:28:00 GMT"]
)
async def test_a_wish_for_a_pause_that_is_no_number_is_left_aside(
    connections: Connections, value: str
) -> None:
    head = f"HTTP/1.1 429 Too Many\r\nRetry-After: {value}\r\nContent-Length: 0\r\n\r\n"
    encoded = head.encode("latin-1") if value.isascii() or value == "²" else head.encode()
    async with _raw_server(encoded) as url:
        with pytest.raises(ThrottledError) as raised:
            await OpenAiModel(connections, url, TIMES).complete(_request())
    assert raised.value.retry_after is None


async def test_a_key_that_a_server_repeats_is_told_to_nobody(connections: Connections) -> None:
    said = b"HTTP/1.1 401 No\r\nContent-Length: 24\r\n\r\nthe key secret is wrong!"
    async with _raw_server(said) as url:
        with pytest.raises(RefusedError, match="the key … is wrong!"):
            await OpenAiModel(connections, url, TIMES).complete(_request())


async def test_an_endless_error_page_is_read_no_further_than_its_beginning(
    connections: Connections,
) -> None:
    head = b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 100000000\r\n\r\n"
    async with _raw_server(head, *[b"x" * 65536] * 20) as url:
        with pytest.raises(UnavailableError, match=r"HTTP 502: x+$") as raised:
            await OpenAiModel(connections, url, TIMES).complete(_request())
    assert len(str(raised.value)) < 300


async def test_a_reply_that_breaks_off_is_an_outage_and_one_that_cannot_be_unpacked_is_invalid(
    connections: Connections,
) -> None:
    async with _raw_server(HEAD, b'{"choices": [') as url:
        with pytest.raises(UnavailableError):
            await OpenAiModel(connections, url, TIMES).complete(_request())
    packed = b"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: 4\r\n\r\nnope"
    async with _raw_server(packed) as url:
        with pytest.raises(InvalidReplyError, match="unpacked"):
            await OpenAiModel(connections, url, TIMES).complete(_request())


def test_a_completion_tells_why_it_stopped_and_what_was_cached() -> None:
    body = {
        "choices": [{"message": {"content": "{}"}, "finish_reason": "length"}],
        "usage": {"prompt_tokens": 9, "prompt_tokens_details": {"cached_tokens": 5}},
    }
    answer = read_completion(json.dumps(body).encode())
    assert (answer.finish_reason, answer.prompt_tokens, answer.cached_tokens) == ("length", 9, 5)


async def test_a_server_with_an_authority_of_its_own_is_trusted_by_its_file(
    stand_in: Any, tmp_path: Path
) -> None:
    (tmp_path / "no.pem").write_text("not a certificate")
    with pytest.raises(OSError, match=r"(?i)certificate|PEM"):
        connections_to(TIMES, api_key=None, ca_file=tmp_path / "no.pem")


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
            _request()
        )
    assert reply.text == "hi"
    assert (reply.finish_reason, reply.prompt_tokens) == (None, None)
    assert seen[0].startswith("post /v1/chat/completions ")
    assert "authorization: bearer secret" in seen[0]


@pytest.mark.parametrize(
    "body",
    [
        b"",
        b"<html>",
        b"[]",
        b'{"choices": []}',
        b'{"choices": [{"message": {}}]}',
        b'{"choices": [{"message": {"content": 7}}]}',
        b"[" * 100_000,
        b"\xff\xfe",
        b'{"choices": [{"message": {"content": "half a character: \\ud800"}}]}',
    ],
)
def test_a_reply_that_is_no_completion_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidReplyError):
        read_completion(body)


def test_the_endpoint_is_found_with_and_without_its_version() -> None:
    assert endpoint("http://gpu:8000") == endpoint("http://gpu:8000/v1/")
    assert endpoint("http://m/dialog") == "http://m/dialog/v1/chat/completions"
