"""What servers of other makers are sent, and what they send back."""

import json
from collections.abc import AsyncIterator

import pytest

from rlaif.llm.ports import CompletionRequest, InvalidReplyError
from rlaif.testing.servers.chat_server import ChatServer, ask, chat_server

GOOD = '{"reason":"pressed it","mark":2}'
REQUEST = CompletionRequest(
    model="qwen25-7b",
    messages=({"role": "user", "content": "Was it pressed?"},),
    schema_name="mark",
    schema={
        "type": "object",
        "properties": {
            "reason": {"type": "string", "minLength": 1, "maxLength": 200},
            "mark": {"enum": [0, 1, 2, "unknown"]},
            "button": {"enum": ["A", "B"]},
        },
        "required": ["reason", "mark", "button"],
        "additionalProperties": False,
    },
    seed=1,
    temperature=0.4,
    max_tokens=64,
)


@pytest.fixture
async def server() -> AsyncIterator[ChatServer]:
    async with chat_server(GOOD) as made:
        yield made


async def test_by_default_the_schema_is_strict_and_nothing_else_is_sent(server: ChatServer) -> None:
    await ask(server, REQUEST)
    (body,) = server.bodies
    assert body == {
        "model": "qwen25-7b",
        "messages": [{"role": "user", "content": "Was it pressed?"}],
        "seed": 1,
        "temperature": 0.4,
        "max_tokens": 64,
        "response_format": {
            "type": "json_schema",
            "json_schema": {"name": "mark", "schema": REQUEST.schema, "strict": True},
        },
    }


async def test_the_subset_has_a_type_beside_each_enum_and_no_bounds_of_lengths(server):
    await ask(server, REQUEST, schema_mode="json_schema_subset")
    assert server.bodies[0]["response_format"]["json_schema"]["schema"] == {
        "type": "object",
        "properties": {
            "reason": {"type": "string"},
            "mark": {"type": ["integer", "string"], "enum": [0, 1, 2, "unknown"]},
            "button": {"type": "string", "enum": ["A", "B"]},
        },
        "required": ["reason", "mark", "button"],
        "additionalProperties": False,
    }


@pytest.mark.parametrize(
    ("mode", "sent"),
    [
        ("json_object", {"response_format": {"type": "json_object"}}),
        ("guided_json", {"guided_json": REQUEST.schema}),
        ("none", {}),
    ],
)
async def test_other_servers_get_the_schema_in_their_own_form(server, mode, sent):
    await ask(server, REQUEST, schema_mode=mode)
    (body,) = server.bodies
    assert {k: v for k, v in body.items() if k in ("response_format", "guided_json")} == sent


async def test_a_chat_template_gets_its_options(server: ChatServer) -> None:
    await ask(server, REQUEST, chat_template_kwargs={"enable_thinking": False})
    assert server.bodies[0]["chat_template_kwargs"] == {"enable_thinking": False}


@pytest.mark.parametrize(
    "content",
    [
        GOOD,
        f'<think>\nIt pressed a button. {{"mark":0}}?\n</think>\n\n{GOOD}',
        f"The template opened the thoughts.\n</think>\n{GOOD}",
        f"<think>\n\n</think>\n\n{GOOD}",
    ],
    ids=["plain", "thought", "opened by the template", "thought nothing"],
)
async def test_thoughts_before_the_answer_are_cut_off(server: ChatServer, content: str) -> None:
    server.message["content"] = content
    assert (await ask(server, REQUEST)).text == GOOD


async def test_thoughts_in_a_field_of_their_own_are_not_read(server: ChatServer) -> None:
    server.message["reasoning_content"] = '{"reason":"not mine","mark":0}'
    assert (await ask(server, REQUEST)).text == GOOD


async def test_an_answer_that_a_wrong_parser_took_for_thoughts_is_named(server: ChatServer) -> None:
    server.message |= {"content": None, "reasoning_content": f"Let me see: {GOOD}?"}
    with pytest.raises(InvalidReplyError, match="--reasoning-parser"):
        await ask(server, REQUEST)


async def test_a_model_that_was_still_thinking_gave_an_answer_without_text(server):
    server.message |= {"content": None, "reasoning_content": "Let me see"}
    server.finish = "length"
    answer = await ask(server, REQUEST)
    assert (answer.text, answer.finish_reason) == ("", "length")


async def test_a_refusal_of_the_model_is_reported(server: ChatServer) -> None:
    server.message |= {"content": None, "refusal": "I do not play."}
    with pytest.raises(InvalidReplyError, match="I do not play"):
        await ask(server, REQUEST)


async def test_the_schema_of_a_request_is_left_as_it_was(server: ChatServer) -> None:
    before = json.dumps(REQUEST.schema)
    await ask(server, REQUEST, schema_mode="json_schema_subset")
    assert json.dumps(REQUEST.schema) == before
