from collections.abc import AsyncIterator
from typing import Any

import httpx
import pytest

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.judge.api import build_router
from rlaif.judge.metrics import JudgeMetrics
from rlaif.judge.parts import JudgeParts, build_parts
from rlaif.judge.settings import JudgeSettings
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.testing.servers.client import client_of

SETTINGS = JudgeSettings(llm_base_url="http://127.0.0.1:1", llm_state_url="http://gpu:8000/v1")


@pytest.fixture
async def bench() -> AsyncIterator[JudgeParts]:
    built = build_parts(SETTINGS, lambda judges: JudgeMetrics(ServiceMetrics("judge"), judges))
    yield built
    await built.close()


def _client(bench: JudgeParts, store: ObjectStore | None) -> httpx.AsyncClient:
    return client_of(build_router(bench, lambda: store), prefix="/api/v1")


@pytest.fixture
async def client(bench: JudgeParts, store: ObjectStore) -> AsyncIterator[httpx.AsyncClient]:
    async with _client(bench, store) as made:
        yield made


def _put_score(store: ObjectStore, config: str, segment_id: str) -> None:
    record = score_record(
        segment_id=segment_id,
        judge_config=config,
        criteria={},
        abstentions=dict.fromkeys(RUBRIC_WEIGHTS, "insufficient_evidence"),
        weighted=None,
        calls=(judge_call(),),
    )
    store.put(keys.score(config, segment_id), record.model_dump_json().encode())


async def test_judges_tell_models_routes_weights_votes_and_health(
    client: httpx.AsyncClient, bench: JudgeParts
) -> None:
    body = (await client.get("/judges")).json()
    assert body["judge_config"] == bench.rules.judge_config
    assert body["votes"] == 3
    assert body["weights"] == RUBRIC_WEIGHTS
    assert [(judge["name"], judge["model"], judge["route"]) for judge in body["judges"]] == [
        ("state", "qwen25-7b", "/state"),
        ("puzzle", "qwen25-32b", "/puzzle"),
        ("vision", "qwen25-vl-32b", "/vision"),
    ]
    assert body["judges"][0]["health"] == {
        "calls": 0,
        "failures": 0,
        "retries": 0,
        "last_error": None,
        "trouble": None,
        "answered": False,
        "p50_seconds": None,
        "deadline_seconds": 90.0,
    }
    figures = body["judges"][0]["statistics"]
    assert (figures["parse_fail_rate"], figures["abstain_rate"]) == (None, None)


async def test_scores_are_paged_and_leave_their_calls_out(
    client: httpx.AsyncClient, bench: JudgeParts, store: ObjectStore
) -> None:
    for at in range(3):
        _put_score(store, bench.rules.judge_config, f"seg-{at}")
    _put_score(store, "jother", "seg-9")
    seen: list[str] = []
    cursor: dict[str, Any] = {}
    while True:
        body = (await client.get("/scores", params={"limit": 2} | cursor)).json()
        seen += [item["segment_id"] for item in body["items"]]
        assert all("calls" not in item for item in body["items"])
        if body["next_cursor"] is None:
            break
        cursor = {"cursor": body["next_cursor"]}
    assert seen == ["seg-0", "seg-1", "seg-2"]


async def test_a_damaged_score_is_left_out_of_the_list_and_counted(
    client: httpx.AsyncClient, bench: JudgeParts, store: ObjectStore
) -> None:
    _put_score(store, bench.rules.judge_config, "seg-1")
    store.put(keys.score(bench.rules.judge_config, "seg-0"), b"{}")
    store.put(keys.comparison(bench.rules.judge_config, "a", "b"), b"\xff")
    body = (await client.get("/scores")).json()
    assert ([each["segment_id"] for each in body["items"]], body["damaged"]) == (["seg-1"], 1)
    body = (await client.get("/comparisons")).json()
    assert (body["items"], body["damaged"]) == ([], 1)


@pytest.mark.parametrize(
    ("path", "status"),
    [
        ("/scores/seg-1", 404),
        ("/scores/..%2Fx", 404),
        ("/scores/A*", 422),
        ("/scores?limit=0", 422),
    ],
)
async def test_what_is_not_there_or_not_allowed_is_a_problem(
    client: httpx.AsyncClient, path: str, status: int
) -> None:
    reply = await client.get(path)
    assert reply.status_code == status
    assert reply.headers["content-type"] == "application/problem+json"


async def test_before_the_store_is_reached_scores_report_it(bench: JudgeParts) -> None:
    async with _client(bench, None) as client:
        reply = await client.get("/scores")
        assert reply.status_code == 503
        assert "readyz" in reply.json()["detail"]
        assert (await client.get("/judges")).status_code == 200


async def test_the_frozen_prompt_of_a_judge_can_be_read(client: httpx.AsyncClient) -> None:
    body = (await client.get("/judges/puzzle")).json()
    assert "towards opening the way" in body["system"]
    assert list(body["answer_schema"]["properties"]) == ["rationale", "puzzle"]
    assert (await client.get("/judges/nobody")).status_code == 404


async def test_the_prompt_of_a_game_has_its_guide_and_asks_for_its_quest(
    client: httpx.AsyncClient,
) -> None:
    (game, *_) = (await client.get("/judges")).json()["guided_games"]
    plain, briefed = [
        (await client.get("/judges/state", params=params)).json() for params in ({}, {"game": game})
    ]
    assert "objective_start" not in plain["answer_schema"]["properties"]
    assert "objective_start" in briefed["answer_schema"]["properties"]
    assert "## Objectives" in briefed["system"]
    unknown = await client.get("/judges/state", params={"game": f"{game}-2"})
    assert (unknown.status_code, unknown.json()["type"]) == (404, "/problems/guide-not-found")


async def test_a_judge_is_reported_with_the_model_that_answers(
    client: httpx.AsyncClient, bench: JudgeParts
) -> None:
    async def model_of_the_state_judge() -> str:
        judges = (await client.get("/judges")).json()["judges"]
        return str(next(each["model"] for each in judges if each["name"] == "state"))

    assert await model_of_the_state_judge() == "qwen25-7b"
    bench.metrics.called(judge_call(judge="state", model="SmolLM2", answer="{}"))
    bench.metrics.called(judge_call(judge="state", model="qwen25-7b", outcome="error"))
    assert await model_of_the_state_judge() == "SmolLM2"
