"""The page while the pipeline starts, runs, fails, and rolls back to an old model.

With `SCREENSHOTS=folder` each state is also saved as a picture, for desktop and phone.
"""

import asyncio
import io
import re
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import Missing
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.stage import SERVICES, Stage
from rlaif.testing.servers.http_server import serve


def text_of(selector: str) -> str:
    return f"document.querySelector({selector!r}).innerText.replace(/\\s+/g, ' ')"


def says(selector: str, words: str) -> str:
    return f"{text_of(selector)}.includes({words!r})"


@pytest.fixture
def stage(bus: Bus, episodes: FileStore) -> Stage:
    return Stage(bus, episodes)


async def play(stage: Stage, *, segments: int = 30, versions: int = 4) -> None:
    """A ring in full swing."""
    stage.curve = [(1500 * n, 0.6 + 0.02 * n - 0.3 / (n + 1)) for n in range(1, 151)]
    await stage.segments(segments + 2, exported=segments + 1, scored=segments)
    loads: list[tuple[int, int]] = []
    for version in range(1, versions + 1):
        await stage.publish(version)
        loads.append((version, 40_000 + 180_000 * version // (versions + 1)))
    stage.loads = loads
    await stage.past(225_000, *loads, pace=1500)
    await stage.reject()
    await tell(stage, versions)
    await stage.calls(12)


async def tell(stage: Stage, version: int | None) -> None:
    """The periodic reports of the services."""
    await stage.health()
    await stage.status(version)
    await stage.progress()
    await stage.rewards()


@asynccontextmanager
async def again(*tellings: Callable[[], Awaitable[None]]) -> AsyncIterator[None]:
    """Report every second, as services do."""

    async def repeat() -> None:
        while True:
            for telling in tellings:
                await telling()
            await asyncio.sleep(1)

    task = asyncio.create_task(repeat())
    try:
        yield
    finally:
        task.cancel()
        await asyncio.gather(task, return_exceptions=True)


async def send_frame(bus: Bus, number: int = 1, step: int = 225_900) -> None:
    data = io.BytesIO()
    Image.new("RGB", (160, 144), "#204020").save(data, "WEBP", lossless=True)
    frame = ScreenFrame(number, int(time.time() * 1e6), step, data.getvalue())
    await bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.env-0", frame.pack())


async def test_a_starting_pipeline_reports_its_missing_dependencies(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for(says("#screen-overlay", "No report from the trainer yet"))
    await shoot("starting.0")
    async with again(stage.health):
        await chromium.wait_for(says("#screen-overlay", "The trainer is running"))
        assert "make demo" not in await chromium.evaluate(text_of("main"))
        starting = {"status": "starting", "iteration": 0, "episodes": 0, "steps_per_second": None}
        await stage.progress(**starting)
        await chromium.wait_for(says("#screen-overlay", "The trainer is starting"))
        await chromium.wait_for(says("#screen-overlay", "Starting the emulators"))
        await chromium.wait_for(f"/[1-9] s elapsed/.test({text_of('#screen-overlay')})")
        await shoot("starting.1")
    assert chromium.errors == []


async def test_a_healthy_pipeline_is_five_green_dots_and_no_banner(
    chromium: Any, hud_url: str, stage: Stage, bus: Bus, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await play(stage)

    async def frames() -> None:
        await send_frame(bus)

    async with again(lambda: tell(stage, 4), frames):
        await chromium.tab("pipeline")
        dots = "[...document.querySelectorAll('#services li')].map(li => li.dataset.state).join()"
        await chromium.wait_for(f"{dots} === {','.join(['ready'] * 5)!r}")
        assert await chromium.evaluate(text_of("#banners")) == ""
        await chromium.wait_for(says("#worth", "Φ \N{MINUS SIGN}0.22 by v4"))
        assert "change +0.11 in 10 s" in await chromium.evaluate(text_of("#worth"))
        down = "document.querySelectorAll('#worth .sparkline .minus').length"
        assert 0 < await chromium.evaluate(down) < 20
        await chromium.wait_for(says("#verdict", "novelty computed"))
        await shoot("healthy.live")
        await chromium.visit("/models")
        await chromium.wait_for(says("#models", "Next model: 7 of 12 new labels"))
        await chromium.wait_for(
            says("#models", "v4 accuracy on judged pairs: by shaping reward 81.2 %")
        )
        assert "linear fit 70.3 %" in await chromium.evaluate(text_of("#models"))
        await shoot("healthy.models")
        for page in ("segments", "llm", "system"):
            await chromium.visit(f"/{page}")
            await shoot(f"healthy.{page}")
    assert await chromium.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
    # The browser counts a service that is away (502) as an error of the page.
    assert [each for each in chromium.errors if not re.search("404|502", each)] == []


async def test_a_route_that_is_refused_is_named(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await play(stage)
    why = "HTTP 400: unknown model qwen-vl; name one that the server has in JUDGE_VISION_MODEL"
    health = {"status": "not ready", "route vision": why}

    async def others() -> None:
        await stage.health("trainer", "exporter", "reward-model")
        await stage.health("judge", **health)

    async with again(others):
        await chromium.wait_for(says("#banners", "judge route vision: HTTP 400: unknown model"))
        await chromium.tab("pipeline")
        assert "judge not ready" in await chromium.evaluate(text_of("#services"))
        await shoot("refused")
        await stage.health("judge")
        health.clear()
        await chromium.wait_for(f"{text_of('#banners')} === ''")


async def test_a_service_that_fell_silent_is_missed(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await play(stage)
    async with again(lambda: stage.health("trainer", "exporter", "reward-model")):
        await chromium.wait_for(says("#banners", "judge no heartbeat"))
        await chromium.tab("pipeline")
        await chromium.wait_for(says("#services", "judge silent"))
        await shoot("silent")
        await stage.health("judge")
        await chromium.wait_for(f"{text_of('#banners')} === ''")


async def test_a_roll_back_and_its_pin_are_seen_and_still_after_a_restart_of_the_hud(
    chromium: Any, nats_url: str, stage: Stage, shoot: Shoot, tmp_path: Path
) -> None:
    settings = HudSettings(nats_url=nats_url, episodes_store=f"file://{tmp_path / 'episodes'}")
    reason = "the return of the reward model, now version 4, rose by 0.081 while episodes went on"
    pin = {
        "pinned": True,
        "pin_reason": reason,
        "pinned_until": datetime.now(UTC) + timedelta(minutes=30),
        "missing": (Missing(what="new labels", have=7, need=12),),
    }
    await play(stage)
    await stage.publish(3)
    await stage.load(3, 225_000)

    async def reported() -> None:
        await tell(stage, 3)
        await stage.status(3, **pin)

    for life in ("first", "second"):
        async with serve(create_app(settings)) as url, again(reported):
            await chromium.open(url)
            await chromium.tab("pipeline")
            await chromium.wait_for(says("#loop", "Reward model v3 pinned until"))
            await chromium.wait_for(says("#loop", "rolled back from v4"))
            assert "rolled back from v4" in await chromium.evaluate(text_of("#log"))
            await chromium.tab("training")
            marks = "[...document.querySelectorAll('#chart-returns [data-load]')]"
            reported_marks = f"{marks}.map(mark => mark.dataset.load).join()"
            wanted = "v1 76000,v2 112000,v3 148000,v4 184000,v3 225000"
            await chromium.wait_for(f"{reported_marks} === {wanted!r}")
            line = "document.querySelector('#chart-returns .plot .faint').getAttribute('d')"
            assert await chromium.evaluate(f"{line}.split('L').length") == 150
            await shoot(f"rolled-back.{life}")
            await chromium.visit("/models")
            await chromium.wait_for(says("#models", "Champion v3: rolled back from v4"))
            assert "rose by 0.081" in await chromium.evaluate(text_of("#models"))
            await chromium.wait_for(says("#models-versions", "148K, 225K"))


async def test_the_names_of_many_versions_do_not_cover_each_other(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    await chromium.open(hud_url)
    await play(stage, versions=40)
    async with again(lambda: tell(stage, 40)):
        await chromium.wait_for("document.querySelectorAll('#chart-scores .mark').length === 40")
        boxes = "[...document.querySelectorAll('#chart-milestones .mark-name')]"
        covered = f"""(() => {{
            const boxes = {boxes}.map(name => name.getBoundingClientRect());
            return boxes.filter((box, index) => index && box.left < boxes[index - 1].right).length;
        }})()"""
        for width, height in ((390, 844), (1440, 1100)):
            await chromium.resize(width, height)
            await chromium.wait_for(f"window.innerWidth === {width} && {boxes}.length > 0")
            await chromium.wait_for(f"{covered} === 0")
            assert "v40" in await chromium.evaluate(f"{boxes}.at(-1).textContent")
        await shoot("many-versions")


def test_the_stage_has_all_services_that_the_page_looks_for() -> None:
    from rlaif.hud.read_model.health import REQUIRED

    assert set(SERVICES) == set(REQUIRED)
