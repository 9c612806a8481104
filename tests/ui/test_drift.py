"""The alarm of the models' page: the live model pays more for what judges think less of."""

import re
from typing import Any

import httpx

from rlaif.bus.connection import Bus
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.storage.file import FileStore
from rlaif.testing.browser import Shoot
from rlaif.testing.data.events import (
    run_iterated,
    run_loaded,
    run_started,
    segment_captured,
    segment_scored,
)
from rlaif.testing.figures import FIGURES, UNNAMED, contradictions, documents_of
from rlaif.testing.stage import Stage

STEP = 1000
ITERATIONS = 90
LOADS = {10 * STEP: 1, 30 * STEP: 2}
BANNER = "document.querySelector('#banners [data-key=\"drift: v2\"]')"
TEXT = "document.getElementById('models-drift').innerText"


def paid(number: int) -> tuple[float, ...]:
    """What the model pays the four episodes of an iteration: the second one is gamed."""
    since = 0.02 * max(0, number - 30)
    return tuple(0.3 + since + 0.2 * ((7 * number + 3 * each) % 10) / 10 for each in range(4))


async def played(bus: Bus, *, judges_fall: bool) -> None:
    """A run with two models, and one judged segment in each iteration."""
    trainer, judge = bus.publisher("trainer"), bus.publisher("judge")
    await trainer.publish(run_started())
    for number in range(ITERATIONS):
        since = number * STEP
        if since in LOADS:
            await trainer.publish(run_loaded(LOADS[since], since))
        rows = EndedEpisodes(
            count=4, began=(since,) * 4, gained=(1,) * 4, rooms=(2,) * 4, returns=(1.0,) * 4,
            shaped=paid(number) if number >= 10 else (None,) * 4, lengths=(90,) * 4,
            died=(None,) * 4,
        )  # fmt: skip
        await trainer.publish(run_iterated(since, since + STEP, episodes=rows))
        of = {"segment_id": f"segment-{number}", "episode_id": f"episode-{number}"}
        fall = 0.006 * max(0, number - 30) if judges_fall else 0.0
        weighted = 0.75 - fall - 0.15 * ((5 * number) % 7) / 7
        await trainer.publish(segment_captured().model_copy(update={**of, "env_step": since}))
        await judge.publish(segment_scored(weighted=weighted).model_copy(update=of))


async def test_an_alarm_says_what_rose_what_fell_and_how_to_go_back(
    chromium: Any, hud_url: str, bus: Bus, episodes: FileStore, shoot: Shoot
) -> None:
    stage = Stage(bus, episodes)
    await played(bus, judges_fall=True)
    for version in (1, 2):
        await stage.publish(version)
    await stage.progress(reward_model_version=2, reward_model_loaded_at_step=30 * STEP)
    await stage.status(2)
    await chromium.open(f"{hud_url}/models")
    await chromium.wait_for("document.querySelector('#models-drift [role=alert] button') !== null")
    await chromium.wait_for("document.querySelectorAll('#models-drift .line').length >= 2")
    said = (await chromium.evaluate(TEXT)).replace("\n", " ")
    assert "Alarm: v2 pays more and more" in said
    assert "What to do:" in said
    marks = "[...document.querySelectorAll('#models-drift .mark-name')].map(e => e.textContent)"
    assert await chromium.evaluate(marks) == ["v1", "v2"]
    await shoot("alarm")

    # Its numbers are those of the REST interface, and each says which.
    figures = [
        each for each in await chromium.evaluate(FIGURES) if each[0].startswith("/api/v1/drift#")
    ]
    async with httpx.AsyncClient(base_url=hud_url) as client:
        bodies = {path: (await client.get(path)).json() for path in documents_of(figures)}
        assert bodies["/api/v1/drift"]["verdict"] == "alarm"
    assert len(figures) == 20
    assert contradictions(figures, documents=bodies) == []
    assert await chromium.evaluate(UNNAMED) == []

    # The same for who does not see the picture.
    label = "document.querySelector('#models-drift .plot').getAttribute('aria-valuetext')"
    assert "paid by the model" in await chromium.evaluate(label)
    await chromium.evaluate("document.querySelector('#models-drift .as-table').open = true")
    await chromium.wait_for("document.querySelectorAll('#models-drift tbody tr').length > 5")

    # Other pages say so too, and lead here.
    await chromium.visit("/")
    await chromium.wait_for(f"{BANNER}?.innerText.includes('v2 pays more and more')")
    await shoot("banner")
    await chromium.evaluate(f"{BANNER}.querySelector('a').click()")
    await chromium.wait_for("location.pathname === '/models'")
    await chromium.wait_for("document.querySelector('#models-drift [role=alert] button') !== null")
    await chromium.wait_for(f"{BANNER} === null")

    # Going back is one click and a reason away.
    await chromium.evaluate("document.querySelector('#models-drift [role=alert] button').click()")
    await chromium.wait_for("document.querySelector('dialog.change')?.innerText.includes('v1')")
    # A service is away (502), and nobody filmed the newest segment (404).
    assert [error for error in chromium.errors if not re.search("404|502", error)] == []


async def test_no_alarm_while_judges_think_as_before_and_too_few_is_said(
    chromium: Any, hud_url: str, bus: Bus, shoot: Shoot
) -> None:
    await chromium.open(f"{hud_url}/models")
    await chromium.wait_for(f"{TEXT}.includes('No reward model pays now')")
    await played(bus, judges_fall=False)
    await chromium.visit("/segments")
    await chromium.visit("/models")
    await chromium.wait_for(f"{TEXT}.includes('no alarm')")
    await shoot("quiet")
    await bus.publisher("trainer").publish(run_loaded(3, ITERATIONS * STEP))
    await chromium.visit("/segments")
    await chromium.visit("/models")
    await chromium.wait_for(f"{TEXT}.includes('Too few episodes to say')")
    assert await chromium.evaluate("document.querySelector('#models-drift [role=alert]')") is None
    await shoot("few")
