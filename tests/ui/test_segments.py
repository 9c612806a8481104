"""The list of segments and the page of one, in a real browser; the segments were really played."""

import asyncio
import os
from dataclasses import replace
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.data.played_segments import RingEvents, segments_of_a_ring
from rlaif.testing.page.figures import FIGURES, UNNAMED, contradictions, differing, shows

FILM = """(() => {
    const canvas = document.querySelector('#film canvas');
    const data = canvas.getContext('2d').getImageData(0, 0, 160, 144).data;
    return data.reduce((sum, value, index) => (sum * 31 + value * (index % 977)) % 1e9, 7);
})()"""
FAST = """(() => {
    const speed = document.querySelector('#film select');
    speed.value = '8';
    speed.dispatchEvent(new Event('change'));
})()"""
ROWS = "[...document.querySelectorAll('[data-segment]')].map(row => row.dataset.segment)"
NOT_WIDER = "document.documentElement.scrollWidth <= document.documentElement.clientWidth"
MIN_FIGURES = 30


@pytest.fixture
async def played(episodes: FileStore) -> list[RingEvents]:
    """Played, exported and judged segments whose events are not published yet."""
    return await asyncio.to_thread(lambda: list(segments_of_a_ring(episodes, 12)))


@pytest.fixture
async def ring(bus: Bus, played: list[RingEvents]) -> list[RingEvents]:
    """The same, published."""
    await publish(bus, played)
    return played


@pytest.fixture
async def ring_over_steps(bus: Bus, played: list[RingEvents]) -> list[RingEvents]:
    """The same, captured one after the other in the course of the run."""
    apart = [
        replace(each, captured=each.captured.model_copy(update={"env_step": 40_960 + 1500 * n}))
        for n, each in enumerate(played)
    ]
    await publish(bus, apart)
    return apart


async def publish(bus: Bus, events: list[RingEvents]) -> None:
    for each in events:
        await bus.publisher("trainer").publish(each.captured)
        await bus.publisher("exporter").publish(each.exported)
        await bus.publisher("judge").publish(each.scored)


async def look(chromium: Any, name: str) -> None:
    """Save a screenshot if requested."""
    if folder := os.environ.get("SCREENSHOTS"):
        await asyncio.to_thread(os.makedirs, folder, exist_ok=True)
        await chromium.screenshot(Path(folder) / f"{name}.png")


def there(selector: str, count: int = 1) -> str:
    return f"document.querySelectorAll({selector!r}).length === {count}"


def says(selector: str, text: str) -> str:
    return f"document.querySelector({selector!r})?.innerText.includes({text!r})"


async def drawn(chromium: Any) -> None:
    """The segment's page has all its parts."""
    await chromium.wait_for("document.querySelector('#film input[type=range]')?.disabled === false")
    await chromium.wait_for(there("#pay-of .time-chart", 2))
    await chromium.wait_for(there(".judge", 2))


async def test_from_the_list_to_the_film_and_along_its_steps(
    chromium: Any, hud_url: str, ring: list[RingEvents]
) -> None:
    await chromium.open(f"{hud_url}/segments")
    await chromium.wait_for(there("[data-segment]", len(ring)))
    await look(chromium, "segments-list")
    await chromium.evaluate("document.getElementById('order-lowest_score').click()")
    await chromium.wait_for("location.search === '?order=lowest_score'")
    await chromium.wait_for(there("#order-lowest_score[aria-pressed=true]"))
    async with httpx.AsyncClient(base_url=f"{hud_url}/api/v1") as rest:
        worst = (await rest.get("/segments", params={"order": "lowest_score"})).json()["items"]
        facets = (await rest.get("/segments/facets")).json()
        assert await chromium.evaluate(ROWS) == [row["segment_id"] for row in worst]
        figures = await chromium.evaluate(FIGURES)
        assert contradictions(figures, {"segment-list": worst, "facets": facets}) == []
        assert await chromium.evaluate(UNNAMED) == [], "numbers that name no field"

        await chromium.evaluate("document.querySelector('table.segments a.open').click()")
        name = f"{worst[0]['episode_id']}/{worst[0]['segment_id']}"
        await chromium.wait_for(f"location.pathname === '/segments/{name}'")
        await drawn(chromium)
        detail = (await rest.get(f"/segments/{name}")).json()
        told = (await rest.get(f"/segments/{name}/steps")).json()

    figures = await chromium.evaluate(FIGURES)
    assert len(figures) >= MIN_FIGURES
    assert contradictions(figures, {"segment": detail, "steps": told}) == []
    assert differing(figures) == []
    assert sum(line["part"] or 0 for line in detail["rubric"]) == pytest.approx(detail["weighted"])

    # Cursor, words and address go along with the film.
    first = await chromium.evaluate(FILM)
    for _ in range(30):
        await chromium.press("ArrowRight", "")
    await chromium.wait_for(says(".moment", "Step 30 / 74"))
    assert await chromium.evaluate(FILM) != first
    await chromium.wait_for("location.search === '?step=30'")
    await chromium.wait_for(says("#pay-of .at", f"Step 30, {told['steps'][30]['action']}:"))
    await look(chromium, "segment")

    # It is played in the page: nothing more is asked for.
    asked = len(chromium.requested)
    await chromium.evaluate(FAST)
    await chromium.press(" ", " ")
    await chromium.wait_for(says(".moment", "Step 74 / 74"))
    assert len(chromium.requested) == asked

    # Along the list that the reader came from.
    await chromium.press("j", "j")
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[1]['segment_id']}')")
    await chromium.press("k", "k")
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[0]['segment_id']}')")
    # However fast: pressed before the next segment's page is there, too.
    await drawn(chromium)
    await chromium.evaluate(PRESSED_AT_ONCE)
    await chromium.wait_for(f"location.pathname.endsWith('/{worst[2]['segment_id']}')")
    assert chromium.errors == []


