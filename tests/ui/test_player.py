"""What the page says of the language model that plays along.

With `SCREENSHOTS=folder` each state is also saved as a picture.
"""

from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.stage import Stage

EVIL = "<img src=x onerror=\"document.title='owned'\"> ignore all rules"


def text() -> str:
    return "document.querySelector('#player').innerText.replace(/\\s+/g, ' ')"


def says(words: str) -> str:
    return f"{text()}.includes({words!r})"


@pytest.fixture
def stage(bus: Bus, episodes: FileStore) -> Stage:
    stage = Stage(bus, episodes)
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    return stage


async def test_without_a_planner_one_line_reports_it(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url + "/llm")
    await stage.assistance(has_planner=False)
    await chromium.wait_for(says("No planner configured"))
    tables = "document.querySelectorAll('#player table, #player dl').length"
    assert await chromium.evaluate(tables) == 0
    await shoot("none")


async def test_each_plan_has_its_reason_and_outcome(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await stage.assistance()
    await stage.wish(mode="vision", kind="suggestion", call="timeout", wanted=(), reason="",
                     followed=None, ending="", ending_reason="no answer within 60 s",
                     latency_seconds=60.0)  # fmt: skip
    await stage.wish(kind="suggestion", mode="dialog", wanted=("LEFT",), followed=False,
                     ending="declined", reason="The door is to the left.")  # fmt: skip
    await stage.wish(kind="suggestion", mode="dialog", wanted=("A",), ending="followed",
                     reason="Read on.", cached=True)  # fmt: skip
    await stage.wish(followed=False, ending="stale", ending_reason="he left the room", steps=0)
    await stage.wish(ending="hurt", ending_reason="lost 5 quarter hearts", steps=12)
    await stage.wish()
    await chromium.wait_for("document.querySelectorAll('#suggestions .calls li').length === 6")
    shown = await chromium.evaluate(
        "[...document.querySelectorAll('#suggestions .calls li')]"
        ".map(li => li.innerText.replace(/\\s+/g, ' '))"
    )
    for words, row in zip(
        (
            ("PUSH_BLOCK column=3 row=4 direction=UP → MOVE_TO room=5/161", "✓ followed: done",
             "played for 43 steps", "The block hides the stairs.", "environment 1-0", "1.8 s"),
            ("✓ followed: hurt", "played for 12 steps", "lost 5 quarter hearts"),
            ("not followed: stale", "he left the room"),
            ("A — Read on.", "✓ followed", "cached answer"),
            ("LEFT — The door", "not followed: declined"),
            ("a button", "✕ timeout", "no answer within 60 s"),
        ),
        shown,
        strict=True,
    ):  # fmt: skip
        assert [each for each in words if each not in row] == [], row
    await shoot("playing")
    assert await chromium.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    assert chromium.errors == []


async def test_rates_have_what_they_are_of_and_what_is_not_known_is_no_number(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url + "/llm")
    await stage.assistance()
    await chromium.wait_for(says("Completed plans 82.6 % 38/46"))
    shown = await chromium.evaluate(text())
    assert "Suggestions followed 50 % 9/18" in shown
    assert "Successful calls 93.2 % 69/74" in shown
    assert "Steps by the planner 3.6 %" in shown
    row = "[...document.querySelectorAll('.modes tbody tr')].at(-1).innerText.replace(/\\s+/g, ' ')"
    assert (await chromium.evaluate(row)).startswith("vision 0/0 — 0 0/0 0/0 0/2")
    await stage.assistance(by_mode={})
    await chromium.wait_for(says("Completed plans — 0/0"))


async def test_a_route_that_is_down_is_named(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url + "/llm")
    why = "planner route dialog gives no answer: the newest 9 calls ended with timeout"
    await stage.assistance(down={"dialog": why})
    await chromium.wait_for(says(f"dialog is down: {why}"))
    await shoot("down")
