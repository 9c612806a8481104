"""The network between a service and NATS delays, holds or resets what they send."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from rlaif.bus.connection import Bus, connect
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.chaos.proxy import FaultProxy
from rlaif.testing.data.events import segment_captured
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.waiting import all_answered, eventually


@pytest.fixture
async def proxy(nats_server: NatsServer) -> AsyncIterator[FaultProxy]:
    proxy = FaultProxy(nats_server.port)
    yield proxy
    await proxy.close()


@pytest.fixture
async def far(bus: Bus, proxy: FaultProxy) -> AsyncIterator[Bus]:
    """A connection through the proxy, to the streams of `bus`."""
    opened = await connect(f"nats://127.0.0.1:{await proxy.start()}", name="far")
    yield opened
    await opened.close()


# nats-py leaves the socket of a reconnection that breaks off to the garbage collector.
@pytest.mark.filterwarnings("ignore::pytest.PytestUnraisableExceptionWarning")
@pytest.mark.parametrize("disturbance", ["latency", "reset", "black hole"])
async def test_events_come_once_whatever_the_network_does(
    bus: Bus, far: Bus, proxy: FaultProxy, start_worker, disturbance: str
) -> None:
    handled: list[str] = []

    async def handler(event):
        handled.append(event.data.segment_id)
        await asyncio.sleep(0.01)

    start_worker(handler, on=far)
    names = [f"segment-{number}" for number in range(30)]

    async def publish() -> None:
        for name in names:
            await far.publisher("trainer").publish(segment_captured(name))

    publishing = asyncio.create_task(publish())
    await eventually(lambda: len(handled) >= 5, "some events")
    proxy.disturb(disturbance)
    await asyncio.sleep(1)
    proxy.heal()
    await publishing
    await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "all answers")
    stored = (await bus.stored(SegmentCaptured)).data
    assert [event.segment_id for event in stored] == names
    assert set(handled) == set(names)


async def test_a_connection_that_says_nothing_is_noticed_and_comes_back(
    far: Bus, proxy: FaultProxy
) -> None:
    proxy.disturb("black hole")
    await eventually(lambda: not far.connected, "the loss")
    proxy.heal()
    await eventually(lambda: far.connected, "its return")
    await far.publisher("trainer").publish(segment_captured())
