import asyncio
import json
from collections.abc import Callable
from datetime import UTC, datetime
from functools import partial
from typing import Any

import pytest

from rlaif.hud.browsers.deltas import applied
from rlaif.hud.browsers.frame_group import CROWD, pack_group
from rlaif.hud.browsers.hub import Hub, HubClosedError, HubFullError, pump
from rlaif.hud.browsers.outbox import Outbox, Resync
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.read_model.views import Snapshot
from rlaif.testing.waiting import eventually

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def make_hub(most_clients: int = 8) -> Hub:
    state = HudState(epoch="e")
    return Hub(lambda: state.snapshot(NOON), most_clients=most_clients)


class Browser:
    """Collects what is sent; blocks while `stalled`."""

    def __init__(self) -> None:
        self.received: list[str | bytes] = []
        self.flowing = asyncio.Event()
        self.flowing.set()

    async def send(self, item: str | bytes) -> None:
        await self.flowing.wait()
        self.received.append(item)

    @property
    def frames(self) -> list[bytes]:
        return [item for item in self.received if isinstance(item, bytes)]

    def has_drawn(self, number: int) -> bool:
        return self.frames[-1:] == [b"%d" % number]

    @property
    def types(self) -> list[str]:
        return [json.loads(item)["type"] for item in self.received if isinstance(item, str)]


@pytest.fixture
async def attach() -> object:
    tasks: list[asyncio.Task[None]] = []

    def start(hub: Hub, browser: Browser, *, send_timeout: float = 30) -> Outbox:
        outbox = hub.join()
        sending = pump(outbox, browser.send, hub.opening, send_timeout=send_timeout)
        tasks.append(asyncio.create_task(sending))
        return outbox

    yield start
    for task in tasks:
        task.cancel()
    await asyncio.gather(*tasks, return_exceptions=True)


Attach = Callable[..., Outbox]


async def test_a_browser_starts_with_a_snapshot_and_the_newest_frame(attach: Attach) -> None:
    hub, browser = make_hub(), Browser()
    hub.send_frame(1, b"old")
    hub.send_frame(2, b"new")
    attach(hub, browser)
    await eventually(lambda: len(browser.received) == 2, "snapshot and frame")
    assert browser.types == ["snapshot"]
    assert browser.frames == [b"new"]


async def test_a_slow_browser_does_not_delay_a_fast_one(attach: Attach) -> None:
    hub, slow, fast = make_hub(), Browser(), Browser()
    slow.flowing.clear()
    lazy, quick = attach(hub, slow), attach(hub, fast)
    for number in range(1, 51):
        hub.send_frame(number, b"%d" % number)
        quick.ack(number - 1)
        await eventually(partial(fast.has_drawn, number), "the fast one has it")
    assert len(fast.frames) == 50
    assert slow.received == []
    slow.flowing.set()
    await eventually(lambda: slow.frames == [b"48", b"49", b"50"], "the slow one gets the newest")
    assert lazy.frames_skipped == 47


async def test_a_browser_that_acknowledges_nothing_gets_twelve_frames(attach: Attach) -> None:
    hub, browser = make_hub(), Browser()
    outbox = attach(hub, browser)
    for number in range(1, 21):
        hub.send_frame(number, b"%d" % number)
        await asyncio.sleep(0)
        await asyncio.sleep(0)
    await eventually(lambda: len(browser.frames) == 12, "twelve frames")
    outbox.ack(20)
    await eventually(lambda: browser.frames[-1:] == [b"20"], "the newest after the ack")
    assert len(browser.frames) == 13


async def test_in_a_crowd_frames_go_in_groups_and_each_page_gets_each_once() -> None:
    hub = make_hub(64)
    groups, singles = pages_of(hub, CROWD - 1, in_groups=True), pages_of(hub, 1, in_groups=False)
    for number in range(1, 5):
        hub.send_frame(number, b"%d" % number)
    late = pages_of(hub, 1, in_groups=True)
    for number in range(5, 13):
        hub.send_frame(number, b"%d" % number)
        if number == 6:
            late += pages_of(hub, 1, in_groups=True)  # in the midst of a group
    together = [pack_group([b"%d" % each for each in range(n, n + 4)]) for n in (1, 5, 9)]
    assert all(frames_for(page) == together for page in groups)
    assert frames_for(singles[0]) == [b"10", b"11", b"12"], "the newest three; it took none before"
    assert frames_for(late[0]) == [b"4", *together[1:]]
    assert frames_for(late[1]) == [b"7", b"8", together[2]], "6 was the newest when it came"


