"""No number on the page contradicts another one, or the REST interface."""

from contextlib import suppress
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.storage.file import FileStore
from rlaif.testing.page.figures import (
    APART,
    FIGURES,
    UNNAMED,
    contradictions,
    differing,
    documents_of,
    impossible,
)
from rlaif.testing.page.stage import Stage
from rlaif.testing.waiting import eventually

MIN_FIGURES = {"/": 160, "/?tab=rewards": 20, "/?tab=pipeline": 10, "/models": 33, "/llm": 30}
MIN_FIGURES["/system"] = 2
"""By address: the run, the verdict, the search and its curriculum; loads; the pipeline; the models;
what the planner did, and the judges; dead letters. Of segments: test_segments.py."""

SHOWN = {
    "/": "['#course .cell', '#chart-pay .part'].every(each => document.querySelector(each))",
    "/?tab=rewards": "document.querySelector('.loads-table') !== null",
    "/?tab=pipeline": "document.querySelector('#loop [data-figure]') !== null",
    "/models": "document.querySelector('#models .notice') !== null",
    "/llm": "document.querySelectorAll('#llm-routes tbody tr').length === 6",
    "/system": "document.querySelector('#letters [data-figure], #letters .empty') !== null",
}
"""By address: a selector that exists once everything is drawn."""

LOADS = ((1, 20_000), (2, 30_000), (3, 45_000), (2, 58_500))
"""Of the run: version and step."""


@pytest.fixture
async def stage(bus: Bus, episodes: FileStore) -> Stage:
    """A ring with everything that the page can show, at rest."""
    stage = Stage(bus, episodes)
    await stage.segments(34, exported=32, scored=30)
    await stage.score("segment-0033", 51_000, stored=False)
    for version in (1, 2, 3, 2):
        await stage.publish(version)
    await stage.reject()
    await stage.past(60_000, *LOADS)
    return stage


async def test_every_number_of_every_page_is_the_one_of_the_rest_interface(
    chromium: Any, hud_url: str, bus: Bus, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await tell(stage, bus)
    async with httpx.AsyncClient(base_url=hud_url) as client:
        for page, minimum in MIN_FIGURES.items():
            path, _, tab = page.partition("?tab=")
            await chromium.visit(path)
            if tab:
                await chromium.tab(tab)
            await chromium.wait_for(SHOWN[page])
            state, documents, figures = await at_rest(chromium, client, minimum)
            assert contradictions(figures, state, documents=documents) == []
            assert len(figures) >= minimum, page
            assert differing(figures) == []
            assert impossible(state) == []
            assert await chromium.evaluate(UNNAMED) == [], "numbers that name no field"


async def at_rest(
    chromium: Any, client: httpx.AsyncClient, minimum: int
) -> tuple[Any, dict[str, Any], Any]:
    """State, other documents and figures when they agree, or as they are.

    The page is updated twice per second.
    """
    state: Any = {}
    documents: dict[str, Any] = {}
    figures: Any = []

    async def agree() -> bool:
        nonlocal state, documents, figures
        state = (await client.get("/api/v1/state")).json()
        for name, path in APART.items():
            state[name] = (await client.get(path)).json()
        figures = await chromium.evaluate(FIGURES)
        documents = {path: (await client.get(path)).json() for path in documents_of(figures)}
        return len(figures) >= minimum and not contradictions(figures, state, documents=documents)

    with suppress(AssertionError):
        await eventually(agree, "page and REST interface agree")
    return state, documents, figures


async def test_a_score_without_its_object_shows_the_reason_and_no_empty_criteria(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url)
    verdict = "document.getElementById('verdict').innerText"
    await chromium.wait_for(f"{verdict}.includes('segment-0033.json')")
    assert "—" not in await chromium.evaluate(verdict)
    assert await chromium.evaluate("document.querySelectorAll('#verdict .criteria').length") == 0
    await chromium.visit("/segments")
    row = "document.querySelector('[data-segment=segment-0033]')"
    await chromium.wait_for(f"{row}?.innerText.includes('segment-0033.json')")


async def tell(stage: Stage, bus: Bus) -> None:
    """Every telemetry message, once."""
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    for version, step in LOADS:
        await stage.load(version, step)
    await stage.health()
    await stage.status(2, pinned=True, pin_reason="set by hand")
    await stage.progress(milestones_mean=1.25)
    await stage.rewards()
    await stage.calls(12)
    await stage.calls(1, "invalid", "vision")
    await stage.assistance()
    await stage.search()
    await stage.curriculum()
    for steps in (43, 12):
        await stage.wish(steps=steps, ending="done" if steps == 43 else "hurt")
    frame = ScreenFrame(1, 1_800_000_000_000_000, 60_123, b"no picture")
    await bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.env-0", frame.pack())
