"""A service lives without its servers, says what is missing, and starts over after a loss."""

import asyncio
import contextlib
import logging
import threading
from collections.abc import Callable
from typing import Any

import pytest

from rlaif.contracts.telemetry.readings import ServiceHealth, Telemetry
from rlaif.service.health import Readiness
from rlaif.service.lifecycle import Lifecycle
from rlaif.testing.waiting import eventually


class AwayError(Exception):
    pass


class FakeBus:
    address = "nats.example:4222"

    def __init__(self) -> None:
        self.connected = True
        self.closed = False
        self.reported: list[ServiceHealth] = []

    def telemetry(self) -> "FakeBus":
        return self

    async def send(self, reading: Telemetry) -> None:
        assert isinstance(reading, ServiceHealth)
        assert not self.closed
        self.reported.append(reading)

    async def close(self) -> None:
        self.closed = True


class FakeJob:
    """Works until it is stopped, or until `broken` has an error for it."""

    def __init__(self, bus: FakeBus) -> None:
        self.bus = bus
        self.healthy = True
        self.broken: asyncio.Future[None] = asyncio.get_running_loop().create_future()
        self.bus_was_open_at_the_end: bool | None = None

    async def run(self) -> None:
        try:
            await self.broken
        finally:
            self.bus_was_open_at_the_end = not self.bus.closed

    async def stop(self) -> None:
        if not self.broken.done():
            self.broken.set_result(None)


class World:
    """Servers that can be away, and what was opened and started."""

    def __init__(self, *, retry_seconds: float = 0.01) -> None:
        self.store_error: Exception | None = None
        self.bus_error: Exception | None = None
        self.store_opened_in: list[int] = []
        self.buses: list[FakeBus] = []
        self.jobs: list[FakeJob] = []
        self.bus_gate = asyncio.Event()
        self.bus_gate.set()
        self.readiness = Readiness()
        self.lifecycle = Lifecycle(
            name="tester",
            open_store=self._open_store,
            open_bus=self._open_bus,
            start=self._start,
            outage_errors=(AwayError,),
            retry_seconds=retry_seconds,
        )
        self.lifecycle.add_checks(self.readiness)

    def _open_store(self) -> str:
        self.store_opened_in.append(threading.get_ident())
        if self.store_error is not None:
            raise self.store_error
        return "the store"

    async def _open_bus(self) -> FakeBus:
        await self.bus_gate.wait()
        if self.bus_error is not None:
            raise self.bus_error
        self.buses.append(FakeBus())
        return self.buses[-1]

    def _start(self, store: str, bus: FakeBus) -> FakeJob:
        assert store == "the store"
        self.jobs.append(FakeJob(bus))
        return self.jobs[-1]

    def running(self) -> Any:
        return self.lifecycle.running(self.readiness)

    async def details(self) -> dict[str, str | None]:
        report = await self.readiness.report()
        return {name: check.detail for name, check in report.checks.items()}

    async def ready(self) -> bool:
        return (await self.readiness.report()).status == "ready"

    def says(self, **wanted: str | None) -> Callable[[], Any]:
        async def compare() -> bool:
            return wanted.items() <= (await self.details()).items()

        return compare


@contextlib.asynccontextmanager
async def ready_world():
    world = World()
    async with world.running():
        await eventually(world.ready, "ready")
        yield world


async def test_a_store_that_is_away_is_named_and_tried_again():
    world = World()
    world.store_error = AwayError("connection refused")
    async with world.running():
        await eventually(world.says(store="connection refused", bus=None), "the reason")
        assert await world.details() == {
            "bus": None,
            "store": "connection refused",
            "worker": "waits for NATS and the store",
        }
        world.store_error = None
        await eventually(world.ready, "ready")


async def test_the_checks_are_reported_on_the_bus_at_once_when_they_change():
    world = World()
    world.store_error = AwayError("connection refused")
    async with world.running():
        await eventually(lambda: any(bus.reported for bus in world.buses[:1]), "a first word")
        first = world.buses[0].reported[0]
        assert (first.service, first.status) == ("tester", "not ready")
        await eventually(
            lambda: world.buses[0].reported[-1].checks["store"] == "connection refused",
            "the reason",
        )
        world.store_error = None
        await eventually(lambda: world.buses[0].reported[-1].status == "ready", "the good news")
    reported = world.buses[0].reported
    assert reported[-1].status == "stopping"
    assert len({health.instance for health in reported}) == 1
    assert len(world.buses) == 1  # a store that is away costs no connection


