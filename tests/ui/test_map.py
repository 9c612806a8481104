"""The map: rooms, layers, players, and whose screen is shown.

With `SCREENSHOTS=folder` its states are saved as pictures; with `ROOM_PICTURES=folder` the rooms
have the pictures in there, which a run has left in its `rooms`.
"""

import asyncio
import io
import os
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager, suppress
from pathlib import Path
from typing import Any

import httpx
import pytest
from PIL import Image

from rlaif.bus.connection import Bus
from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.contracts.telemetry.readings import WatchWish
from rlaif.storage import keys
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import FIGURES, UNNAMED, shows, value_of
from rlaif.testing.page.stage import Stage
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

FIGURES_OF_ROOM = "document.querySelectorAll('.room-about .facts [data-figure]').length"
OVERLAY = "document.getElementById('screen-overlay').innerText"
SHADE = "document.getElementById('screen').getContext('2d').getImageData(80, 72, 1, 1).data[0]"


@pytest.fixture
def stage(bus: Bus, episodes: FileStore) -> Stage:
    folder = os.environ.get("ROOM_PICTURES")
    for group, room in SEEDLING_ROOMS:
        path = None if folder is None else Path(folder) / f"{group}-{room}.png"
        png = path.read_bytes() if path is not None and path.exists() else _flat(room)
        episodes.put_once(keys.room_picture("run-1", group, room), png)
    return Stage(bus, episodes)


def _flat(room: int) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", (160, 128), (40, 60 + room % 100, 60)).save(buffer, "PNG")
    return buffer.getvalue()


@asynccontextmanager
async def playing(stage: Stage, **signs: Any) -> AsyncIterator[None]:
    """Both runners play: pictures, and word of where everybody stands."""

    async def play() -> None:
        while True:
            await stage.frame("1-0", 80)
            await stage.frame("2-0", 160)
            await stage.progress(env_steps=91_000)
            await stage.world()
            await stage.environments(**signs)
            await asyncio.sleep(0.2)

    task = asyncio.create_task(play())
    try:
        yield
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task


async def test_the_map_shows_what_the_rest_interface_says_of_a_room(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    async with playing(stage):
        await chromium.open(f"{hud_url}/map?room=0-119&layer=deaths")
        await chromium.wait_for("document.querySelectorAll('.room').length === 30")
        await chromium.wait_for(f"{FIGURES_OF_ROOM} === 7")
        async with httpx.AsyncClient(base_url=hud_url) as client:
            reported = (await client.get("/api/v1/map")).json()
        shown = [
            (field.partition("#")[2], text)
            for field, text in await chromium.evaluate(FIGURES)
            if field.startswith("/api/v1/map#")
        ]
        assert len(shown) >= 7, "the number of rooms, and six of the one that is open"
        for field, text in shown:
            assert shows(text, value_of(reported, field)), (field, text)
        assert await chromium.evaluate(UNNAMED) == []
        name = "document.querySelector('[data-room=\"0-119\"] .room-name').innerText"
        assert await chromium.evaluate(name) == "Seedling"
        # Pictures come from the store, players stand in their rooms.
        await chromium.wait_for(
            "[...document.querySelectorAll('.room img')].filter(each => each.naturalWidth === 160)"
            ".length >= 16"
        )
        await chromium.wait_for("document.querySelectorAll('.players i').length === 8")
        await shoot("deaths")
        for layer in ("visits", "rooms"):
            await chromium.evaluate(f"document.querySelector('[data-layer={layer}]').click()")
            await shoot(layer)
        assert await chromium.evaluate("location.search") == "?room=0-119"
        assert await chromium.evaluate("document.documentElement.scrollWidth <= window.innerWidth")
        assert chromium.errors == []


async def test_a_room_is_reached_by_keys_and_leads_to_its_segments(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(f"{hud_url}/map")
    await eventually(lambda: _reported(stage, chromium), "the map has its rooms")
    await chromium.evaluate("document.querySelector('[data-room=\"0-86\"]').focus()")
    await chromium.press("ArrowRight", "")
    focused = "document.activeElement.dataset.room"
    assert await chromium.evaluate(focused) == "0-87"
    await chromium.evaluate("document.activeElement.click()")
    await chromium.wait_for("location.search === '?room=0-87'")
    link = "document.querySelector('.room-segments a').getAttribute('href')"
    assert await chromium.evaluate(link) == "/segments/episode-0001/segment-0001"
    every = "document.querySelector('.room-about > p > a').getAttribute('href')"
    assert await chromium.evaluate(every) == "/segments?room=0-87"


async def _reported(stage: Stage, chromium: Any) -> bool:
    await stage.world()
    return bool(await chromium.evaluate("document.querySelectorAll('.room').length === 30"))


async def test_a_click_brings_the_screen_of_any_environment(
    chromium: Any, hud_url: str, stage: Stage, bus: Bus
) -> None:
    wishes = bus.subscribe(WatchWish.SUBJECT)
    first = asyncio.ensure_future(anext(wishes))
    async with playing(stage):
        await chromium.open(f"{hud_url}/map")
        await chromium.wait_for(f"{SHADE} === 80")
        await chromium.wait_for(
            "document.querySelector('[data-env=\"2-0\"] .show-screen') !== null"
        )
        await chromium.evaluate("document.querySelector('[data-env=\"2-0\"] .show-screen').click()")
        await chromium.wait_for(f"{SHADE} === 160")
        await chromium.wait_for(
            "document.querySelector('[data-env=\"2-0\"] .show-screen').innerText === 'Shown'"
        )
        _, payload = await asyncio.wait_for(first, PATIENCE_SECONDS)
        assert WatchWish.model_validate_json(payload).env == "2-0", "the trainer hears of it"
    assert chromium.errors == []


async def test_a_silent_environment_is_named_and_replaced(
    chromium: Any, hud_url: str, stage: Stage, shoot: Shoot
) -> None:
    async with playing(stage):
        await chromium.open(hud_url)
        await chromium.wait_for(f"{SHADE} === 80")
    loop = asyncio.get_running_loop()
    began = loop.time()

    async def silent() -> None:
        while True:
            await stage.environments(silent={1: loop.time() - began})
            await asyncio.sleep(0.3)

    task = asyncio.create_task(silent())
    try:
        await chromium.wait_for(f"{OVERLAY}.startsWith('1-0 has not responded for ')")
        await shoot("silent")
        await chromium.wait_for(f"{SHADE} === 160")
        async with httpx.AsyncClient(base_url=hud_url) as client:
            watched = (await client.get("/api/v1/watched")).json()
        (switch,) = watched["switches"]
        assert (switch["from_env"], switch["to_env"]) == ("1-0", "2-0")
        assert switch["env_step"] == 91_000
    finally:
        task.cancel()
        with suppress(asyncio.CancelledError):
            await task
    assert chromium.errors == []
