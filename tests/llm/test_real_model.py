"""Judges, planner and page with a small language model behind llama.cpp, set up as README says.

Only the wire is tested: addresses, model names, forms of requests and answers. SmolLM2-135M rates
nothing rightly, and sees no pictures. `make test-llm` installs both; a run takes many minutes.
"""

import asyncio
import os
import subprocess
from collections.abc import AsyncIterator, Iterator
from contextlib import AsyncExitStack
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.contracts.planning.briefing import Briefing
from rlaif.hud.app import create_app as create_hud
from rlaif.hud.settings import HudSettings
from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.llm.route import Route
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import described_state, write_segment
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.planning.planner import call, http_models, make_limiters, route_limits
from rlaif.trainer.play.planner_port import PlannerQuestion
from rlaif.trainer.settings.planner import PlannerSettings

PYTHON = os.environ.get("LLM_PYTHON")
CALL_SECONDS = 1500.0
"""A prompt of 3,000 tokens takes minutes where two cores are busy."""

pytestmark = [
    pytest.mark.skipif(
        PYTHON is None, reason="the language model is not installed: make test-llm installs it"
    ),
    pytest.mark.timeout(3 * CALL_SECONDS),
]


@pytest.fixture(scope="module")
def model_url() -> Iterator[str]:
    """The base URL of llama.cpp's server, as for `--llm-base-url`."""
    script = Path(__file__).parent / "serve_llm.py"
    with subprocess.Popen(
        [str(PYTHON), str(script)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        text=True,
    ) as server:
        assert server.stdout is not None
        yield f"{server.stdout.readline().strip()}/v1"
        server.terminate()


@pytest.fixture
async def ring(
    model_url: str, bus: Bus, nats_url: str, episodes_store: ObjectStore, models_store: ObjectStore
) -> AsyncIterator[tuple[httpx.AsyncClient, httpx.AsyncClient]]:
    """The judge and the page that shows it."""
    judge = JudgeSettings.model_validate(
        {
            "nats_url": nats_url,
            "llm_base_url": model_url,
            "call_timeout_seconds": CALL_SECONDS,
            "patience_outage_seconds": 2 * CALL_SECONDS,
            # As few calls as can be: one vote of each judge, and nothing beside it.
            "votes": 1,
            "canary_every": 0,
            "compare_share": 0.0,
            "audit_share": 0.0,
        }
    )
    async with AsyncExitStack() as stack:
        hud = await stack.enter_async_context(
            serve(create_hud(HudSettings(nats_url=nats_url), store=episodes_store))
        )
        app = create_judge(judge, store=episodes_store, models=models_store)
        urls = [await stack.enter_async_context(serve(app)), hud]
        # Long, and no connection is kept: the machine may be busy with the model.
        options: dict[str, Any] = {"trust_env": False, "timeout": 60.0}
        options["limits"] = httpx.Limits(max_keepalive_connections=0)
        clients = [httpx.AsyncClient(base_url=url, **options) for url in urls]
        yield clients[0], clients[1]
        await asyncio.gather(*(client.aclose() for client in clients))


async def _health(judge: httpx.AsyncClient) -> dict[str, dict[str, Any]]:
    judges = (await judge.get("/api/v1/judges")).json()["judges"]
    return {each["name"]: each["health"] for each in judges}


async def test_judges_find_the_only_model_and_the_page_shows_what_it_cannot_do(
    bus: Bus, episodes_store: ObjectStore, ring: tuple[httpx.AsyncClient, httpx.AsyncClient]
) -> None:
    judge, page = ring
    states = [described_state(step) for step in range(75)]
    event = await asyncio.to_thread(write_segment, episodes_store, "seg-0", states=states)
    await bus.publisher("exporter").publish(event)

    async def text_answered() -> bool:
        health = await _health(judge)
        for name in ("state", "puzzle"):
            # Whatever the model says: it was reached, and took the request.
            assert "refuses" not in (health[name]["trouble"] or "")
            assert "is the server up" not in (health[name]["trouble"] or "")
        return all(
            health[name]["answered"] or "cannot be read" in (health[name]["trouble"] or "")
            for name in ("state", "puzzle")
        )

    await eventually(text_answered, "both text judges have an answer", seconds=CALL_SECONDS)

    async def picture_refused() -> bool:
        return "every picture" in ((await _health(judge))["vision"]["trouble"] or "")

    await eventually(picture_refused, "the picture route has an issue", seconds=CALL_SECONDS)

    async def shown() -> bool:
        return "JUDGE_VISION_MODEL" in (await page.get("/api/v1/state")).text

    await eventually(shown, "the page says what the picture judge lacks")

    def scores() -> list[ScoreRecord]:
        data = [episodes_store.get(info.key) for info in list(episodes_store.list(keys.scores()))]
        return [ScoreRecord.model_validate_json(each) for each in data]

    async def settled() -> bool:
        health = await _health(judge)
        issue = any(health[name]["trouble"] for name in ("state", "puzzle"))
        return issue or bool(await asyncio.to_thread(scores))

    await eventually(settled, "scored, or a route has an issue", seconds=CALL_SECONDS)
    for record in await asyncio.to_thread(scores):
        assert not {"route_refused", "route_down"} & set(record.abstentions.values())


async def test_the_planner_finds_it_too(model_url: str) -> None:
    settings = PlannerSettings(
        base_url=model_url, text_seconds=CALL_SECONDS, plan_seconds=CALL_SECONDS, max_tokens=128
    )
    evidence = Briefing(game="seedling-vale", room="0/119", at=(4, 5))
    limiter = make_limiters(settings)["dialog"]
    assert limiter.enter(0.0) is None
    async with http_models(settings) as models:
        route = Route("dialog", models["dialog"], route_limits(settings), limiter=limiter)
        question = PlannerQuestion(0, "dialog", "suggestion", "s", evidence)
        end = await call(route, question, settings, seed=0)
    assert end.outcome in ("ok", "invalid"), end.detail
    assert end.tokens_written > 0
