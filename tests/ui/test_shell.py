"""The shell of every page: addresses, keys, themes, and the state before the first update."""

import asyncio
import os
import re
from pathlib import Path
from typing import Any

import pytest

from rlaif.bus.connection import Bus
from rlaif.hud.page import STATIC
from rlaif.storage.file import FileStore
from rlaif.testing.page.stage import Stage

MAX_SHIFT = 0.1
"""Cumulative layout shift that readers do not mind."""

SHIFT = """new Promise(done => {
    const observer = new PerformanceObserver(list => {
        const late = list.getEntries().filter(({ startTime }) => startTime > 1000);
        done(late.reduce((sum, { value }) => sum + value, 0));
    });
    observer.observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(0), 500);
})"""
"""JavaScript: how far things moved after the first second, of the most that a browser remembers."""

WATCH_SHIFTS = """window.shifted = 0;
new PerformanceObserver(list => {
    for (const { value } of list.getEntries()) window.shifted += value;
}).observe({ type: 'layout-shift' })"""
"""JavaScript: sums up in `shifted` how far things move from now on."""

PLACES = """['#headline', '#screen', '#verdict', '#timeline'].map(name =>
    Math.round(document.querySelector(name).getBoundingClientRect().top))"""
"""JavaScript: where the parts of the live page are in the window."""

BANNERS = "document.querySelectorAll('.banner').length"


async def look(chromium: Any, name: str) -> None:
    """A picture of the window, where `SCREENSHOTS` names a folder."""
    if folder := os.environ.get("SCREENSHOTS"):
        await chromium.screenshot(Path(folder) / f"shell.{name}.png", whole=False)


@pytest.fixture
def stage(bus: Bus, episodes: FileStore) -> Stage:
    stage = Stage(bus, episodes)
    stage.curve = [(1500 * n, 0.5 + 0.01 * n) for n in range(1, 41)]
    return stage


SHIFTS = """new Promise(done => {
    let sum = 0;
    const add = list => list.getEntries().forEach(({ value }) => { sum += value; });
    new PerformanceObserver(add).observe({ type: 'layout-shift', buffered: true });
    setTimeout(() => done(sum), 300);
})"""
"""JavaScript: how far things have moved since the page was opened."""


@pytest.mark.parametrize(
    "path", ["/", "/segments", "/review", "/models", "/map", "/llm", "/system"]
)
async def test_a_view_that_opens_moves_little(
    chromium: Any, hud_url: str, stage: Stage, path: str
) -> None:
    await stage.segments(8, exported=8, scored=8)
    await stage.publish(1)
    for tell in (stage.progress, stage.rewards, stage.assistance, stage.world, stage.health):
        await tell()
    await stage.calls(4)
    await chromium.open(hud_url + path)
    await chromium.wait_for("document.querySelector('#status').dataset.state !== 'connecting'")
    await chromium.wait_for("document.querySelector('#page').style.visibility === ''")
    assert await chromium.evaluate(SHIFTS) <= 0.05


VISIT = """(() => {
    const all = ['navigation', 'resource'].flatMap(type => performance.getEntriesByType(type));
    const got = all.filter(({ name }) => !name.includes('/map/rooms/'));
    const bytes = got.reduce((sum, { transferSize }) => sum + transferSize, 0);
    return { names: [...new Set(got.map(({ name }) => name))], bytes };
})()"""
"""JavaScript: the addresses requested so far and the bytes received, without room pictures."""


async def test_the_first_visit_is_cheap(chromium: Any, hud_url: str, stage: Stage) -> None:
    await stage.segments(8, exported=8, scored=8)
    await stage.publish(1)
    for tell in (stage.progress, stage.rewards, stage.assistance, stage.world, stage.health):
        await tell()
    await stage.frame("env-0", 90)  # without a frame the film of the trained agent is loaded
    await chromium.open(hud_url)
    await chromium.wait_for("document.querySelectorAll('#atlas .room').length > 0")
    await chromium.wait_for("document.querySelectorAll('#timeline .time-chart').length > 0")
    await asyncio.sleep(1)  # late requests count as well
    visit = await chromium.evaluate(VISIT)
    assert len(visit["names"]) <= 40, "\n".join(visit["names"])
    assert visit["bytes"] <= 100_000


