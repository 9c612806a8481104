"""What the page says of a search, and of the curriculum that comes after it.

With `SCREENSHOTS=folder` each state is also saved as a picture.
"""

from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.stage import Stage

HIDDEN = "[...document.querySelectorAll('.search, .course')].map(panel => panel.hidden)"


def text(panel: str) -> str:
    return f"document.querySelector('#{panel}').innerText.replace(/\\s+/g, ' ')"


def says(panel: str, words: str) -> str:
    return f"{text(panel)}.includes({words!r})"


@pytest.fixture
def stage(bus: Bus, episodes: FileStore) -> Stage:
    return Stage(bus, episodes)


async def test_a_search_shows_its_figures_and_every_find(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await stage.progress()
    await stage.search()
    await chromium.wait_for("document.querySelectorAll('#search .finds li').length === 21")
    shown = await chromium.evaluate(text("search"))
    for words in (
        "running after 11 min", "18.4M 26.03K/s", "Level 12.5", "21 latest at 10 min",
        "4,123", "33 min at the latest", "small key level 12.5 after 15.7M frames, 10 min",
        "sword level 1 after 1K frames, 0 s",
    ):  # fmt: skip
        assert words in shown
    assert await chromium.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert chromium.errors == []
    await shoot("searching")


async def test_the_beginning_and_the_end_of_a_search_are_shown(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await stage.search(0, frames=0, seconds=0.0, nodes=1, level=0.0)
    await chromium.wait_for(says("search", "No progress found yet"))
    assert "0 latest at —" in await chromium.evaluate(text("search"))
    await shoot("begins")
    await stage.search(running=False, workers=0, seconds=2700.0, seconds_left=None)
    await chromium.wait_for(says("search", "finished after 45 min"))
    assert chromium.errors == []


async def test_a_curriculum_shows_each_demonstration_and_what_is_worked_on(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await stage.search(running=False, workers=0, seconds_left=None)
    await stage.curriculum()
    await chromium.wait_for("document.querySelectorAll('#course .cell').length === 90")
    shown = await chromium.evaluate(text("course"))
    assert "Phase backward Subtasks mastered 16 of 90" in shown
    assert "From power-on 8 %" in shown
    labels = await chromium.evaluate(
        "[...document.querySelectorAll('#course .strip')].map(strip => strip.ariaLabel)"
    )
    assert labels[0] == "Demonstration 1: 7 of 18 subtasks mastered"
    assert len(labels) == 5
    rows = await chromium.evaluate("document.querySelectorAll('#course tbody tr').length")
    assert rows == 8
    assert "and 66 more" in shown
    await shoot("curriculum")


async def test_while_it_searches_the_page_says_why_there_is_no_screen(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    words = "The run starts with a search."
    await chromium.open(hud_url)
    await stage.progress(steps_per_second=None)
    await stage.search()
    await chromium.wait_for(says("screen-overlay", words))
    await chromium.wait_for(says("run", words))
    await stage.search(running=False)
    await chromium.wait_for(f"!{says('run', words)}")
    await stage.search()
    await stage.progress()
    await chromium.wait_for(says("run", "Steps trained"))


async def test_between_search_and_policy_the_page_says_what_is_made(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await stage.search(running=False)
    await stage.progress(
        steps_per_second=None, phase="demonstrations", phase_words="of 5 ways that were found"
    )
    title = "The run is creating demonstrations from the search results."
    await chromium.wait_for(says("run", title))
    await chromium.wait_for(says("screen-overlay", title))
    assert "Now: of 5 ways that were found." in await chromium.evaluate(text("run"))
