"""Queues and dead letters by REST; NATS is a fake."""

from datetime import timedelta
from typing import Any

import pytest

from rlaif.bus.errors import BusUnavailableError, UnknownDeadLetterError
from rlaif.bus.queues import Queue, Queues, StreamFill
from rlaif.contracts.catalog import envelop
from rlaif.hud.read_model.projections import HudState
from rlaif.hud.routes.system import system_router
from rlaif.testing.data.events import NOON, dead_letter_of
from rlaif.testing.page.broadcasts import broadcast_of
from rlaif.testing.servers.client import client_of


class FakeBus:
    """Sends any event again but `captured:7`; counts how often the queues were asked for."""

    def __init__(self) -> None:
        self.asked = 0
        self.away = False

    async def queues(self) -> Queues:
        self.asked += 1
        if self.away:
            raise BusUnavailableError("no answer")
        return Queues(
            (StreamFill("DEAD", 1, 512, None),),
            (Queue("exporter", "CAPTURES", "rlaif.segment.captured.v1", 3, 1, 0, None),),
        )

    async def redrive(self, event_id: str) -> str:
        if event_id == "captured:7":
            raise UnknownDeadLetterError(f"no dead letter of event {event_id!r}")
        return f"{event_id}#again-1"


def letter(event_id: str) -> Any:
    data = dead_letter_of(event_id, attempts=2, original="never shown")
    return envelop(data, source="rlaif/exporter", time=NOON)


class System:
    """The routes over a fake bus."""

    def __init__(self) -> None:
        self.now = NOON
        self.bus: FakeBus | None = FakeBus()
        self.state = HudState(epoch="e")
        broadcast = broadcast_of(self.state, clock=lambda: self.now)
        bus: Any = lambda: self.bus  # noqa: E731
        self.client = client_of(system_router(bus, broadcast, lambda: self.now))


@pytest.fixture
def system() -> System:
    return System()


async def test_queues_are_as_nats_has_them(system: System) -> None:
    answer = await system.client.get("/api/v1/queues")
    assert answer.headers["cache-control"] == "no-store"
    (queue,) = answer.json()["queues"]
    assert (queue["consumer"], queue["pending"]) == ("exporter", 3)
    assert queue["acknowledged_at"] is None, "nothing was handled, and not at the beginning of time"
    assert answer.json()["streams"][0]["max_bytes"] is None


async def test_many_pages_ask_nats_once_in_a_while(system: System) -> None:
    for _ in range(5):
        await system.client.get("/api/v1/queues")
    assert system.bus is not None
    assert system.bus.asked == 1
    system.now += timedelta(seconds=2)
    await system.client.get("/api/v1/queues")
    assert system.bus.asked == 2


async def test_without_nats_it_reports_it(system: System) -> None:
    assert system.bus is not None
    system.bus.away = True
    assert (await system.client.get("/api/v1/queues")).status_code == 503
    system.bus = None
    for method, path in (("GET", "/api/v1/queues"), ("POST", "/api/v1/dead-letters/redrive")):
        answer = await system.client.request(method, path, json={"event_id": "captured:1"})
        assert answer.status_code == 503
        assert answer.json()["type"] == "/problems/bus-unavailable"


async def test_dead_letters_say_why_and_not_what_the_newest_first(system: System) -> None:
    for number in (1, 2, 3):
        system.state.apply_event(letter(f"captured:{number}"))
    body = (await system.client.get("/api/v1/dead-letters", params={"limit": 2})).json()
    assert body["count"] == 3
    assert [each["event_id"] for each in body["items"]] == ["captured:3", "captured:2"]
    assert body["items"][0]["reason"] == "corrupt_capture"
    assert "original" not in body["items"][0]


async def test_an_event_that_is_sent_again_is_no_longer_a_dead_letter(system: System) -> None:
    system.state.streams_opened()
    system.state.apply_event(letter("captured:1"))
    assert system.state.snapshot(NOON).dead_letters.count == 1
    answer = await system.client.post(
        "/api/v1/dead-letters/redrive", json={"event_id": "captured:1"}
    )
    assert answer.json()["new_event_id"] == "captured:1#again-1"
    assert system.state.snapshot(NOON).dead_letters.count == 0
    assert (await system.client.get("/api/v1/dead-letters")).json() == {"items": [], "count": 0}
    assert system.state.journal.latest(1)[0].kind == "letter.redriven"


async def test_an_event_that_is_not_dead_is_not_sent(system: System) -> None:
    answer = await system.client.post(
        "/api/v1/dead-letters/redrive", json={"event_id": "captured:7"}
    )
    assert answer.status_code == 404
    assert "captured:7" in answer.json()["detail"]
