"""What the judges send to servers of other makers, and how they read what comes back."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.judge.panel.calls import verdict_request
from rlaif.judge.panel.prompts import messages
from rlaif.judge.rubric.judges import JUDGES
from rlaif.testing.servers.chat_server import ChatServer, ask, chat_server

PUZZLE = JUDGES[1]
GOOD = '{"rationale":"pressed it","puzzle":2}'
REQUEST = verdict_request(PUZZLE, messages(PUZZLE, Evidence(), None, variant=0), max_tokens=256)


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with chat_server(GOOD) as made:
        yield made


async def test_the_subset_has_all_that_a_strict_server_wants_and_nothing_that_it_refuses(
    server: ChatServer,
) -> None:
    await ask(server, REQUEST, schema_mode="json_schema_subset")
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert "maxLength" not in json.dumps(schema)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["puzzle"] == {
        "type": ["integer", "string"],
        "enum": [0, 1, 2, "insufficient_evidence"],
    }


@pytest.mark.parametrize("mode", ["json_schema", "json_object", "guided_json", "none"])
async def test_the_prompt_says_the_shape_whatever_the_server_is_told(
    server: ChatServer, mode: str
) -> None:
    await ask(server, REQUEST, schema_mode=mode)
    assert '"additionalProperties":false' in server.bodies[0]["messages"][0]["content"]


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Unknown field: response_format.json_schema", "JUDGE_SCHEMA_MODE"),
        ("chat_template_kwargs is not allowed", "JUDGE_CHAT_TEMPLATE_KWARGS"),
        ("no such model", "JUDGE_PUZZLE_MODEL"),
    ],
)
async def test_a_server_that_refuses_the_form_is_told_with_the_setting(
    start_judge: Any, server: ChatServer, said: str, named: str
) -> None:
    server.status, server.message = 400, {"error": said}
    client: httpx.AsyncClient = await start_judge(llm_puzzle_url=server.url)
    checks = (await client.get("/readyz")).json()["checks"]
    assert named in checks["route:puzzle"]["detail"]
