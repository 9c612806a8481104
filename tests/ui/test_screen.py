"""The screen in a real browser: the very pixels of the game, and the minute before now."""

import asyncio
import time
from collections.abc import AsyncIterator
from typing import Any

import numpy as np
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.game.machine.pictures import webp

SHAPE = (144, 160, 3)
DATA = "document.getElementById('screen').getContext('2d').getImageData(0, 0, 160, 144).data"
ALL_PIXELS = f"Array.from({DATA}.filter((_, index) => index % 4 !== 3))"
NUMBER = f"(([r, g]) => r * 256 + g)({DATA})"
ARRIVAL = """Object.fromEntries([...document.querySelectorAll('[data-arrival]')].map(
    (each) => [each.dataset.arrival, each.innerText]))"""


def numbered(number: int) -> np.ndarray:
    """A picture that is its number."""
    picture = np.zeros(SHAPE, np.uint8)
    picture[:, :] = (number // 256, number % 256, 7)
    return picture


async def send(bus: Bus, number: int, picture: np.ndarray) -> None:
    frame = ScreenFrame(number, int(time.time() * 1e6), number * 3, webp(picture))
    await bus.telemetry().send_bytes(f"{FRAME_SUBJECT}.env-0", frame.pack())


@pytest.fixture
async def counting(bus: Bus) -> AsyncIterator[None]:
    """A game whose pictures count, 20 a second."""

    async def count() -> None:
        number = 1000
        while True:
            await send(bus, number := number + 1, numbered(number))
            await asyncio.sleep(0.05)

    task = asyncio.create_task(count())
    yield
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_the_canvas_holds_the_very_pixels_of_the_game(
    chromium: Any, hud_url: str, bus: Bus
) -> None:
    random = np.random.default_rng(0)
    palette = random.integers(0, 256, (200, 3), dtype=np.uint8)
    picture = palette[random.integers(0, 200, SHAPE[:2])]
    await chromium.open(hud_url)
    await chromium.wait_for("document.getElementById('status').innerText.includes('WAITING')")
    await send(bus, 1, picture)
    await chromium.wait_for("document.getElementById('status').innerText.includes('LIVE')")
    drawn = np.array(await chromium.evaluate(ALL_PIXELS), dtype=np.uint8).reshape(SHAPE)
    assert np.array_equal(drawn, picture)


async def test_the_screen_can_be_rewound_and_returned_to_live(
    chromium: Any, hud_url: str, counting: None
) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for(f"{NUMBER} > 1060")
    await chromium.wait_for(f"Number({ARRIVAL}.lost.split('/')[1]) >= 20")
    arrival = await chromium.evaluate(ARRIVAL)
    assert float(arrival["fps"]) >= 12, arrival
    assert " ms (" in arrival["age"]
    lost, of = arrival["lost"].split("/")
    assert int(lost) < int(of), arrival

    await chromium.press(" ", " ")
    held = await chromium.evaluate(NUMBER)
    await chromium.wait_for("document.getElementById('behind').innerText.startsWith('\u2212')")
    assert await chromium.evaluate(NUMBER) == held, "the picture stands while frames come"
    await chromium.press("ArrowLeft", "")
    await chromium.wait_for(f"{NUMBER} === {held - 1}")
    await chromium.evaluate(
        "document.dispatchEvent(new KeyboardEvent('keydown',"
        " { key: 'ArrowLeft', shiftKey: true, bubbles: true }))"
    )
    await chromium.wait_for(f"{NUMBER} < {held - 10}")
    await chromium.press("l", "l")
    await chromium.wait_for("document.getElementById('status').innerText.includes('LIVE')")
    await chromium.wait_for("document.getElementById('go-live').disabled")
    assert chromium.errors == []