@pytest.mark.parametrize("size", [(1200, 900), (1440, 900), (1920, 1080)])
async def test_game_language_models_and_map_are_on_one_screen(
    chromium: Any, hud_url: str, stage: Stage, size: tuple[int, int]
) -> None:
    await chromium.open(hud_url, *size)
    await stage.segments(3, exported=3, scored=3)
    for tell in (stage.progress, stage.assistance, stage.wish, stage.world):
        await tell()
    await chromium.wait_for("document.querySelectorAll('#atlas .room').length > 0")
    lasting = "document.querySelector('#run-id a').getAttribute('href')"
    assert await chromium.evaluate(lasting) == "/?run=run-1"
    await chromium.wait_for("document.querySelector('#suggestions .calls li') !== null")
    outside = """['.game', '.verdict', '.player', '.world-panel', '.tabs'].filter(each => {
        const { top, right, bottom } = document.querySelector(each).getBoundingClientRect();
        return top < 0 || bottom > innerHeight || right > innerWidth || bottom - top < 30;
    })"""
    assert await chromium.evaluate(outside) == []
    await chromium.evaluate("document.querySelector('#atlas .room').click()")
    await chromium.wait_for("location.pathname === '/map' && location.search.includes('room=')")
    await chromium.wait_for("document.documentElement.dataset.page === 'map'")


async def test_tabs_are_chosen_by_arrows_and_named_in_the_address(
    chromium: Any, hud_url: str
) -> None:
    await chromium.open(f"{hud_url}/?tab=pipeline")
    await chromium.wait_for("document.querySelector('#log') !== null")
    chosen = "document.querySelector('[role=tab][aria-selected=true]').textContent"
    await chromium.evaluate("document.querySelector('#tab-pipeline').focus()")
    for key, name in (
        ("ArrowRight", "Training"),
        ("ArrowLeft", "Pipeline"),
        ("ArrowLeft", "Rewards"),
    ):
        await chromium.press(key, "")
        assert await chromium.evaluate(chosen) == name
        assert await chromium.evaluate("document.activeElement.textContent") == name
    assert await chromium.evaluate("location.search") == "?tab=rewards"
    assert await chromium.evaluate("document.querySelectorAll('#log, #timeline').length") == 0


NOTIFICATIONS = """window.shown = [];
window.Notification = class {
    static permission = 'default';
    static async requestPermission() { this.permission = 'granted'; return 'granted'; }
    constructor(title, { body }) { window.shown.push(body); }
};
Object.defineProperty(document, 'hidden', { get: () => window.away === true });"""
"""JavaScript: notifications that are kept, in a page that `away` hides."""


