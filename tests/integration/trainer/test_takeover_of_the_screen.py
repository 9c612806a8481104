"""A watched runner stops: another one's screen takes its place. Real games in real processes."""

import asyncio
import multiprocessing
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import numpy as np
import pytest

from rlaif.bus.connection import Bus
from rlaif.contracts.telemetry import WatchWish
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.testing.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.play.capturing.recorder import CaptureContext
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.play.vector import EmulatorVector
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings.game import GameSettings

SECONDS = 90.0
TAKEN_OVER_WITHIN = 11.0
PACE = 0.02
"""Seconds of rest after a row: two games need not have a core each."""

pytestmark = pytest.mark.timeout(200)


def plays(folder: Path, runner: int) -> None:
    """One runner, as Ray has it in a process: it plays one fragment after the other."""
    game = GameSettings(actions="seed", noop_start=0, walk_start=0, watch_fps=20)
    config = EnvConfig(run_id="run-1", screens=folder, game=game)
    vector = EmulatorVector(config, count=2, runner=runner, seed=runner)
    rows = 100
    while True:
        vector.begin_fragment(rows, capture_quota=0, context=CaptureContext())
        for t in range(rows):
            vector.step(t, np.full(2, t // 8 % 4, dtype=np.int64))
            time.sleep(PACE)
        vector.end_fragment(np.zeros((rows, 2, 8), np.float32), np.zeros((rows, 2), np.float32))


@pytest.fixture
async def runners(tmp_path: Path, bus: Bus) -> AsyncIterator[list[int]]:
    """Two of them, by their process ids, and the service's view of them on the bus."""
    folder = tmp_path / "screens"
    view = LiveView(
        bus.telemetry(),
        lambda: RunState("run-1", status="training", env_steps=5000),
        lambda: folder,
        lambda: None,
        lambda: [],
        fps=20,
        wishes=lambda: bus.subscribe(WatchWish.SUBJECT),
    )
    spawn = multiprocessing.get_context("spawn")
    processes = [spawn.Process(target=plays, args=(folder, runner)) for runner in (1, 2)]
    for process in processes:
        process.start()
    showing = asyncio.create_task(view.run())
    yield [process.pid or 0 for process in processes]
    for process in processes:
        process.kill()
        process.join()
    showing.cancel()
    await asyncio.gather(showing, return_exceptions=True)


async def test_a_stopped_runner_loses_the_screen_within_eleven_seconds_and_it_does_not_jump(
    runners: list[int], nats_url: str, tmp_path: Path
) -> None:
    settings = HudSettings(nats_url=nats_url, episodes_store=f"file://{tmp_path / 'episodes'}")
    async with (
        serve(create_app(settings)) as url,
        httpx.AsyncClient(base_url=url) as client,
    ):

        async def screen() -> dict[str, Any]:
            return (await client.get("/api/v1/state")).json()["screen"] or {}

        async def both_play() -> bool:
            told = (await client.get("/api/v1/environments")).json()
            signs = told["runners"]
            plays = [each["still_seconds"] is not None for each in signs]
            return plays == [True, True] and (await screen()).get("env") == "1-0"

        await eventually(both_play, "both runners play, the first is shown", seconds=SECONDS)
        await eventually(lambda: _rises(screen), "its picture moves", seconds=SECONDS)
        os.kill(runners[0], signal.SIGSTOP)
        began = time.monotonic()
        seen = [await screen()]
        try:
            while seen[-1]["env"] == "1-0" and time.monotonic() - began < 2 * TAKEN_OVER_WITHIN:
                await asyncio.sleep(0.1)  # a reader's pace, no wait for a state
                seen.append(await screen())
            took = time.monotonic() - began
            watched = (await client.get("/api/v1/watched")).json()
        finally:
            os.kill(runners[0], signal.SIGCONT)
        assert seen[-1]["env"] == "2-0"
        assert took <= TAKEN_OVER_WITHIN
        numbers = [each["sequence"] for each in seen]
        assert numbers == sorted(numbers), "no picture of before comes again"
        (takeover,) = watched["takeovers"]
        assert (takeover["why"], takeover["left"], takeover["env_step"]) == ("silent", "1-0", 5000)
        print(f"taken over {took:.1f} s after SIGSTOP")  # noqa: T201  # the figure, with -s
        # The first runner plays again, and the screen stays where it is.
        await eventually(lambda: _rises(screen), "the second one's picture moves", seconds=SECONDS)
        assert (await screen())["env"] == "2-0"


async def _rises(screen: Callable[[], Awaitable[dict[str, Any]]]) -> bool:
    first = await screen()
    await asyncio.sleep(0.5)
    second = await screen()
    return bool(second["sequence"] >= first["sequence"] + 3 and first["env"] == second["env"])