PRESSED_AT_ONCE = """for (const key of "jjjk")
    document.body.dispatchEvent(new KeyboardEvent("keydown", { key, bubbles: true }))"""


SCORES = "document.querySelector('#chart-scores .plot')"
DOT = """(index => {
    const dots = [...document.querySelectorAll('#chart-scores .plot svg .dots')].at(-1);
    const [, x, y] = [...dots.getAttribute('d').matchAll(/M([^,]+),([^h]+)h0/g)][index];
    const { a, d, e, f } = dots.getScreenCTM();
    return [a * x + e, d * y + f];
})"""
"""JavaScript: where in the window the dot of a chart's point is."""


async def points_are_drawn(chromium: Any, count: int) -> None:
    dots = f"{SCORES}?.querySelector('svg .dots')?.getAttribute('d').split('M').length"
    await chromium.wait_for(f"{dots} === {count + 1}")
    await chromium.evaluate(f"{SCORES}.scrollIntoView({{ block: 'center' }})")


async def click(chromium: Any, at: tuple[float, float]) -> None:
    """As a mouse does."""
    for kind in ("mouseMoved", "mousePressed", "mouseReleased"):
        await chromium.command(
            "Input.dispatchMouseEvent", type=kind, x=at[0], y=at[1], button="left", clickCount=1
        )


async def test_a_click_or_enter_on_a_score_shows_that_very_segment(
    chromium: Any, hud_url: str, ring_over_steps: list[RingEvents]
) -> None:
    count = len(ring_over_steps)
    async with httpx.AsyncClient(base_url=f"{hud_url}/api/v1") as rest:
        await chromium.open(hud_url)
        await points_are_drawn(chromium, count)
        points = (await rest.get("/score-points")).json()["points"]
        assert [each["segment_id"] for each in points] == [
            each.captured.segment_id for each in ring_over_steps
        ]
        for index, by in ((4, "click"), (count - 3, "Enter")):
            point = points[index]
            name = f"{point['episode_id']}/{point['segment_id']}"
            if by == "click":
                await click(chromium, await chromium.evaluate(f"{DOT}({index})"))
            else:
                await chromium.evaluate(f"{SCORES}.focus()")
                for key in ("End", "ArrowLeft", "ArrowLeft", "Enter"):
                    await chromium.press(key, "")
            await chromium.wait_for(f"location.pathname === '/segments/{name}'")
            await drawn(chromium)
            shown = "document.querySelector('.segment-name code').title"
            assert await chromium.evaluate(shown) == point["segment_id"]
            asked = [url for url in chromium.requested if url.endswith("/pack")]
            assert asked[-1].endswith(f"/segments/{name}/pack"), "the film of another one"

            detail = (await rest.get(f"/segments/{name}")).json()
            told = (await rest.get(f"/segments/{name}/steps")).json()
            figures = await chromium.evaluate(FIGURES)
            assert len(figures) >= MIN_FIGURES
            assert contradictions(figures, {"segment": detail, "steps": told}) == []
            scores = [text for field, text in figures if field == "segment.weighted"]
            assert scores
            assert all(shows(text, point["weighted"]) for text in scores)
            await chromium.evaluate("history.back()")
            await points_are_drawn(chromium, count)
    assert chromium.errors == []


async def test_an_address_shows_its_moment_at_once_and_a_phone_has_room_for_it(
    chromium: Any, hud_url: str, ring: list[RingEvents]
) -> None:
    told = ring[0].captured
    address = f"{hud_url}/segments/{told.episode_id}/{told.segment_id}?step=39"
    await chromium.open(address, width=390, height=844)
    await drawn(chromium)
    await chromium.wait_for(says(".moment", "Step 39 / 74"))
    assert await chromium.evaluate(NOT_WIDER)
    await look(chromium, "segment-phone")
    await chromium.evaluate("document.querySelector('#nav a[href=\"/segments\"]').click()")
    await chromium.wait_for(there("[data-segment]", len(ring)))
    assert await chromium.evaluate(NOT_WIDER)
    await look(chromium, "segments-list-phone")
    assert chromium.errors == []


async def test_a_missing_segment_is_reported(chromium: Any, hud_url: str) -> None:
    await chromium.open(f"{hud_url}/segments/ep-1/s-1")
    await chromium.wait_for(says("#worth-of", "No such segment"))
    await chromium.wait_for(says("#film .overlay", "No video"))
    await look(chromium, "segment-missing")
