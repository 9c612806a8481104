import asyncio
from collections.abc import AsyncIterator, Awaitable, Callable
from contextlib import asynccontextmanager
from pathlib import Path
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, EventData
from rlaif.hud import connections
from rlaif.hud.connections import BusLink, read_scores
from rlaif.hud.read_model.projections import HudState
from rlaif.storage.file import FileStore
from rlaif.testing.data.events import NOON, segment_captured
from rlaif.testing.data.judging.scored_segments import play as scored_play
from rlaif.testing.data.judging.scored_segments import write_scored
from rlaif.testing.page.broadcasts import broadcast_of
from rlaif.testing.waiting import eventually


class FakeBus:
    """One event in its history; `broken` ends its feed."""

    def __init__(self) -> None:
        self.connected = True
        self.broken = asyncio.Event()
        self.closed = False

    def feed(self) -> "FakeBus":
        return self

    async def follow(
        self, *events: type[EventData], history: bool
    ) -> AsyncIterator[CloudEvent[Any]]:
        yield envelop(segment_captured(), source="t", time=NOON)
        await self.broken.wait()

    async def subscribe(self, subject: str) -> AsyncIterator[tuple[str, bytes]]:
        await asyncio.Event().wait()
        yield subject, b""

    def telemetry(self) -> "FakeBus":
        return self

    async def send(self, reading: object) -> None:
        raise AssertionError("no screen was requested")

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        raise AssertionError("the HUD sends no frames")

    async def close(self) -> None:
        self.closed = True


@asynccontextmanager
async def linked(
    state: HudState, connect: Callable[[], Awaitable[FakeBus]], patch: pytest.MonkeyPatch
) -> AsyncIterator[BusLink]:
    patch.setattr(connections, "FIRST_PAUSE", 0.01)
    link = BusLink(connect, broadcast_of(state))  # type: ignore[arg-type]
    task = asyncio.create_task(link.run())
    yield link
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


async def test_a_bus_that_is_not_there_yet_is_tried_again(
    state: HudState, monkeypatch: pytest.MonkeyPatch
) -> None:
    tries = 0

    async def connect() -> FakeBus:
        nonlocal tries
        tries += 1
        if tries < 3:
            raise BusUnavailableError("no NATS at 127.0.0.1:4222")
        return FakeBus()

    async with linked(state, connect, monkeypatch) as link:
        await eventually(lambda: tries == 1 and link.check() != "not connected yet", "one try")
        assert link.check() == "no NATS at 127.0.0.1:4222"
        await eventually(lambda: link.check() is None, "the bus is there")
        await eventually(lambda: state.snapshot(NOON).loop.captured == 1, "the history is folded")


async def test_a_feed_that_ends_is_followed_again_without_counting_twice(
    state: HudState, monkeypatch: pytest.MonkeyPatch
) -> None:
    buses: list[FakeBus] = []

    async def connect() -> FakeBus:
        buses.append(FakeBus())
        return buses[-1]

    async with linked(state, connect, monkeypatch) as link:
        await eventually(lambda: state.journal.last_id == 1, "the first history")
        buses[0].broken.set()
        await eventually(lambda: len(buses) == 2 and link.check() is None, "a second connection")
        assert buses[0].closed
        assert state.snapshot(NOON).loop.captured == 1
    assert buses[1].closed


async def test_a_lost_server_is_reported_while_the_connection_comes_back(
    state: HudState, monkeypatch: pytest.MonkeyPatch
) -> None:
    bus = FakeBus()

    async def connect() -> FakeBus:
        return bus

    async with linked(state, connect, monkeypatch) as link:
        await eventually(lambda: link.check() is None, "the bus is there")
        bus.connected = False
        assert link.check() == "NATS does not answer; reconnecting"


async def test_a_score_under_an_impossible_key_does_not_hold_up_the_others(
    state: HudState, tmp_path: Path
) -> None:
    store = FileStore(tmp_path)
    play = write_scored(store, scored_play(episodes=1, each=1, signal=True)[0])
    for event in (play.model_copy(update={"segment_id": "first", "score_key": "../x"}), play):
        state.apply_event(envelop(event, source="t", time=NOON))
    reading = asyncio.create_task(read_scores(store, state, pause=0.01))
    await eventually(lambda: state.segments.unread(10) == [], "both were read")
    reading.cancel()
    problems = [row.score_problem for row in state.snapshot(NOON).segments]
    assert problems.count(None) == 1
