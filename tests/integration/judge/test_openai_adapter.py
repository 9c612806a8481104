import asyncio
import json
import time
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.judge.adapters.openai import (
    CallTimes,
    OpenAiModel,
    endpoint,
    http_client,
    read_completion,
)
from rlaif.judge.evidence import summarise
from rlaif.judge.judges import JUDGES
from rlaif.judge.ports import (
    CallTimeoutError,
    CompletionRequest,
    InvalidReplyError,
    RefusedError,
    ThrottledError,
    UnavailableError,
)
from rlaif.judge.prompts import messages
from rlaif.judge.schema import InvalidAnswerError, answer_schema, read_answer
from rlaif.testing.segments import described_state, screen_png, state_records

TIMES = CallTimes(connect=1.0, read=0.5, total=1.0)


@pytest.fixture
async def client() -> AsyncIterator[httpx.AsyncClient]:
    async with http_client(api_key="secret", times=TIMES, connections=4) as made:
        yield made


def _request(at: int = 0, **changes: Any) -> CompletionRequest:
    judge = JUDGES[at]
    facts = summarise(state_records([described_state(n) for n in range(75)]))
    fields: dict[str, Any] = {
        "model": judge.model,
        "messages": messages(judge, facts, screen_png(), variant=0),
        "schema_name": "verdict",
        "schema": answer_schema(judge),
        "seed": 1,
        "temperature": 0.0,
        "max_tokens": 256,
    }
    return CompletionRequest(**(fields | changes))


async def _fault(stand_in: Any, client: httpx.AsyncClient, fault: str) -> Any:
    await stand_in.fail(f"{fault}:1")
    return await OpenAiModel(client, f"{stand_in.url}/dialog", TIMES).complete(_request())


@pytest.mark.parametrize("at", range(3), ids=lambda at: JUDGES[at].name)
async def test_every_judge_gets_a_valid_answer(
    stand_in: Any, client: httpx.AsyncClient, at: int
) -> None:
    judge = JUDGES[at]
    model = OpenAiModel(client, f"{stand_in.url}{judge.route}", TIMES)
    answer = await model.complete(_request(at))
    verdict = read_answer(judge, answer.text)
    assert set(verdict.levels) == {criterion.name for criterion in judge.criteria}
    assert verdict.rationale
    assert answer.finish_reason == "stop"
    assert answer.engine == "rlaif-mock-llm"
    assert answer.prompt_tokens
    assert answer.completion_tokens


async def test_a_throttled_call_tells_how_long_to_wait(
    stand_in: Any, client: httpx.AsyncClient
) -> None:
    with pytest.raises(ThrottledError) as raised:
        await _fault(stand_in, client, "429")
    assert raised.value.retry_after == 1.0


async def test_a_server_error_is_an_outage(stand_in: Any, client: httpx.AsyncClient) -> None:
    with pytest.raises(UnavailableError, match="500"):
        await _fault(stand_in, client, "500")


@pytest.mark.parametrize("fault", ["timeout", "drip"])
async def test_a_server_that_hangs_or_drips_ends_with_the_deadline(
    stand_in: Any, client: httpx.AsyncClient, fault: str
) -> None:
    started = time.monotonic()
    with pytest.raises(CallTimeoutError):
        await _fault(stand_in, client, fault)
    # Far from the 60 s that httpx would take; a busy machine needs some.
    assert time.monotonic() - started < 10 * TIMES.total


async def test_a_slow_answer_within_the_deadline_counts(
    stand_in: Any, client: httpx.AsyncClient
) -> None:
    answer = await _fault(stand_in, client, "slow")
    assert read_answer(JUDGES[0], answer.text)


@pytest.mark.parametrize("fault", ["huge", "endless"])
async def test_a_reply_over_the_cap_is_dropped(
    stand_in: Any, client: httpx.AsyncClient, fault: str
) -> None:
    with pytest.raises(InvalidReplyError, match="larger"):
        await _fault(stand_in, client, fault)


@pytest.mark.parametrize("fault", ["garbage", "truncated"])
async def test_a_spoiled_answer_arrives_and_is_not_read(
    stand_in: Any, client: httpx.AsyncClient, fault: str
) -> None:
    answer = await _fault(stand_in, client, fault)
    with pytest.raises(InvalidAnswerError):
        read_answer(JUDGES[0], answer.text)


async def test_a_refused_request_is_told_apart_from_an_outage(
    stand_in: Any, client: httpx.AsyncClient
) -> None:
    model = OpenAiModel(client, f"{stand_in.url}/dialog", TIMES)
    with pytest.raises(RefusedError, match="400"):
        await model.complete(_request(messages=({"role": "user", "content": "hello"},)))


async def test_a_wrong_path_and_a_closed_port_are_outages(
    stand_in: Any, client: httpx.AsyncClient
) -> None:
    for url in (f"{stand_in.url}/nowhere/at/all", "http://127.0.0.1:9"):
        with pytest.raises(UnavailableError):
            await OpenAiModel(client, url, TIMES).complete(_request())


async def test_a_server_with_an_authority_of_its_own_is_trusted_by_its_file(
    stand_in: Any, tmp_path: Path
) -> None:
    (tmp_path / "no.pem").write_text("not a certificate")
    with pytest.raises(OSError, match=r"(?i)certificate|PEM"):
        http_client(api_key=None, times=TIMES, connections=1, ca_file=tmp_path / "no.pem")


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
    async with server, http_client(api_key="secret", times=TIMES, connections=1) as client:
        reply = await OpenAiModel(client, f"http://127.0.0.1:{port}/v1", TIMES).complete(_request())
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
    ],
)
def test_a_reply_that_is_no_completion_is_invalid(body: bytes) -> None:
    with pytest.raises(InvalidReplyError):
        read_completion(body)


def test_the_endpoint_is_found_with_and_without_its_version() -> None:
    assert endpoint("http://gpu:8000") == endpoint("http://gpu:8000/v1/")
    assert endpoint("http://m/dialog") == "http://m/dialog/v1/chat/completions"
