"""What servers of other makers are sent, and what they send back."""

import json
from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response

from rlaif.contracts.evidence import Evidence
from rlaif.judge.panel.calls import verdict_request
from rlaif.judge.panel.prompts import messages
from rlaif.judge.panel.schema import read_answer
from rlaif.judge.rubric.judges import JUDGES
from rlaif.judge.settings import RouteSettings
from rlaif.llm.openai import OpenAiModel, connections_to
from rlaif.llm.ports import Answer, InvalidReplyError
from rlaif.llm.settings import DialectSettings
from rlaif.testing.http_server import serve

PUZZLE = JUDGES[1]
GOOD = '{"rationale":"pressed it","puzzle":2}'
REQUEST = verdict_request(PUZZLE, messages(PUZZLE, Evidence(), None, variant=0), max_tokens=256)


class Server:
    """Says one thing, and keeps what it was asked."""

    def __init__(self) -> None:
        self.message: dict[str, Any] = {"role": "assistant", "content": GOOD}
        self.finish = "stop"
        self.bodies: list[dict[str, Any]] = []
        self.url = ""

    def app(self) -> FastAPI:
        app = FastAPI()

        @app.post("/v1/chat/completions")
        async def complete(request: Request) -> Response:
            self.bodies.append(json.loads(await request.body()))
            reply = {"choices": [{"message": self.message, "finish_reason": self.finish}]}
            return Response(json.dumps(reply), media_type="application/json")

        return app

    async def ask(self, **dialect: Any) -> Answer:
        calls = RouteSettings()
        async with connections_to(calls, api_key=None) as connections:
            model = OpenAiModel(
                connections, self.url, calls, DialectSettings.model_validate(dialect)
            )
            return await model.complete(REQUEST)


@pytest.fixture
async def server() -> AsyncIterator[Server]:
    made = Server()
    async with serve(made.app()) as url:
        made.url = url
        yield made


async def test_by_default_the_schema_is_strict_and_nothing_else_is_sent(server: Server) -> None:
    await server.ask()
    (body,) = server.bodies
    assert body["response_format"] == {
        "type": "json_schema",
        "json_schema": {"name": "puzzle_verdict", "schema": REQUEST.schema, "strict": True},
    }
    assert set(body) == {
        "model", "messages", "seed", "temperature", "max_tokens", "response_format"
    }  # fmt: skip


async def test_the_subset_has_all_that_a_strict_server_wants_and_nothing_that_it_refuses(
    server: Server,
) -> None:
    await server.ask(schema_mode="json_schema_subset")
    schema = server.bodies[0]["response_format"]["json_schema"]["schema"]
    assert "maxLength" not in json.dumps(schema)
    assert schema["required"] == list(schema["properties"])
    assert schema["additionalProperties"] is False
    assert schema["properties"]["puzzle"] == {
        "type": ["integer", "string"],
        "enum": [0, 1, 2, "insufficient_evidence"],
    }


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("json_object", {"response_format": {"type": "json_object"}}),
        ("guided_json", {"guided_json": REQUEST.schema}),
        ("none", {}),
    ],
)
async def test_other_servers_are_told_the_shape_in_their_own_way(
    server: Server, mode: str, sent: dict[str, Any]
) -> None:
    await server.ask(schema_mode=mode)
    (body,) = server.bodies
    assert {k: v for k, v in body.items() if k in ("response_format", "guided_json")} == sent
    # The prompt says it as well, whatever the server is told.
    assert '"additionalProperties":false' in body["messages"][0]["content"]


async def test_a_chat_template_gets_its_options(server: Server) -> None:
    await server.ask(chat_template_kwargs={"enable_thinking": False})
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        f'<think>\nIt pressed a button. {{"puzzle":0}}?\n</think>\n\n{GOOD}',
        f"The template opened the thoughts.\n</think>\n{GOOD}",
        f"<think>\n\n</think>\n\n{GOOD}",
    ],
    ids=["plain", "thought", "opened by the template", "thought nothing"],
)
async def test_thoughts_before_the_answer_are_cut_off(server: Server, content: str) -> None:
    server.message["content"] = content
    assert read_answer(PUZZLE, (await server.ask()).text).levels == {"puzzle": 2}


@pytest.mark.parametrize(
    "content",
    [
        f"Here you are: {GOOD}",
        f"{GOOD}</think>{GOOD}",
        f"<think>a</think>b</think>{GOOD}",
        f"<think>a {GOOD}",
        f"<think>a</think>Sure! {GOOD}",
        "<think>a</think>",
    ],
)
async def test_what_is_left_is_read_as_strictly_as_ever(server: Server, content: str) -> None:
    server.message["content"] = content
    answer = await server.ask()
    with pytest.raises(ValueError, match=r"JSON|json"):
        read_answer(PUZZLE, answer.text)


async def test_a_mark_of_thoughts_inside_an_answer_changes_nothing(server: Server) -> None:
    server.message["content"] = '{"rationale":"it wrote </think> on a sign","puzzle":1}'
    assert read_answer(PUZZLE, (await server.ask()).text).levels == {"puzzle": 1}


async def test_thoughts_in_a_field_of_their_own_are_not_read(server: Server) -> None:
    server.message["reasoning_content"] = '{"rationale":"not mine","puzzle":0}'
    assert read_answer(PUZZLE, (await server.ask()).text).levels == {"puzzle": 2}


async def test_an_answer_that_a_wrong_parser_took_for_thoughts_is_named(server: Server) -> None:
    server.message |= {"content": None, "reasoning_content": GOOD}
    with pytest.raises(InvalidReplyError, match="--reasoning-parser"):
        await server.ask()


async def test_a_model_that_was_still_thinking_gave_an_answer_without_text(server: Server) -> None:
    server.message |= {"content": None, "reasoning_content": "Let me see"}
    server.finish = "length"
    answer = await server.ask()
    assert (answer.text, answer.finish_reason) == ("", "length")


async def test_a_refusal_of_the_model_is_told(server: Server) -> None:
    server.message |= {"content": None, "refusal": "I do not judge."}
    with pytest.raises(InvalidReplyError, match="I do not judge"):
        await server.ask()


@pytest.mark.parametrize(
    ("said", "named"),
    [
        ("Unknown field: response_format.json_schema", "JUDGE_SCHEMA_MODE"),
        ("chat_template_kwargs is not allowed", "JUDGE_CHAT_TEMPLATE_KWARGS"),
        ("no such model", "JUDGE_PUZZLE_MODEL"),
    ],
)
async def test_a_server_that_refuses_the_form_is_told_with_the_setting(
    start_judge: Any, said: str, named: str
) -> None:
    app = FastAPI()

    @app.post("/v1/chat/completions", status_code=400)
    async def refuse() -> dict[str, str]:
        return {"error": said}

    async with serve(app) as url:
        client: httpx.AsyncClient = await start_judge(llm_puzzle_url=url)
        checks = (await client.get("/readyz")).json()["checks"]
    assert named in checks["route:puzzle"]["detail"]
