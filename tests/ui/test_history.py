"""The page's first sentence and the table of loads, and that a restarted HUD shows the same."""

from pathlib import Path
from typing import Any

import httpx

from rlaif.bus.connection import Bus
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import Shoot
from rlaif.testing.page.figures import FIGURES, contradictions
from rlaif.testing.page.stage import Stage
from rlaif.testing.servers.http_server import serve

SENTENCE = "document.getElementById('headline-sentence').textContent"
TABLE = "[...document.querySelectorAll('.loads-table tbody tr')].map(row => row.textContent)"
SIDES = "document.getElementById('headline-sides').textContent"


async def test_the_first_sentence_and_before_and_after_are_the_same_after_a_restart(
    chromium: Any, bus: Bus, nats_url: str, tmp_path: Path, episodes: FileStore, shoot: Shoot
) -> None:
    await Stage(bus, episodes, run_id="run-0").past(60_000, judged=False)
    stage = Stage(bus, episodes)
    for version in (1, 2):
        await stage.publish(version)
    await stage.changed(2, 2, why="person", pinned=True, pin_reason="by hand")
    await stage.past(120_000, (1, 30_000), (2, 60_000), (1, 118_000))
    settings = HudSettings(nats_url=nats_url, episodes_store=f"file://{tmp_path / 'episodes'}")
    lives = []
    for _ in range(2):  # the second one knows only stored data
        async with serve(create_app(settings)) as url, httpx.AsyncClient(base_url=url) as client:
            await chromium.open(f"{url}/?tab=rewards")
            await chromium.wait_for(f"{TABLE}.length === 3")
            state = (await client.get("/api/v1/state")).json()
            state["loads"] = (await client.get("/api/v1/loads")).json()
            figures = [each for each in await chromium.evaluate(FIGURES) if "." in each[0]]
            ours = [each for each in figures if each[0].startswith(("headline.", "loads."))]
            assert contradictions(ours, state) == []
            said = await chromium.evaluate(SENTENCE)
            assert said == state["headline"]["text"]
            lives.append((said, await chromium.evaluate(TABLE), await chromium.evaluate(SIDES)))
            await shoot("past")
    assert lives[0] == lives[1]
    said, (back, second, first), sides = lives[1]
    assert " since reward model v1 was loaded (" in said
    assert said.endswith(" (0 of 20 episodes); v2 is live, pinned.")
    assert "too few episodes (" in back
    assert second.startswith("v2 after v1")
    assert first.startswith("v1step 30K")
    assert "with judges" in sides
    assert "runs run-1 and run-0" in sides
