import asyncio
import contextlib
import logging
from datetime import UTC, datetime, timedelta
from urllib.parse import quote

import pytest
from nats.js.errors import ServiceUnavailableError

from rlaif.bus.connection import Bus, connect, connect_ready
from rlaif.bus.errors import BusUnavailableError
from rlaif.bus.topology import TopologySettings
from rlaif.contracts.events import SegmentCaptured
from rlaif.contracts.telemetry.frames import FRAME_SUBJECT
from rlaif.contracts.telemetry.readings import RewardBreakdown
from rlaif.testing.data.events import segment_captured
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.waiting import PATIENCE_SECONDS, eventually

SOON = timedelta(milliseconds=300)


def reading(step: int) -> RewardBreakdown:
    return RewardBreakdown(
        at=datetime(2026, 1, 1, tzinfo=UTC), run_id="r", env_step=step, parts={}, total=0.0
    )


async def test_the_first_connection_fails_with_a_text_that_helps():
    with pytest.raises(
        BusUnavailableError, match=r"no NATS at 127\.0\.0\.1:1 .*NATS_URL"
    ) as caught:
        await connect("nats://user:secret@127.0.0.1:1", name="test", timeout=SOON)
    assert "secret" not in str(caught.value)


async def test_a_first_connection_that_is_given_up_leaves_nothing_behind():
    before = asyncio.all_tasks()
    connecting = asyncio.create_task(
        connect("nats://127.0.0.1:1", name="test", timeout=timedelta(seconds=60))
    )
    await asyncio.wait([connecting], timeout=0.2)
    connecting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await connecting
    await eventually(lambda: asyncio.all_tasks() == before, "no task is left")


async def test_a_token_in_the_url_opens_the_door_and_a_wrong_one_does_not(tmp_path):
    server = NatsServer(tmp_path, more='authorization { token: "open-sesame" }')
    await asyncio.to_thread(server.start)
    try:
        bus = await connect(f"nats://open-sesame@127.0.0.1:{server.port}", name="test")
        assert bus.connected
        await bus.close()
        with pytest.raises(BusUnavailableError, match="Authorization Violation"):
            await connect(f"nats://wrong@127.0.0.1:{server.port}", name="test", timeout=3 * SOON)
    finally:
        server.stop()


@pytest.mark.parametrize(
    ("account", "remedy"),
    [("", "enable JetStream"), ("jetstream: {max_streams: 2}", "raise max_streams")],
)
async def test_an_account_without_room_for_streams_is_named_with_a_remedy(
    tmp_path, account, remedy
):
    users = "users: [{user: a, password: b}]"
    server = NatsServer(tmp_path, more=f"accounts {{ A {{ {account}\n {users} }} }}")
    await asyncio.to_thread(server.start)
    try:
        with pytest.raises(BusUnavailableError, match=f"127.0.0.1:{server.port}: {remedy}"):
            await connect_ready(f"nats://a:b@127.0.0.1:{server.port}", name="test")
    finally:
        server.stop()


async def test_a_server_without_jetstream_is_named_with_a_remedy():
    bus = Bus("nats://127.0.0.1:1", TopologySettings())
    with pytest.raises(BusUnavailableError, match="--jetstream"), bus.asking("ensure the streams"):
        raise ServiceUnavailableError  # nats-py, when nothing answers its requests


HARD_PASSWORDS = ["se#cret", "se/cret", "se,cret", "se@cret", "se%cret", "se:c r?t", "sé[crët]"]


@pytest.mark.parametrize("password", HARD_PASSWORDS)
async def test_any_password_opens_the_door_and_no_part_of_a_wrong_one_is_shown(
    tmp_path, caplog, password
):
    caplog.set_level(logging.DEBUG)
    users = f'authorization {{ users: [ {{ user: "a,da", password: "{password}" }} ] }}'
    server = NatsServer(tmp_path, more=users)
    await asyncio.to_thread(server.start)
    try:
        for written in (password, quote(password, safe="")):
            bus = await connect(f"nats://a%2Cda:{written}@127.0.0.1:{server.port}", name="test")
            assert bus.connected
            shown = bus.address
            await bus.close()
            wrong = f"nats://a%2Cda:{written}-wrong@127.0.0.1:{server.port}"
            with pytest.raises(BusUnavailableError, match="Authorization Violation") as caught:
                await connect(wrong, name="test", timeout=SOON)
            for part in (password[:2] + password[2], "cret", "crët", "c r?t", "wrong", "a,da"):
                assert part not in f"{shown} {caught.value} {caplog.text}"
    finally:
        server.stop()


