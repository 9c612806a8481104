import asyncio
import json
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.hud.browsers.hub import Hub, pump
from rlaif.hud.browsers.outbox import Outbox, Resync
from rlaif.hud.read_model.projections import HudState
from rlaif.service.problems import Problem
from rlaif.testing.data.events import NOON
from rlaif.testing.waiting import eventually


def make_hub(max_clients: int = 8) -> Hub:
    state = HudState(epoch="e")
    return Hub(lambda: state.snapshot(NOON), max_clients=max_clients)


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


async def test_every_page_ends_with_the_same_state_however_late_it_came_or_slow_it_is() -> None:
    state_of_all = HudState(epoch="e")
    values: dict[str, Any] = {"loop": {"captured": 1, "at": None}, "segments": [{"id": 1}]}
    hub = Hub(lambda: state_of_all.snapshot(NOON).model_copy(update=values), max_clients=8)
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
                read(outbox, state, hub)
    for outbox, state in pages:
        read(outbox, state, hub)
        assert {name: state[name] for name in values} == values
    assert len(pages) == 4


def read(outbox: Outbox, state: dict[str, Any], hub: Hub) -> None:
    while (item := outbox.take()) is not None:
        assert not isinstance(item, bytes)
        said = json.loads(hub.opening() if isinstance(item, Resync) else item)
        state |= said["data"]


async def test_there_are_no_more_places_than_allowed() -> None:
    hub = make_hub(max_clients=1)
    first = hub.join()
    with pytest.raises(Problem) as refused:
        hub.join()
    assert refused.value.type == "too-many-pages"
    hub.leave(first)
    hub.leave(first)
    hub.join()
    assert hub.clients == 1


async def test_no_page_joins_a_closed_hub() -> None:
    hub = make_hub()
    hub.close()
    with pytest.raises(Problem) as refused:
        hub.join()
    assert refused.value.type == "stopping"


async def test_a_browser_that_takes_nothing_for_too_long_is_given_up() -> None:
    hub, browser = make_hub(), Browser()
    browser.flowing.clear()
    with pytest.raises(TimeoutError):
        await pump(hub.join(), browser.send, hub.opening, send_timeout=0.01)
