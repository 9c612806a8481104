"""The pages of the language models and of the system, with what is behind them."""

import json
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.bus.dead_letters import dead_letter
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.judge.app import create_app as create_judge
from rlaif.judge.settings import JudgeSettings
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import segment_captured
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import FIGURES, contradictions, documents_of
from rlaif.testing.page.stage import Stage
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually


@pytest.fixture
async def stage(bus: Bus, episodes: FileStore) -> Stage:
    stage = Stage(bus, episodes)
    await stage.segments(6, exported=5, scored=4)
    return stage


async def agree(chromium: Any, url: str) -> list[str]:
    """Numbers of the page that are not those of the REST interface, once it is at rest."""
    wrong: list[str] = []

    async def at_rest() -> bool:
        nonlocal wrong
        figures = await chromium.evaluate(FIGURES)
        async with httpx.AsyncClient(base_url=url) as client:
            state = (await client.get("/api/v1/state")).json()
            bodies = {path: (await client.get(path)).json() for path in documents_of(figures)}
        wrong = contradictions(figures, state, documents=bodies)
        return not wrong

    try:
        await eventually(at_rest, "page and REST interface agree")
    except AssertionError:
        return wrong
    return []


async def test_the_page_of_the_language_models_says_who_answers_what_was_said_and_what_to_do(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(f"{hud_url}/llm")
    await stage.health("judge", status="not ready", **{"route:state": "connection refused"})
    await chromium.wait_for(
        "document.querySelector('#llm-routes [data-tone=bad]')?.innerText"
        ".includes('The route of state is down: connection refused')"
    )
    await stage.health("judge")
    await chromium.wait_for("document.querySelector('#llm-routes [data-tone=bad]') === null")
    await stage.calls(12)
    await stage.calls(1, "timeout", "vision")
    await stage.progress()
    await stage.assistance()
    await stage.wish(steps=43, ending="done")
    await chromium.wait_for("document.querySelectorAll('#llm-routes tbody tr').length === 6")
    await chromium.wait_for("document.querySelector('#llm-calls .remedy') !== null")
    assert "JUDGE_CALL_TIMEOUT_SECONDS" in await text(chromium, "#llm-calls")
    assert "judge at http" in await text(chromium, "#llm-labels"), (
        "who cannot be reached, and where"
    )
    await chromium.wait_for(
        "document.querySelector('#llm-calls').innerText.includes('✓ followed: done')"
    )
    await shoot("llm")
    assert await agree(chromium, hud_url) == []
    await chromium.evaluate(
        "document.getElementById('llm-choice').value = 'failed=true';"
        "document.getElementById('llm-choice').dispatchEvent(new Event('change'))"
    )
    await chromium.wait_for("document.querySelectorAll('#llm-calls li').length === 1")
    assert await chromium.evaluate("location.search") == "?failed=true"


async def test_the_page_of_the_system_shows_queues_and_redrives_a_dead_letter(
    chromium: Any, hud_url: str, bus: Bus, stage: Stage, shoot: Shoot
) -> None:
    await stage.health()
    original = {
        "specversion": "1.0",
        "id": "captured:segment-9",
        "type": "rlaif.segment.captured.v1",
        "source": "rlaif/trainer",
        "data": segment_captured().model_dump(mode="json"),
    }
    await bus.publisher("exporter").publish(
        dead_letter(
            json.dumps(original).encode(),
            stream="CAPTURES", sequence=9, subject="segment.captured", consumer="exporter",
            attempts=2, reason="corrupt_capture", detail="The capture is cut off.",
            dead_at=datetime.now(UTC),
        )
    )  # fmt: skip
    await chromium.open(f"{hud_url}/system")
    await chromium.wait_for("document.querySelectorAll('#queues tbody tr').length > 3")
    await chromium.wait_for("document.querySelectorAll('#letters li').length === 1")
    await chromium.wait_for("document.querySelectorAll('#checks > ul > li').length === 5")
    await shoot("system")
    assert await agree(chromium, hud_url) == []
    assert (await bus.dead_letters())[0].data.event_id == "captured:segment-9"
    await chromium.evaluate("document.querySelector('#letters button').click()")
    await chromium.wait_for("document.getElementById('letters').innerText.includes('#again-')")
    await chromium.wait_for("document.querySelectorAll('#letters li').length === 0")
    await chromium.wait_for(
        "document.getElementById('letters').innerText.includes('No dead letters')"
    )
    assert await bus.dead_letters() == []


async def text(chromium: Any, selector: str) -> str:
    found: str = await chromium.evaluate(f"document.querySelector({selector!r}).innerText")
    return found


async def test_tokens_of_a_route_are_those_that_the_judge_service_counts(
    chromium: Any, nats_url: str, bus: Bus, stage: Stage, tmp_path: Path
) -> None:
    shared = {"nats_url": nats_url, "episodes_store": f"file://{tmp_path / 'episodes'}"}
    judge = {"models_store": f"file://{tmp_path / 'models'}", "llm_base_url": "http://127.0.0.1:9"}
    async with serve(create_judge(JudgeSettings.model_validate(shared | judge))) as judge_url:
        settings = HudSettings.model_validate(shared | {"judge_url": judge_url})
        async with serve(create_app(settings)) as url:
            await chromium.open(f"{url}/llm")
            await stage.calls(3)
            tokens = "document.querySelector('[data-figure*=\"statistics.prompt_tokens\"]')"
            await chromium.wait_for(f"{tokens}?.textContent === '0'")