async def test_when_the_crowd_leaves_the_frames_that_wait_go_out_first() -> None:
    hub = make_hub(64)
    first, *others = pages_of(hub, CROWD, in_groups=True)
    hub.send_frame(1, b"1")
    for each in others:
        hub.leave(each)
    hub.send_frame(2, b"2")
    assert frames_for(first) == [pack_group([b"1"]), b"2"]


def pages_of(hub: Hub, count: int, *, in_groups: bool) -> list[Outbox]:
    pages = [hub.join() for _ in range(count)]
    for page in pages:
        page.limit_rate(30, in_groups=in_groups)
    return pages


def frames_for(page: Outbox) -> list[bytes]:
    """All that waits for a page, whatever its rate."""
    found, now = [], 0.0
    while (item := page.take(now)) is not None:
        now += 1
        if isinstance(item, bytes):
            found.append(item)
    return found


async def test_pages_that_come_at_once_share_one_opening() -> None:
    state, taken = HudState(epoch="e"), 0

    def snapshot() -> Snapshot:
        nonlocal taken
        taken += 1
        return state.snapshot(NOON)

    hub = Hub(snapshot, most_clients=8)
    openings = {hub.join().take(0.0) for _ in range(5)}
    assert len(openings) == 1
    assert taken == 2, "once for the sections that all are told, once for the rest"


async def test_every_page_ends_with_the_same_state_however_late_it_came_or_slow_it_is() -> None:
    hub = make_hub()
    values: dict[str, Any] = {"loop": {"captured": 1, "at": None}, "segments": [{"id": 1}]}
    pages: list[tuple[Outbox, dict[str, Any]]] = []
    for number in range(1, 30):
        if number % 7 == 0:
            pages.append((hub.join(), {}))
        if number == 25:
            pages[0][0].put_resync()
        values["loop"] = values["loop"] | {"captured": number}
        values["segments"] = [{"id": number, "text": "x" * 20}, *values["segments"]][:9]
        hub.send_sections(values, now=NOON)
        for index, (outbox, state) in enumerate(pages):
            if number % (index + 1) == 0:  # one takes each, one every second, one every third …
                read(outbox, state, float(number), hub)
    for outbox, state in pages:
        read(outbox, state, 99.0, hub)
        assert {name: state[name] for name in values} == values
    assert len(pages) == 4


def read(outbox: Outbox, state: dict[str, Any], now: float, hub: Hub) -> None:
    while (item := outbox.take(now)) is not None:
        assert not isinstance(item, bytes)
        said = json.loads(hub.opening() if isinstance(item, Resync) else item)
        state |= said["data"]
        for name, change in said.get("changes", {}).items():
            state[name] = applied(state[name], change)


async def test_a_flood_of_events_ends_in_a_snapshot(attach: Attach) -> None:
    hub, browser = make_hub(), Browser()
    browser.flowing.clear()
    outbox = attach(hub, browser)
    await asyncio.sleep(0)
    for number in range(1500):
        outbox.put_event(f'{{"type":"event","data":{number}}}')
    browser.flowing.set()
    await eventually(lambda: browser.types[-1:] == ["snapshot"], "the new snapshot")
    assert browser.types == ["snapshot", "snapshot"]


async def test_there_are_no_more_places_than_allowed() -> None:
    hub = make_hub(most_clients=1)
    first = hub.join()
    with pytest.raises(HubFullError, match="1 pages"):
        hub.join()
    hub.leave(first)
    hub.leave(first)
    hub.join()
    assert hub.clients == 1


async def test_nobody_joins_a_closed_hub() -> None:
    hub = make_hub()
    hub.close()
    with pytest.raises(HubClosedError):
        hub.join()


async def test_a_browser_that_takes_nothing_for_too_long_is_given_up() -> None:
    hub, browser = make_hub(), Browser()
    browser.flowing.clear()
    with pytest.raises(TimeoutError):
        await pump(hub.join(), browser.send, hub.opening, send_timeout=0.01)
