"""A route that is broken permanently is reported, and the pipeline continues."""

import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from typing import Any

import httpx
import pytest
from fastapi import FastAPI, Request, Response

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.readings import ServiceHealth
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.route import RouteLimits
from rlaif.testing.data.judging.segments import described_state
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

SEGMENTS = 8
AS_DELIVERED = {
    "computed": JudgeSettings().computed,
    "compare_share": 1.0,
    "canary_every": 50,
    "route_check_seconds": 5.0,
    "limits": RouteLimits(pause_seconds=0.2),
}
"""Settings of a real judge that the other tests change, so that they can count calls."""
SHORT = {"patience_refused_seconds": 1.0, "patience_outage_seconds": 1.0}


async def _named(client: httpx.AsyncClient, route: str, words: str) -> str:
    """The detail of a route in readyz, once it has these words."""
    found = ""

    async def told() -> bool:
        nonlocal found
        reply = await client.get("/readyz")
        found = reply.json()["checks"][f"route:{route}"]["detail"] or ""
        return reply.status_code == 503 and words in found

    await eventually(told, f"readyz says {words!r} of {route}")
    return found


async def _told_to_the_page(bus: Bus, route: str, words: str) -> None:
    """Wait for the reading that the page shows."""
    subscription = await bus.client.subscribe(ServiceHealth.SUBJECT)
    try:
        async with asyncio.timeout(PATIENCE_SECONDS):
            async for message in subscription.messages:
                health = ServiceHealth.model_validate_json(message.data)
                if health.service == "judge" and words in (health.checks[f"route:{route}"] or ""):
                    return
    finally:
        await subscription.unsubscribe()


async def _ready(client: httpx.AsyncClient) -> None:
    async def ready() -> bool:
        return (await client.get("/readyz")).status_code == 200

    await eventually(ready, "the judge is ready")


Start = Callable[..., Awaitable[httpx.AsyncClient]]


async def test_a_model_that_fails_on_pictures_is_named_and_holds_nothing_up(
    pipeline: Any, start_judge: Start, stand_in: Any
) -> None:
    await stand_in.fail("blind:1")
    client = await start_judge(**AS_DELIVERED, audit_share=1.0, wait=False)
    await pipeline.export(SEGMENTS)
    detail = await _named(client, "vision", "fails on every picture")
    await _told_to_the_page(pipeline.bus, "vision", detail[:40])
    assert "HTTP 500" in detail
    assert "JUDGE_VISION_MODEL (qwen25-vl-32b)" in detail
    records = await pipeline.all_scored()
    for record in records:
        assert record.weighted is not None
        assert record.criteria["novelty"].source == "computed"
        assert "novelty" not in record.audits
        assert "progress" in record.audits or record.criteria["progress"].source == "votes"
    assert (await client.get("/readyz")).json()["checks"]["route:state"]["ok"] is True


async def test_a_gateway_that_refuses_one_model_name_costs_only_its_criteria_and_is_named(
    pipeline: Any, start_judge: Start, stand_in: Any
) -> None:
    await stand_in.fail("qwen25-32b/400:1")
    client = await start_judge(**SHORT)
    await pipeline.export(SEGMENTS)
    detail = await _named(client, "puzzle", "refuses every call")
    assert "Invalid model name passed in model=qwen25-32b" in detail
    assert "JUDGE_PUZZLE_MODEL (qwen25-32b)" in detail
    await _told_to_the_page(pipeline.bus, "puzzle", "Invalid model name")
    for record in await pipeline.all_scored():
        assert record.abstentions["puzzle"] == "route_refused"
        assert {"progress", "efficiency", "novelty"} <= set(record.criteria)
        assert record.weighted is not None
    # The name is set right, or the gateway learns it: no restart.
    await stand_in.fail("")
    await _ready(client)
    await pipeline.export_states([described_state(step) for step in range(60)])
    records = await pipeline.all_scored()
    last = next(record for record in records if record.segment_id == f"seg-{SEGMENTS:02}")
    assert last.abstentions.get("puzzle") != "route_refused"


async def test_with_a_wrong_key_nothing_is_scored_and_everything_is_once_it_is_right(
    pipeline: Any, start_judge: Start, stand_in: Any
) -> None:
    await stand_in.fail("401:1")
    client = await start_judge(**SHORT)
    await pipeline.export(4)
    for route in ("state", "puzzle", "vision"):
        assert "LLM_API_KEY" in await _named(client, route, "refuses every call")
    await _lasts(3 * SHORT["patience_refused_seconds"])
    assert await pipeline.scores() == {}
    await stand_in.fail("")
    for record in await pipeline.all_scored():
        assert not any(reason.startswith("route_") for reason in record.abstentions.values())


async def _lasts(seconds: float) -> None:
    """Let a fault last."""
    await asyncio.sleep(seconds)


@pytest.mark.parametrize(
    "fault",
    ["html", "cut", "huge", "307", "418", "500", "429", "drip", "timeout"],
)  # fmt: skip
async def test_no_kind_of_failure_is_hidden_or_tried_for_ever(
    pipeline: Any, start_judge: Start, stand_in: Any, fault: str
) -> None:
    await stand_in.fail(f"puzzle/{fault}:1")
    client = await start_judge(**SHORT, wait=False, call_timeout_seconds=2.0)
    await pipeline.export(3)
    await _named(client, "puzzle", "/puzzle")
    reasons = {record.abstentions.get("puzzle") for record in await pipeline.all_scored()}
    assert reasons <= {"route_refused", "route_down"}


@asynccontextmanager
async def _choking(stand_in: Any, marker: str) -> AsyncIterator[tuple[str, list[int]]]:
    """The mock LLM behind a server that fails on one prompt; its URL, and how often it did."""
    app, deaths = FastAPI(), [0]

    @app.post("/{path:path}")
    async def forward(path: str, request: Request) -> Response:
        body = await request.body()
        if marker.encode() in body:
            deaths[0] += 1
            return Response(b"slot unavailable", status_code=500)
        async with httpx.AsyncClient() as client:
            reply = await client.post(f"{stand_in.url}/{path}", content=body, headers=HEADERS)
        return Response(reply.content, reply.status_code, media_type="application/json")

    async with serve(app) as url:
        yield url, deaths


HEADERS = {"content-type": "application/json"}


async def test_a_prompt_that_its_server_dies_of_loses_its_votes_and_nothing_else_does(
    pipeline: Any, start_judge: Start, stand_in: Any
) -> None:
    async with _choking(stand_in, r"\"steps\":41") as (url, deaths):
        client = await start_judge(
            llm_puzzle_url=f"{url}/puzzle", limits=RouteLimits(attempts=2, pause_seconds=0.2)
        )
        await pipeline.export(3)
        await pipeline.export_states([described_state(step) for step in range(41)])
        await pipeline.export(3)
        records = await pipeline.all_scored()
        assert (await client.get("/readyz")).status_code == 200
    lost = [r.segment_id for r in records if r.abstentions.get("puzzle") == "request_failed"]
    assert lost == ["seg-03"]
    # Three votes of three rounds; each of at most seven deliveries makes two tries of each vote.
    assert deaths[0] <= 42
