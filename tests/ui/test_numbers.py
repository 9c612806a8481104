"""No number on the page contradicts another one, or the REST interface."""

from contextlib import suppress
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry import FRAME_SUBJECT, ScreenFrame
from rlaif.storage.file import FileStore
from rlaif.testing.figures import FIGURES, UNNAMED, contradictions, differing, impossible
from rlaif.testing.stage import Stage
from rlaif.testing.waiting import eventually

LEAST_FIGURES = 270
"""25 rows of 7 numbers, the loop, the run, the judges, the models, what the planner did."""


@pytest.fixture
async def stage(bus: Bus, episodes: FileStore) -> Stage:
    """A ring with everything that the page can show, at rest."""
    stage = Stage(bus, episodes)
    await stage.segments(34, exported=32, scored=30)
    await stage.score("segment-0033", 51_000, stored=False)
    for version in (1, 2, 3, 2):
        await stage.publish(version)
    await stage.reject()
    return stage


async def test_every_number_of_the_page_is_the_one_of_the_rest_interface(
    chromium: Any, hud_url: str, bus: Bus, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await tell(stage, bus)
    await chromium.wait_for("document.querySelectorAll('#scores tbody tr').length === 25")
    await chromium.wait_for("document.querySelector('#models .notice') !== null")
    async with httpx.AsyncClient(base_url=hud_url) as client:
        state, figures = {}, []

        async def at_rest() -> bool:  # the page is told twice a second
            nonlocal state, figures
            state = (await client.get("/api/v1/state")).json()
            figures = await chromium.evaluate(FIGURES)
            return len(figures) >= LEAST_FIGURES and not contradictions(figures, state)

        with suppress(AssertionError):
            await eventually(at_rest, "page and REST interface agree")
    assert contradictions(figures, state) == []
    assert len(figures) >= LEAST_FIGURES
    assert differing(figures) == []
    assert impossible(state) == []


async def test_every_number_of_the_page_says_which_field_it_shows(
    chromium: Any, hud_url: str, bus: Bus, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await tell(stage, bus)
    await chromium.wait_for("document.querySelectorAll('#scores tbody tr').length === 25")
    await chromium.wait_for("document.querySelector('#models .notice') !== null")
    assert await chromium.evaluate(UNNAMED) == []


async def test_a_score_without_its_object_shows_the_reason_and_no_empty_criteria(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url)
    verdict = "document.getElementById('verdict').innerText"
    await chromium.wait_for(f"{verdict}.includes('segment-0033.json')")
    assert "—" not in await chromium.evaluate(verdict)
    assert await chromium.evaluate("document.querySelectorAll('#verdict .criteria').length") == 0
    row = "document.querySelector('#scores tbody tr').innerText"
    assert "segment-0033.json" in await chromium.evaluate(row)


async def tell(stage: Stage, bus: Bus) -> None:
    """Everything that is told on plain NATS, once."""
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    for version, step in ((1, 20_000), (2, 30_000), (3, 45_000), (2, 58_500)):
        await stage.load(version, step)
    await stage.health()
    await stage.status(2, pinned=True, pin_reason="set by hand")
    await stage.progress(milestones_mean=1.25)
    await stage.rewards()
    await stage.calls(12)
    await stage.calls(1, "invalid", "vision")
    await stage.assistance()
    for steps in (43, 12):
        await stage.wish(steps=steps, ending="done" if steps == 43 else "hurt")
    frame = ScreenFrame(1, 1_800_000_000_000_000, 60_123, b"no picture")
    await bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.env-0", frame.pack())