async def test_notifications_report_models_and_issues_in_another_tab(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await chromium.evaluate(NOTIFICATIONS)
    await stage.progress()
    await stage.load(1, 1_000)
    await chromium.wait_for("document.querySelector('#run-id').textContent.includes('run-1')")
    box = "document.querySelector('#notices')"
    assert not await chromium.evaluate(f"{box}.checked")
    await chromium.evaluate(f"{box}.click()")
    await chromium.wait_for("Notification.permission === 'granted'")
    await stage.load(2, 2_000)
    await chromium.evaluate("new Promise(done => setTimeout(done, 1500))")
    assert await chromium.evaluate("shown") == [], "the page is visible"
    await chromium.evaluate("window.away = true")
    await stage.load(3, 3_000)
    await chromium.wait_for("shown.some(each => each.includes('v3'))")
    await stage.progress(reward_model_refused=2, reward_model_refusal="hash_mismatch: not that")
    await chromium.wait_for("shown.some(each => each.includes('hash_mismatch'))")
    await chromium.evaluate(f"{box}.click()")
    assert await chromium.evaluate("localStorage.getItem('rlaif.notices')") == "off"


async def test_each_view_has_an_address_a_title_and_keys(chromium: Any, hud_url: str) -> None:
    await chromium.open(f"{hud_url}/models")
    await chromium.wait_for("document.title === 'Reward models · Zelda RLAIF'")
    assert await chromium.evaluate("document.querySelectorAll('#models').length") == 1

    await chromium.visit("/system")
    assert await chromium.evaluate("document.title") == "System · Zelda RLAIF"
    assert await chromium.evaluate("document.activeElement.id") == "main", "read from the top"
    assert await chromium.evaluate("document.querySelectorAll('#models').length") == 0
    await chromium.evaluate("history.back()")
    await chromium.wait_for(
        "location.pathname === '/models' && document.querySelector('#models') !== null"
    )

    for key in "gl":
        await chromium.press(key, key)
    await chromium.wait_for(
        "location.pathname === '/' && document.querySelector('#screen') !== null"
    )
    await chromium.press("?", "?")
    await chromium.wait_for("document.querySelector('#help').open")
    keys = await chromium.evaluate("document.querySelector('#keys').innerText")
    assert "Go to Models" in keys
    assert "Pause, or go live" in keys, "keys of the page that is open"

    await chromium.open(f"{hud_url}/segments/episode-1/no-such-segment?f=3")
    await chromium.wait_for("document.querySelector('#page').childElementCount > 0")
    assert await chromium.evaluate("location.search") == "?f=3"
    # The browser counts a service that is away (502) as an error of the page.
    assert [each for each in chromium.errors if not re.search("404|502", each)] == []


async def test_a_theme_that_was_chosen_stays(chromium: Any, hud_url: str) -> None:
    ground = "getComputedStyle(document.documentElement).backgroundColor"
    await chromium.open(hud_url)
    await chromium.wait_for("document.querySelector('#theme').title === 'Colours: system'")
    seen = {}
    for theme in ("light", "dark"):
        await chromium.evaluate("document.querySelector('#theme').click()")
        assert await chromium.evaluate("document.documentElement.dataset.theme") == theme
        seen[theme] = await chromium.evaluate(ground)
    assert seen == {"light": "rgb(238, 241, 244)", "dark": "rgb(15, 20, 25)"}
    await chromium.open(f"{hud_url}/map")
    assert await chromium.evaluate(ground) == seen["dark"]


async def test_the_footer_is_below_the_window_before_anything_is_known(
    chromium: Any, hud_url: str
) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for("document.querySelector('footer') !== null")
    top = "document.querySelector('footer').getBoundingClientRect().top"
    assert await chromium.evaluate(f"{top} >= innerHeight")
    await chromium.evaluate("document.querySelector('#page').replaceChildren()")
    assert await chromium.evaluate(f"{top} >= innerHeight"), "however little there is above it"


async def test_nothing_moves_when_values_come_and_a_second_visit_begins_with_them(
    chromium: Any, hud_url: str, stage: Stage
) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for("document.querySelector('#run').innerText !== ''")
    await stage.segments(34, exported=32, scored=30)
    await stage.health()
    await stage.progress()
    await stage.rewards()
    await chromium.wait_for("document.querySelector('#run').innerText.includes('Steps trained')")
    await chromium.wait_for("document.querySelector('#verdict .words') !== null")
    assert await chromium.evaluate(SHIFT) <= MAX_SHIFT
    # Each verdict's pictures are asked for when it is there already, twice in three seconds.
    pictures = "document.querySelector('#verdict .pictures').getBoundingClientRect().height"
    assert await chromium.evaluate(pictures) >= 101, "their place is kept until they come"


@pytest.mark.parametrize("size", [(1440, 900), (390, 844)], ids=["desk", "phone"])
async def test_a_banner_that_comes_or_goes_moves_nothing_and_is_seen(
    chromium: Any, hud_url: str, stage: Stage, size: tuple[int, int]
) -> None:
    await chromium.open(hud_url, *size)
    await stage.segments(1, exported=1, scored=1)
    await stage.progress()
    await chromium.wait_for("document.querySelector('#verdict .words') !== null")
    await chromium.wait_for("document.querySelector('#run').innerText.includes('Steps trained')")
    await chromium.wait_for(f"{BANNERS} === 0")
    now = f"JSON.stringify({PLACES})"
    await chromium.wait_for(f"window.places === {now} || !(window.places = {now})")
    places = await chromium.evaluate(PLACES)
    await chromium.evaluate(WATCH_SHIFTS)

    refusal = "hash_mismatch: the file is not the one that its manifest names; publish it again"
    for _ in range(2):
        await stage.progress(reward_model_refused=2, reward_model_refusal=refusal)
        await chromium.wait_for(f"{BANNERS} === 1")
        assert await chromium.evaluate(PLACES) == places
        seen = """[...document.querySelectorAll('.banner')].every(each => {
            const { top, bottom } = each.getBoundingClientRect();
            return top >= 0 && bottom <= innerHeight
                && each.contains(document.elementFromPoint(innerWidth / 2, (top + bottom) / 2));
        })"""
        assert await chromium.evaluate(seen), "covered, or outside of the window"
        await look(chromium, f"banners.{size[0]}")
        await stage.progress()
        await chromium.wait_for(f"{BANNERS} === 0")
        assert await chromium.evaluate(PLACES) == places
    assert await chromium.evaluate("new Promise(done => setTimeout(done, 200, shifted))") <= 0.01


async def test_a_list_keeps_what_the_reader_holds(chromium: Any, hud_url: str) -> None:
    await chromium.open(hud_url)
    kept = await chromium.evaluate(
        """(async () => {
        const { h, keyed } = await import('/static/js/dom.js');
        const list = h('ul');
        document.body.append(list);
        const draw = (...names) => keyed(list, names, name => name,
            name => h('li', {}, h('input', { value: name })),
            (element, name, index) => element.dataset.index = index);
        draw('a', 'b', 'c');
        const held = list.children[1].firstChild;
        held.focus();
        held.setSelectionRange(0, 1);
        const moved = [];
        const watcher = new MutationObserver(records => moved.push(...records));
        watcher.observe(list, { childList: true });
        const reported = [];
        for (const names of [['x', 'a', 'b', 'c'], ['b', 'c'], ['c', 'y', 'b'], ['b']]) {
            draw(...names);
            const inside = [...list.children].map(({ firstChild }) => firstChild.value).join('');
            const same = document.activeElement === held && held.selectionEnd === 1;
            reported.push([inside, same]);
        }
        moved.push(...watcher.takeRecords());
        const item = held.parentElement;
        const touched = moved.some(({ removedNodes }) => [...removedNodes].includes(item));
        return [reported, touched, item.dataset.index];
    })()"""
    )
    reported = [["xabc", True], ["bc", True], ["cyb", True], ["b", True]]
    assert kept == [reported, False, "0"]


async def test_a_panel_that_breaks_reports_it_and_leaves_the_others_alone(
    chromium: Any, hud_url: str
) -> None:
    await chromium.open(hud_url)
    shown = await chromium.evaluate(
        """(async () => {
        const { h } = await import('/static/js/dom.js');
        const { mountPanels } = await import('/static/js/parts.js');
        const { Store } = await import('/static/js/live.js');
        const store = new Store();
        store.merge({ taken_at: '2026-11-20T12:00:00Z', a: null, b: { text: 'well' } });
        const root = h('div');
        const draw = name => (body, state) => body.replaceChildren(state[name].text);
        const panel = name => ({ id: name, title: name, sections: [name], draw: draw(name) });
        const leave = mountPanels(root, { store }, ['a', 'b'].map(panel));
        const first = [...root.children].map(({ lastChild }) => lastChild.textContent);
        store.merge({ a: { text: 'back' } });
        await new Promise(done => setTimeout(done, 50));
        leave();
        return [...first, root.firstChild.lastChild.textContent];
    })()"""
    )
    assert shown[0].startswith("This panel failed to render: ")
    assert shown[1:] == ["well", "back"]
    assert len(chromium.logged) == 1
    chromium.logged.clear()


async def test_an_address_that_is_no_pages_reports_it(chromium: Any, hud_url: str) -> None:
    await chromium.open(hud_url)
    await chromium.wait_for("document.querySelector('#screen') !== null")
    await chromium.evaluate("history.pushState({}, '', '/nowhere')")
    await chromium.evaluate("dispatchEvent(new PopStateEvent('popstate', {}))")
    await chromium.wait_for("document.title === 'Not found · Zelda RLAIF'")
    assert "/nowhere" in await chromium.evaluate("document.querySelector('#page').innerText")


def test_the_navigation_of_the_page_is_the_one_of_its_registry() -> None:
    html = (STATIC / "index.html").read_text()
    registry = (STATIC / "js/routes.js").read_text()
    linked = re.findall(r'<a href="(/\w*)">(\w+)</a>', html.split("<nav")[1].split("</nav>")[0])
    assert linked == re.findall(r'path: "(/\w*)", label: "(\w+)"', registry)