async def test_a_connection_without_streams_is_not_left_open(nats_url, bus, monkeypatch):
    opened = []

    async def refused(self):
        opened.append(self)
        raise BusUnavailableError("no JetStream")

    monkeypatch.setattr(Bus, "ensure_topology", refused)
    with pytest.raises(BusUnavailableError, match="no JetStream"):
        await connect_ready(nats_url, name="other")
    assert [each.closed for each in opened] == [True]


async def test_the_bus_says_whether_nats_is_there_and_reconnects(bus, nats_server):
    await asyncio.to_thread(nats_server.kill)
    await eventually(lambda: not bus.connected, "disconnected")
    assert not await bus.wait_connected(0.01)
    assert not bus.closed
    await asyncio.to_thread(nats_server.start)
    assert await bus.wait_connected(5)


async def _closes_without_waiting(bus):
    """A close that waits for what does not come would take an hour."""
    bus.client.options["drain_timeout"] = 3600
    async with asyncio.timeout(PATIENCE_SECONDS):
        await bus.close()


async def test_closing_does_not_wait_for_a_partial_fetch_and_may_be_repeated(
    nats_url, bus, start_worker
):
    other = await connect(nats_url, name="other")
    worker = start_worker(None, on=other)
    await eventually(lambda: worker.healthy, "healthy")
    await worker.stop()
    await _closes_without_waiting(other)
    await other.close()
    assert other.closed
    assert not other.connected


async def test_the_bus_closes_while_nats_is_away(nats_server, bus):
    other = await connect(nats_server.url, name="other")
    await asyncio.to_thread(nats_server.kill)
    await eventually(lambda: not other.connected, "disconnected")
    await _closes_without_waiting(other)
    await asyncio.to_thread(nats_server.start)


async def test_backlog_counts_waiting_and_unanswered_events(bus, start_worker):
    entered = asyncio.Event()

    async def handler(event):
        entered.set()
        await asyncio.Event().wait()

    publisher = bus.publisher("trainer")
    for i in range(3):
        await publisher.publish(segment_captured(f"segment-{i}"))

    async def three():
        return await bus.backlog(SegmentCaptured, "exporter") == 3

    await eventually(three, "three waiting")
    start_worker(handler, stop_timeout=timedelta(milliseconds=1))
    await entered.wait()
    await eventually(three, "two waiting, one unanswered")
    with pytest.raises(BusUnavailableError, match="backlog of nobody"):
        await bus.backlog(SegmentCaptured, "nobody")


async def test_telemetry_reaches_every_listener(bus):
    seen = []

    async def listen():
        async with contextlib.aclosing(bus.subscribe("telemetry.>")) as messages:
            async for subject, payload in messages:
                seen.append((subject, payload))

    listening = asyncio.create_task(listen())
    telemetry = bus.telemetry()

    async def heard():
        await telemetry.send(reading(1))
        return bool(seen)

    await eventually(heard, "a reading")
    await telemetry.send_bytes(f"{FRAME_SUBJECT}.env-0", b"\x01\x02")
    await eventually(lambda: seen[-1] == (f"{FRAME_SUBJECT}.env-0", b"\x01\x02"), "the frame")
    assert RewardBreakdown.model_validate_json(seen[0][1]) == reading(1)
    await bus.close()
    await asyncio.wait_for(listening, PATIENCE_SECONDS)


async def test_telemetry_is_dropped_without_waiting_while_nats_is_away(bus, nats_server):
    telemetry = bus.telemetry()
    await asyncio.to_thread(nats_server.kill)
    await eventually(lambda: not bus.connected, "disconnected")
    for step in range(1000):
        sending = telemetry.send(reading(step))
        with pytest.raises(StopIteration):  # it ends without giving the loop a turn
            sending.send(None)
    assert telemetry.dropped == 1000
    await asyncio.to_thread(nats_server.start)
