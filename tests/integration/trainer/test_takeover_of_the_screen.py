"""A watched runner stops: another one's screen takes its place. A real run with runners of Ray."""

import asyncio
import os
import signal
import time
from collections.abc import AsyncIterator, Awaitable, Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from rlaif.bus.connection import Bus
from rlaif.hud.app import create_app as hud_app
from rlaif.hud.settings import HudSettings
from rlaif.testing.servers.http_server import serve
from rlaif.testing.waiting import eventually
from rlaif.trainer.service.app import create_app as trainer_app
from rlaif.trainer.settings import TrainerSettings

SECONDS = 240.0

pytestmark = [
    pytest.mark.timeout(900),
    pytest.mark.skipif(not Path("/proc/self/maps").exists(), reason="no /proc: run on Linux"),
]


@pytest.fixture
async def run(bus: Bus, nats_url: str, tmp_path: Path) -> AsyncIterator[None]:
    """The trainer's service with a run on two runners.

    Their fragments last: a runner that has played what was ordered waits for those of the others.
    """
    settings = TrainerSettings.model_validate(
        {
            "data_dir": tmp_path / "data",
            "nats_url": nats_url,
            "episodes_store": f"file://{tmp_path / 'episodes'}",
            "models_store": f"file://{tmp_path / 'models'}",
            "ray_workers": 2,
            "envs_per_worker": 1,
            "batch_size": 500_000,
            "actions": "seed",
            "noop_start": 0,
            "walk_start": 0,
            "watch_fps": 20,
            "stop_seconds": 0.5,
        }
    )
    async with serve(trainer_app(settings)):
        yield


def process_of(runner: int, data: Path) -> int:
    """The process that draws a runner's screen below `data`: a child of the training process."""
    found = []
    for folder in Path("/proc").iterdir():
        try:
            is_worker = b"rlaif.trainer.learner.runners.child" in (folder / "cmdline").read_bytes()
            maps = (folder / "maps").read_text() if is_worker else ""
            if any(
                str(data) in row and f"/screens/{runner}.rgb" in row for row in maps.split("\n")
            ):
                found.append(int(folder.name))
        except OSError:
            continue  # it ended, is another user's, or no process
    (pid,) = found
    return pid


async def test_a_stopped_runner_loses_the_screen_and_it_does_not_jump(
    run: None, nats_url: str, tmp_path: Path
) -> None:
    settings = HudSettings(nats_url=nats_url, episodes_store=f"file://{tmp_path / 'episodes'}")
    async with (
        serve(hud_app(settings)) as url,
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
        stopped = process_of(1, tmp_path / "data")
        os.kill(stopped, signal.SIGSTOP)
        began = time.monotonic()
        seen = [await screen()]
        try:

            async def another() -> bool:
                seen.append(await screen())
                return seen[-1]["env"] != "1-0"

            await eventually(another, "another one is shown", seconds=SECONDS)
            took = time.monotonic() - began
            watched = (await client.get("/api/v1/watched")).json()
            assert seen[-1]["env"] == "2-0"
            await eventually(lambda: _rises(screen), "the second one's picture moves")
        finally:
            os.kill(stopped, signal.SIGCONT)
        numbers = [each["sequence"] for each in seen]
        assert numbers == sorted(numbers), "no picture of before comes again"
        (switch,) = watched["switches"]
        assert (switch["reason"], switch["from_env"]) == ("silent", "1-0")
        print(f"taken over {took:.1f} s after SIGSTOP")  # noqa: T201  # the figure, with -s

        # The first runner plays again, and the screen stays where it is.
        await eventually(lambda: _plays(client, 1), "the first one's signs of life")
        await eventually(lambda: _rises(screen), "the second one's picture moves on")
        assert (await screen())["env"] == "2-0"


async def _plays(client: httpx.AsyncClient, runner: int) -> bool:
    signs = (await client.get("/api/v1/environments")).json()["runners"]
    return any(each["runner"] == runner and each["silent_seconds"] < 2 for each in signs)


async def _rises(screen: Callable[[], Awaitable[dict[str, Any]]]) -> bool:
    first = await screen()
    await asyncio.sleep(0.5)
    second = await screen()
    return bool(second["sequence"] >= first["sequence"] + 3 and first["env"] == second["env"])
