"""The view of runs: what they are called, curves over each other, settings that differ."""

import asyncio
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.events import RunDescribed
from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.contracts.telemetry.readings import DescriptionWish
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import NOON
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.stage import Stage
from rlaif.testing.waiting import PATIENCE_SECONDS

ROWS = "[...document.querySelectorAll('.runs-table tbody tr')]"
LINES = "document.querySelectorAll('#runs-compared .plot .line').length"
SETTINGS = "[...document.querySelectorAll('.compare tbody tr')].map(row => row.textContent)"


def origin(rate: str) -> RunProvenance:
    return RunProvenance(
        seed=7, game="seedling-vale", commit="0123abcd", packages={"torch": "2.13.0"}, host="here",
        settings={"TRAINER_PPO_LEARNING_RATE": rate, "TRAINER_SEED": "7"},
        command=f"TRAINER_PPO_LEARNING_RATE={rate} rlaif train",
    )  # fmt: skip


@pytest.fixture
async def two_runs(bus: Bus, episodes: FileStore) -> None:
    for run_id, rate in (("run-0", "0.0003"), ("run-1", "0.001")):
        stage = Stage(bus, episodes, run_id=run_id)
        await stage.past(30_000, pace=5000, provenance=origin(rate))
    words = {"name": "slow", "note": "A control.", "tags": ("baseline",)}
    await bus.publisher("trainer").publish(RunDescribed(run_id="run-0", at=NOON, **words))


async def test_two_runs_are_compared(
    chromium: Any, hud_url: str, two_runs: None, shoot: Shoot
) -> None:
    await chromium.open(hud_url + "/runs")
    await chromium.wait_for(f"{ROWS}.length === 2 && {LINES} === 2")
    newest, first = await chromium.evaluate(f"{ROWS}.map(row => row.textContent)")
    assert "run-1" in newest
    assert "TRAINER_PPO_LEARNING_RATE=0.001" in newest
    assert "TRAINER_SEED" not in newest, "the same in both"
    assert "last report 1 h" in newest, "no trainer reports it as its current run"
    assert all(each in first for each in ("slow", "baseline", "A control."))
    assert await chromium.evaluate(SETTINGS) == ["TRAINER_PPO_LEARNING_RATE0.0010.0003"]
    found = "document.querySelector('.differences tbody tr').textContent"
    assert (await chromium.evaluate(found)).startswith("run-1")
    repeat = "document.querySelector('#runs-compared details:last-of-type code').textContent"
    assert await chromium.evaluate(repeat) == "TRAINER_PPO_LEARNING_RATE=0.0003 rlaif train"
    files = "[...document.querySelectorAll('#runs-compared a[href*=csv]')].map(a => a.search)"
    assert await chromium.evaluate(files) == ["?run=run-1", "?run=run-0"]
    await shoot("runs")
    await chromium.resize(320, 800)
    await chromium.wait_for("window.innerWidth === 320")
    assert await chromium.evaluate("document.documentElement.scrollWidth") <= 320

    await chromium.evaluate(f"{ROWS}[1].querySelector('input').click()")
    await chromium.wait_for(f"location.search === '?compare=run-1' && {LINES} === 1")


async def test_a_run_gets_a_name_a_note_and_tags_once_the_trainer_confirms(
    chromium: Any, hud_url: str, two_runs: None, bus: Bus
) -> None:
    wishes = bus.subscribe(DescriptionWish.SUBJECT)
    first = asyncio.ensure_future(anext(wishes))
    await chromium.open(hud_url + "/runs")
    await chromium.wait_for(f"{ROWS}.length === 2")
    await chromium.evaluate(f"{ROWS}[1].querySelector('button').click()")
    fields = "[...document.querySelectorAll('dialog.change input, dialog.change textarea')]"
    assert await chromium.evaluate(f"{fields}.map(each => each.value)") == [
        "slow", "A control.", "baseline",
    ]  # fmt: skip
    await chromium.evaluate(f"{fields}[0].value = 'slower'; {fields}[2].value = ' a  lr:3e-4 '")
    await chromium.evaluate("document.querySelector('dialog.change form').requestSubmit()")
    _, payload = await asyncio.wait_for(first, PATIENCE_SECONDS)
    wish = DescriptionWish.model_validate_json(payload)
    given = RunDescription(name="slower", note="A control.", tags=("a", "lr:3e-4"))
    assert (wish.run_id, wish.name, wish.note, wish.tags) == ("run-0", *dict(given).values())
    assert await chromium.evaluate("document.querySelector('dialog.change').open")
    await bus.publisher("trainer").publish(RunDescribed(run_id="run-0", at=wish.at, **dict(given)))
    await chromium.wait_for(f"{ROWS}[1].textContent.includes('slower')")
    await chromium.wait_for("document.querySelector('dialog.change') === null")


async def test_an_earlier_run_has_its_history_on_the_live_page(
    chromium: Any, hud_url: str, two_runs: None
) -> None:
    await chromium.open(hud_url + "/?run=run-0")
    at = "document.querySelector('#timeline .at').textContent"
    await chromium.wait_for(f"{at}.startsWith('Run run-0. ')")
    await chromium.tab("rewards")
    loads = "performance.getEntriesByType('resource').map(({ name }) => name).join()"
    await chromium.wait_for(f"{loads}.includes('/api/v1/loads?limit=100&run=run-0')")
    assert await chromium.evaluate("location.search") == "?run=run-0&tab=rewards"
    await chromium.open(hud_url + "/?run=run-9")
    await chromium.wait_for(f"{at}.startsWith('No run run-9 ')")
