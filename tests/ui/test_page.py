"""The page in a real browser."""

import asyncio
import io
import time
from collections.abc import AsyncIterator
from datetime import UTC, datetime
from hashlib import sha256
from typing import Any
from urllib.parse import urlsplit

import pytest
from PIL import Image, ImageDraw

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT, ScreenFrame
from rlaif.contracts.telemetry.readings import TrainingProgress
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import (
    reward_model_published,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.judging.scores import judge_call, score_record

EVIL = "<img src=x onerror=\"document.title='owned'\"> went right"
PIXELS = """(() => {
    const canvas = document.getElementById('screen');
    const data = canvas.getContext('2d').getImageData(0, 0, 160, 144).data;
    return data.reduce((sum, value, index) => (sum * 31 + value * (index % 977)) % 1e9, 7);
})()"""


def picture(number: int) -> bytes:
    """A bright square on its way across the screen."""
    image = Image.new("RGB", (160, 144), "#204020")
    left = 6 * number % 140
    ImageDraw.Draw(image).rectangle((left, 60, left + 16, 76), fill="#f0e442")
    data = io.BytesIO()
    image.save(data, "WEBP", lossless=True)
    return data.getvalue()


@pytest.fixture
async def playing(bus: Bus) -> AsyncIterator[asyncio.Event]:
    """A trainer that sends 20 frames per second until the event is set."""
    stop = asyncio.Event()

    async def play() -> None:
        telemetry, number = bus.telemetry(), 0
        while not stop.is_set():
            number += 1
            frame = ScreenFrame(number, int(time.time() * 1e6), number * 3, picture(number))
            await telemetry.send_bytes(f"{FRAME_SUBJECT}.env-0", frame.pack())
            await asyncio.sleep(0.05)

    task = asyncio.create_task(play())
    yield stop
    stop.set()
    await task


async def publish_one_loop(bus: Bus, episodes: FileStore) -> None:
    """One segment through the whole pipeline; its judge writes markup."""
    record = score_record(calls=(judge_call(rationale=EVIL),))
    data = record.model_dump_json().encode()
    scored = segment_scored().model_copy(update={"score_sha256": sha256(data).hexdigest()})
    await asyncio.to_thread(episodes.put_once, scored.score_key, data)
    await bus.publisher("trainer").publish(segment_captured())
    await bus.publisher("exporter").publish(segment_exported())
    await bus.publisher("judge").publish(scored)
    await bus.publisher("reward-model").publish(reward_model_published())
    await bus.telemetry().send(progress())


def progress(**changes: Any) -> TrainingProgress:
    return TrainingProgress(
        **{
            "at": datetime.now(UTC),
            "run_id": "run-1",
            "status": "training",
            "iteration": 1,
            "env_steps": 1_243_008,
            "episodes": 2,
            "reward_model_version": 1,
            "reward_model_loaded_at_step": 4096,
        }
        | changes
    )


def text_of(selector: str) -> str:
    return f"document.querySelector({selector!r}).innerText"


async def test_the_page_shows_the_game_moving_and_the_loop_going_round(
    chromium: Any, hud_url: str, bus: Bus, playing: asyncio.Event, episodes: FileStore
) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for(f"{text_of('#status')}.includes('LIVE')")
    samples = set()
    for _ in range(20):
        samples.add(await chromium.evaluate(PIXELS))
        await asyncio.sleep(0.05)
    assert len(samples) >= 5, "the canvas hardly moves"
    worth = (await chromium.evaluate(text_of("#worth"))).split()
    assert " ".join(worth) == "Φ — no reward model yet change —", "what is not known is no number"

    await publish_one_loop(bus, episodes)
    await chromium.tab("pipeline")
    await chromium.wait_for(f"{text_of('#loop')}.replace(/\\s+/g, ' ').includes('Trainer uses v1')")
    await chromium.wait_for(f"{text_of('#verdict')}.includes('went right')")
    assert await chromium.evaluate(f"{text_of('#verdict')}.includes('<img src=x')")
    assert await chromium.evaluate("document.querySelectorAll('[onerror], img[src=x]').length") == 0
    assert await chromium.evaluate("document.title") == "Zelda RLAIF"
    await chromium.tab("training")
    assert "1.24M" in await chromium.evaluate(text_of("#run"))
    assert "—" in await chromium.evaluate(text_of("#run"))  # the mean return is not known

    assert await chromium.evaluate(text_of("#banners")) == ""
    refused = {"reward_model_refused": 2, "reward_model_refusal": "hash_mismatch: not that file"}
    await bus.telemetry().send(progress(**refused))
    await chromium.wait_for(f"{text_of('#banners')}.includes('hash_mismatch')")
    assert "rejected reward model v2" in await chromium.evaluate(text_of("#banners"))
    await bus.telemetry().send(progress())
    await chromium.wait_for(f"{text_of('#banners')} === ''")

    await chromium.press(" ", " ")
    await chromium.wait_for(f"{text_of('#status')}.includes('PAUSED')")
    await asyncio.sleep(0.2)  # frames under way are drawn
    still = await chromium.evaluate(PIXELS)
    await asyncio.sleep(0.3)
    assert await chromium.evaluate(PIXELS) == still
    await chromium.press(" ", " ")
    playing.set()
    await chromium.wait_for(f"{text_of('#status')}.includes('STALE')")
    # It says for how long, and soon who is silent.
    await chromium.wait_for(
        f"/No frame for|has not responded for/.test({text_of('#screen-overlay')})"
    )

    hosts = {urlsplit(url).netloc for url in chromium.requested if not url.startswith("blob:")}
    assert hosts == {urlsplit(hud_url).netloc}
    # Only the manifest of the made-up segment is missing.
    assert [error for error in chromium.errors if "404" not in error] == []


async def test_an_empty_page_says_what_to_do_and_fits_a_phone(chromium: Any, hud_url: str) -> None:
    await chromium.open(hud_url, width=390, height=844)
    await chromium.wait_for(f"{text_of('#screen-overlay')}.includes('No trainer has reported yet')")
    assert "make demo" in await chromium.evaluate(text_of("#screen-overlay"))
    assert await chromium.evaluate("document.documentElement.scrollWidth") <= 390
    canvas = "document.getElementById('screen').getBoundingClientRect()"
    assert await chromium.evaluate(f"[{canvas}.width, {canvas}.height]") == [320, 288]
    await chromium.press("?", "?")
    await chromium.wait_for("document.getElementById('help').open")
    assert chromium.errors == []