async def test_unchanged_values_are_repeated():
    world = World()
    async with world.running():
        await eventually(
            lambda: sum(h.status == "ready" for b in world.buses for h in b.reported) >= 2,
            "said twice",
        )
    assert len(world.buses[0].reported) <= 5


async def test_a_bus_that_is_away_is_named_and_tried_again():
    world = World()
    world.bus_error = AwayError("no NATS at nats.example:4222")
    async with world.running():
        await eventually(world.says(bus="no NATS at nats.example:4222", store=None), "the reason")
        assert world.lifecycle.store == "the store"
        world.bus_error = None
        await eventually(world.ready, "ready")


async def test_an_error_without_a_text_is_named_by_its_class():
    world = World()
    world.bus_error = AwayError()
    async with world.running():
        await eventually(world.says(bus="AwayError"), "the reason")


async def test_a_lost_connection_is_reported_while_it_comes_back():
    async with ready_world() as world:
        world.buses[0].connected = False
        assert (await world.details())["bus"] == "lost NATS at nats.example:4222; reconnecting"
        world.buses[0].connected = True
        assert await world.ready()
    assert len(world.buses) == 1


async def test_a_job_that_fetches_nothing_is_reported():
    async with ready_world() as world:
        world.jobs[0].healthy = False
        assert (await world.details())["worker"] == "has not fetched events for a while"


@pytest.mark.parametrize(
    ("error", "level", "message"),
    [
        (AwayError("lost for good"), logging.WARNING, "waiting for dependency: lost for good"),
        (
            ExceptionGroup("tasks", [ExceptionGroup("more", [AwayError("lost for good")])]),
            logging.WARNING,
            "waiting for dependency: lost for good",
        ),
        (KeyError("a bug"), logging.ERROR, "the job failed; restarting it"),
        (
            ExceptionGroup("tasks", [AwayError("lost for good"), KeyError("a bug")]),
            logging.ERROR,
            "the job failed; restarting it",
        ),
    ],
)
async def test_a_job_that_ends_in_an_error_is_started_again_on_a_new_connection(
    error, level, message, caplog
):
    async with ready_world() as world:
        world.jobs[0].broken.set_exception(error)
        await eventually(lambda: len(world.jobs) == 2, "a second job")
        assert world.buses[0].closed
        assert world.lifecycle.job is world.jobs[1]
        assert world.jobs[1].bus is world.buses[1]
        assert await world.ready()
    assert [(r.levelno, r.getMessage()) for r in caplog.records] == [(level, message)]


async def test_it_stops_the_job_before_it_closes_the_bus():
    async with ready_world() as world:
        pass
    assert world.jobs[0].bus_was_open_at_the_end
    assert world.buses[0].closed
    assert (await world.readiness.report()).status == "stopping"
    assert len(world.jobs) == 1


async def test_a_stop_does_not_wait_for_the_next_try():
    world = World(retry_seconds=3600)
    world.store_error = AwayError("connection refused")
    async with world.running():
        await eventually(world.says(store="connection refused"), "it pauses")
    assert world.jobs == []


async def test_a_stop_while_it_connects_does_not_wait_for_the_connection():
    world = World()
    world.bus_gate.clear()
    async with world.running():
        await eventually(world.says(store=None), "the store is open")
    assert world.readiness.stopping
    assert (world.buses, world.jobs) == ([], [])


async def test_a_connection_that_opens_as_it_is_asked_to_stop_is_closed_and_gets_no_job():
    world = World()
    world.bus_gate.clear()
    async with world.running():
        await eventually(world.says(store=None), "the store is open")
        world.bus_gate.set()  # in the same turn of the loop as the stop
    assert world.jobs == []
    assert [bus.closed for bus in world.buses] == [True]
