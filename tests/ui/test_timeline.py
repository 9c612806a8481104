"""The timeline in a browser: one axis, one cursor, sums that hold, points that open segments."""

from contextlib import suppress
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import run_iterated
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import APART, FIGURES, contradictions, shows
from rlaif.testing.page.stage import Stage
from rlaif.testing.waiting import eventually

LOADS = ((1, 20_000), (2, 30_000), (3, 45_000), (2, 58_500))
PARTS = {"room": 1.5, "square": 0.25, "damage": -0.5, "shaping": 0.125}


@pytest.fixture
async def stage(bus: Bus, episodes: FileStore) -> Stage:
    """A run with a past, loads and scored segments; of its last iteration not all is explained."""
    stage = Stage(bus, episodes)
    await stage.past(60_000, *LOADS)
    last = run_iterated(60_000, 60_500, gained=[3], paid=PARTS, learned_from=2.0)
    await bus.publisher("trainer").publish(last)
    await stage.segments(34, exported=32, scored=30)
    stage.curve = [(60_500, 0.9)]
    return stage


def plot(chart: str) -> str:
    return f"document.querySelector('#chart-{chart} .plot')"


SCORES = plot("scores")
KEY = """(key) => {
    const plot = document.activeElement;
    plot.dispatchEvent(new KeyboardEvent('keydown', { key, bubbles: true, cancelable: true }));
}"""


async def open_timeline(chromium: Any, url: str, stage: Stage) -> None:
    await chromium.open(url)
    await stage.progress()
    await chromium.wait_for(f"{SCORES}.querySelector('.dots') !== null")
    await chromium.wait_for(f"{plot('pay')}.querySelectorAll('.part').length === 6")


async def test_charts_share_axis_and_cursor_and_a_point_opens_its_segment(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await open_timeline(chromium, hud_url, stage)
    async with httpx.AsyncClient(base_url=hud_url) as client:
        reported = (await client.get("/api/v1/score-points")).json()["points"]
    wanted = reported[len(reported) - 3]
    address = f"/segments/{wanted['episode_id']}/{wanted['segment_id']}"

    await chromium.evaluate(f"{SCORES}.focus()")
    for key in ("End", "ArrowLeft", "ArrowLeft"):
        await chromium.evaluate(f"({KEY})({key!r})")
    await chromium.wait_for(f"{SCORES}.getAttribute('aria-valuenow') === '{wanted['env_step']}'")
    said = await chromium.evaluate(f"{SCORES}.getAttribute('aria-valuetext')")
    assert f"step {wanted['env_step']:,}" in said
    assert shows(said.partition("segment ")[2][:4], wanted["weighted"]), said
    cursors = "[...document.querySelectorAll('#timeline .charts > :not(.wide) .cursor')]"
    await chromium.wait_for(f"{cursors}.length === 10")
    shared = f"new Set({cursors}.map(line => Math.round(line.getAttribute('x1')))).size"
    assert await chromium.evaluate(shared) == 1
    marks = f"[...{SCORES}.querySelectorAll('.mark')].map(mark => mark.dataset.load).join()"
    assert await chromium.evaluate(marks) == ",".join(f"v{v} {s}" for v, s in LOADS)

    await chromium.evaluate(f"({KEY})('+')")
    await chromium.wait_for("location.search.includes('from=')")
    zoomed = await chromium.evaluate(f"{plot('returns')}.getAttribute('aria-valuemin')")
    assert int(zoomed) > 10_000
    await chromium.evaluate(f"({KEY})('Enter')")
    await chromium.wait_for(f"location.pathname === {address!r}")
    await chromium.wait_for("document.documentElement.dataset.page === 'segment'")

    await chromium.evaluate("history.back()")
    await chromium.wait_for(f"{SCORES} && {SCORES}.querySelector('.dots') !== null")
    await chromium.wait_for(f"{plot('returns')}.getAttribute('aria-valuemin') === '{zoomed}'")


async def test_stacks_sum_to_what_was_paid_and_show_what_they_do_not_explain(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await open_timeline(chromium, hud_url, stage)
    await stage.paid_steps(300, unexplained=0.5)
    state: dict[str, Any] = {}
    figures: list[Any] = []
    async with httpx.AsyncClient(base_url=hud_url) as client:
        for tab, panel, begins, least in (
            ("training", "timeline", ("hist", "score_"), 13),
            ("rewards", "steps", ("paid_",), 3),
        ):
            await chromium.tab(tab)
            await chromium.evaluate(f"document.getElementById('{panel}').scrollIntoView()")

            async def at_rest(begins: tuple[str, ...] = begins, least: int = least) -> bool:
                nonlocal state, figures
                state = (await client.get("/api/v1/state")).json()
                for name, path in APART.items():
                    state[name] = (await client.get(path)).json()
                shown = await chromium.evaluate(FIGURES)
                figures = [each for each in shown if each[0].startswith(begins)]
                return len(figures) >= least and not contradictions(figures, state)

            with suppress(AssertionError):
                await eventually(at_rest, "charts and REST interface agree")
            assert contradictions(figures, state) == []
            assert len(figures) >= least
            names = f"document.querySelector('#{panel}').innerText"
            assert "unexplained" in await chromium.evaluate(names)
    await chromium.wait_for("document.querySelectorAll('#steps .part').length === 5")

    steps = state["paid_steps"]["steps"]
    assert len(steps) == 300
    off = [step["reward"] - sum(step["parts"].values()) for step in steps]
    assert max(map(abs, off[:-1])) < 1e-6
    assert off[-1] == pytest.approx(0.5)
    await shoot("timeline")
    assert await chromium.evaluate("document.documentElement.scrollWidth") <= 1440
    assert [error for error in chromium.errors if "404" not in error] == []
