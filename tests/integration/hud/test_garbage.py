"""What closed pages leave behind is freed soon, not when a quarter of all objects are new."""

import gc
from collections.abc import Callable, Iterator
from contextlib import AbstractAsyncContextManager
from functools import partial
from typing import Any

import pytest

from rlaif.hud import garbage
from rlaif.hud.browsers.outbox import Outbox
from rlaif.testing.waiting import eventually

OpenPage = Callable[..., AbstractAsyncContextManager[Any]]
StartHud = Callable[..., AbstractAsyncContextManager[str]]


@pytest.fixture
def python_collects_nothing() -> Iterator[None]:
    gc.collect()
    gc.disable()
    yield
    gc.enable()


async def test_pages_that_left_are_freed_though_python_collects_nothing(
    bus: object,
    start_hud: StartHud,
    open_page: OpenPage,
    python_collects_nothing: None,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(garbage, "COLLECT_SECONDS", 0.2)
    before = _outboxes()
    async with start_hud() as url:
        for _ in range(5):
            async with open_page(url) as page:
                await eventually(partial(_is_served, page), "the page is served")
        await eventually(lambda: _outboxes() <= before, "what the pages left behind is freed")


def _is_served(page: Any) -> bool:
    return bool(page.messages)


def _outboxes() -> int:
    return sum(type(each) is Outbox for each in gc.get_objects())
