"""A real browser, and a HUD with a real NATS behind it."""

import os
from collections.abc import AsyncIterator, Iterator
from pathlib import Path

import pytest

from rlaif.bus.connection import Bus
from rlaif.hud.app import create_app
from rlaif.hud.settings import HudSettings
from rlaif.storage.file import FileStore
from rlaif.testing.page.browser import (
    Chromium,
    Shoot,
    chromium_path,
    empty_page,
    running_chromium,
)
from rlaif.testing.servers.http_server import serve


@pytest.fixture(scope="session")
def browser(tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The machine's browser, by its address; a skip, or a failure where one is required."""
    path = chromium_path()
    if path is None:
        reason = "no Chromium for the page: make test fetches one for Linux on x86-64"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(f"REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    with running_chromium(path, tmp_path_factory.mktemp("chromium")) as address:
        yield address


@pytest.fixture
async def chromium(browser: str) -> AsyncIterator[Chromium]:
    """An empty page with a storage of its own.

    The page logs an error if a panel fails to render, which fails the test.
    """
    async with empty_page(browser) as page:
        yield page
        assert page.logged == []


@pytest.fixture
async def hud_url(bus: Bus, nats_url: str, tmp_path: Path) -> AsyncIterator[str]:
    """A HUD on a free port, with the test's NATS and a folder as its store.

    Judge and reward-model service are unavailable: nothing listens at their address.
    """
    settings = HudSettings(
        nats_url=nats_url,
        episodes_store=f"file://{tmp_path / 'episodes'}",
        judge_url="http://127.0.0.1:9",
        reward_model_url="http://127.0.0.1:9",
    )
    async with serve(create_app(settings)) as url:
        yield url


@pytest.fixture
def episodes(tmp_path: Path) -> FileStore:
    """The folder that `hud_url` reads objects from."""
    return FileStore(tmp_path / "episodes")


@pytest.fixture
def shoot(chromium: Chromium, request: pytest.FixtureRequest) -> Shoot:
    """Saves pictures in the folder `SCREENSHOTS`: desktop and phone, light and dark theme."""
    about = request.path.stem.removeprefix("test_")

    async def save(name: str) -> None:
        folder = os.environ.get("SCREENSHOTS")
        if folder is not None:
            for size, kind in (((1440, 1100), "desk"), ((390, 844), "phone")):
                await chromium.resize(*size)
                await chromium.wait_for(f"window.innerWidth === {size[0]}")
                for theme in ("light", "dark"):
                    await chromium.evaluate(f"document.documentElement.dataset.theme = '{theme}'")
                    await chromium.screenshot(Path(folder) / f"{about}.{name}.{kind}.{theme}.png")
            await chromium.evaluate("delete document.documentElement.dataset.theme")
            await chromium.resize(1440, 1100)

    return save
