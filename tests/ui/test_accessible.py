"""Accessibility of every page by axe, in both themes, on desktop and phone."""

import os
import sys
from pathlib import Path
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.storage.file import FileStore
from rlaif.testing.page.stage import Stage

AXE = Path(sys.prefix) / "page-tools/node_modules/axe-core/axe.min.js"
"""Fetched by `make test-ui`; development only."""

PAGES = (
    "/",
    "/runs",
    "/segments",
    "/segments/episode-1/segment-0001",
    "/review",
    "/models",
    "/models/1",
    "/map",
    "/llm",
    "/system",
)

RULES = "['wcag2a', 'wcag2aa', 'wcag21a', 'wcag21aa', 'wcag22aa', 'best-practice']"

FOUND = """axe.run(document, { runOnly: %s, resultTypes: ['violations'] }).then(({ violations }) =>
    violations.map(({ id, nodes: [{ target, html }] }) => `${id}: ${target} ${html}`))"""
"""JavaScript: what is wrong, with the first place of each."""


STATE_IS_SEEN = """(() => {
    const [chip, word] = ['#status', '#status strong'].map(
        each => document.querySelector(each).getBoundingClientRect());
    return word.left >= chip.left && word.right <= chip.right + 1;
})()"""
"""JavaScript: whether the header has room for the word that says whether the page is live."""


SAME_IDS = """[...document.querySelectorAll('[id]')].map(({ id }) => id)
    .filter((id, at, all) => all.indexOf(id) !== at)"""
"""JavaScript: ids that two elements have; axe does not report them."""


@pytest.fixture
def axe() -> str:
    """The source of axe; a skip, or a failure where a browser is required."""
    if not AXE.is_file():
        reason = "axe-core is not installed: make test fetches it"
        if os.environ.get("REQUIRE_BROWSER") == "1":
            pytest.fail(f"REQUIRE_BROWSER=1, but {reason}")
        pytest.skip(reason)
    return AXE.read_text()


async def test_nothing_on_any_page_keeps_anybody_out(
    chromium: Any, hud_url: str, bus: Bus, episodes: FileStore, axe: str
) -> None:
    stage = Stage(bus, episodes)
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    await stage.segments(8, exported=8, scored=8)
    await stage.publish(1)
    await stage.reject()
    await chromium.open(hud_url)
    await stage.health("trainer", "judge")
    for tell in (stage.progress, stage.rewards, stage.assistance, stage.search, stage.curriculum):
        await tell()
    await stage.calls(4)
    await stage.calls(4, "timeout")
    await chromium.wait_for("document.querySelectorAll('#search .finds li').length > 0")
    found = {}
    for page in PAGES:
        await chromium.open(hud_url + page)
        await chromium.wait_for("document.querySelector('#status').dataset.state !== 'connecting'")
        await chromium.evaluate(f"{axe}; 0")
        assert await chromium.evaluate(SAME_IDS) == [], f"{page} has an id twice"
        for theme, rules in (("dark", RULES), ("light", "['wcag2aa']")):
            await chromium.evaluate(f"document.documentElement.dataset.theme = {theme!r}; 0")
            found[f"{page}, {theme}"] = await chromium.evaluate(FOUND % rules)
        await chromium.resize(390, 844)
        found[f"{page}, phone"] = await chromium.evaluate(FOUND % RULES)
        wide = "document.documentElement.scrollWidth > window.innerWidth"
        assert not await chromium.evaluate(wide), f"{page} is wider than a phone"
        for width in (320, 768):
            await chromium.resize(width, 800)
            await chromium.wait_for(f"window.innerWidth === {width}")
            assert not await chromium.evaluate(wide), f"{page} scrolls sideways at {width} pixels"
            assert await chromium.evaluate(STATE_IS_SEEN), (
                f"no state in the header at {width} pixels"
            )
        await chromium.resize(1440, 1100)
    await chromium.open(hud_url + "/segments")
    await chromium.evaluate(f"{axe}; document.documentElement.dataset.theme = 'dark'; 0")
    await chromium.wait_for("document.querySelectorAll('table.segments tbody tr').length === 8")
    busy = "document.querySelector('table.segments').setAttribute('aria-busy', 'true'); 0"
    await chromium.evaluate(busy)
    found["/segments, while a list is fetched"] = await chromium.evaluate(FOUND % RULES)
    wrong = [f"{where}: {each}" for where, faults in found.items() for each in faults]
    assert wrong == [], "\n".join(wrong)
