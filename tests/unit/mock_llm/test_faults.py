from typing import Any

import httpx
import pytest

from rlaif.mock_llm.app import create_app
from rlaif.mock_llm.faults import (
    Fault,
    FaultPlanError,
    PlannedFault,
    choose,
    parse_plan,
)
from rlaif.mock_llm.settings import MockLlmSettings

PATH = "/dialog/v1/chat/completions"


def _client(**settings: Any) -> httpx.AsyncClient:
    made = MockLlmSettings(**({"latency_seconds": 0, "jitter_seconds": 0} | settings))
    transport = httpx.ASGITransport(create_app(made))
    return httpx.AsyncClient(transport=transport, base_url="http://mock")


def test_a_plan_names_faults_with_chances_for_all_routes_or_one() -> None:
    assert parse_plan("429:0.05, vision/garbage:1,timeout") == (
        PlannedFault(Fault.THROTTLED, 0.05),
        PlannedFault(Fault.GARBAGE, 1.0, "vision"),
        PlannedFault(Fault.TIMEOUT, 1.0),
    )
    assert parse_plan("") == ()


@pytest.mark.parametrize("text", ["419:1", "429:2", "429:often", "429:nan", ":1"])
def test_an_invalid_plan_is_rejected(text: str) -> None:
    with pytest.raises(FaultPlanError):
        parse_plan(text)


def test_a_fault_strikes_its_route_with_its_chance() -> None:
    plan = parse_plan("vision/500:0.3")
    assert choose(plan, "vision", lambda: 0.29) is Fault.ERROR
    assert choose(plan, "vision", lambda: 0.31) is None
    assert choose(plan, "dialog", lambda: 0.0) is None


async def test_an_answer_has_the_shape_of_a_chat_completion(chat):
    async with _client() as client:
        body = (await client.post(PATH, json=chat())).json()
    assert body["object"] == "chat.completion"
    assert body["choices"][0]["finish_reason"] == "stop"
    usage = body["usage"]
    assert usage["total_tokens"] == usage["prompt_tokens"] + usage["completion_tokens"] > 0


@pytest.mark.parametrize("route", ["dialog", "state", "puzzle", "vision"])
async def test_every_route_answers_and_names_its_model(chat, route):
    async with _client() as client:
        assert (await client.post(f"/{route}/v1/chat/completions", json=chat())).status_code == 200
        models = (await client.get(f"/{route}/v1/models")).json()
    assert models["data"][0]["id"].startswith("qwen25-")


@pytest.mark.parametrize(("fault", "status"), [("429", 429), ("500", 500)])
async def test_an_error_has_its_status_and_a_429_the_pause(chat, fault, status):
    async with _client(fault=fault, retry_after_seconds=3) as client:
        reply = await client.post(PATH, json=chat())
    assert reply.status_code == status
    assert reply.headers.get("retry-after") == ("3" if status == 429 else None)


async def test_garbage_and_truncation_come_as_a_normal_completion(chat):
    replies = []
    for fault in ("", "garbage", "truncated"):
        async with _client(fault=fault) as client:
            replies.append((await client.post(PATH, json=chat())).json()["choices"][0])
    assert len({reply["message"]["content"] for reply in replies}) == 3
    assert [reply["finish_reason"] for reply in replies] == ["stop", "stop", "length"]


async def test_a_share_of_the_requests_fails_in_a_seeded_order(chat):
    async def statuses() -> list[int]:
        async with _client(fault="500:0.3") as client:
            return [(await client.post(PATH, json=chat())).status_code for _ in range(100)]

    first = await statuses()
    assert 15 < first.count(500) < 45
    assert first == await statuses()


async def test_faults_change_at_run_time(chat):
    async with _client() as client:
        plan = (await client.put("/faults", json={"spec": "dialog/500:1"})).json()
        assert plan == [{"fault": "500", "chance": 1.0, "route": "dialog"}]
        assert (await client.post(PATH, json=chat())).status_code == 500
        assert (await client.post(PATH.replace("dialog", "state"), json=chat())).status_code == 200
        await client.put("/faults", json={"spec": ""})
        assert (await client.post(PATH, json=chat())).status_code == 200
        assert (await client.put("/faults", json={"spec": "419:1"})).status_code == 422


async def test_what_it_cannot_answer_is_rejected_in_the_format_of_the_api(chat):
    planner = chat(messages=[{"role": "user", "content": "Where to go?"}])
    async with _client() as client:
        for body in (planner, chat(stream=True)):
            reply = await client.post(PATH, json=body)
            assert reply.status_code == 400
            assert reply.json()["error"]["type"] == "invalid_request_error"
        assert (await client.post("/other/v1/chat/completions", json=chat())).status_code == 422


async def test_completions_are_counted_by_route_and_fault(chat):
    async with _client(fault="500") as client:
        await client.post(PATH, json=chat())
        text = (await client.get("/metrics")).text
        assert (await client.get("/readyz")).status_code == 200
    assert 'rlaif_mock_llm_completions_total{fault="500",route="dialog"} 1.0' in text
