"""The accounts of deploy/base/nats/nats.conf on a real server: the bootstrap, and the services."""

import asyncio
import json
import shutil
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import nats.errors
import pytest

from rlaif.bus.connection import connect, connect_ready
from rlaif.bus.dead_letters import dead_letter
from rlaif.contracts.events import DeadLetter, SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.nats_server import NatsServer
from rlaif.testing.waiting import PATIENCE_SECONDS, all_answered, eventually

DEPLOYED = Path(__file__).parents[3] / "deploy/base/nats"


@pytest.fixture
def server(tmp_path, monkeypatch):
    """A server with the deployed accounts; each user's password is its name."""
    for user in ("admin", "service"):
        monkeypatch.setenv(f"NATS_{user.upper()}_USER", user)
        monkeypatch.setenv(f"NATS_{user.upper()}_PASSWORD", user)
    text = (DEPLOYED / "nats.conf").read_text(encoding="utf-8")
    accounts = text[text.index("accounts {") : text.index("include ./cluster.conf")]
    shutil.copy(DEPLOYED / "permissions.conf", tmp_path)
    found = NatsServer(tmp_path, more=accounts)
    found.start()
    yield found
    found.stop()


def dead() -> DeadLetter:
    original = {"id": "captured:segment-9", "type": "rlaif.segment.captured.v1"}
    return dead_letter(
        json.dumps(original).encode(), stream="CAPTURES", sequence=9, subject="segment.captured",
        consumer="exporter", attempts=1, reason="wrong_game", detail="x", dead_at=datetime.now(UTC),
    )  # fmt: skip


async def test_the_services_user_works_on_what_the_other_made_and_manages_nothing(server):
    admin = await connect(server.url_of("admin"), name="bootstrap")
    await admin.align_topology()
    bus = await connect_ready(server.url_of("service"), name="test", manage_streams=False)
    try:
        assert await bus.publisher("trainer").publish(segment_captured())
        consumer = await bus.jetstream.pull_subscribe_bind("exporter", stream="CAPTURES")
        (message,) = await consumer.fetch(1, timeout=5)
        await message.ack_sync()
        await eventually(lambda: all_answered(bus, SegmentCaptured, "exporter"), "it is answered")
        events: Any = bus.feed().follow(SegmentCaptured, history=True)
        async with asyncio.timeout(PATIENCE_SECONDS):
            assert (await anext(events)).data == segment_captured()
        await events.aclose()
        await bus.publisher("exporter").publish(dead())
        assert await bus.redrive("captured:segment-9") == "captured:segment-9#redrive-1"
        assert await bus.dead_letters() == []
        with pytest.raises(nats.errors.TimeoutError):
            await bus.client.request("$JS.API.STREAM.PURGE.CAPTURES", b"{}", timeout=0.3)
        await eventually(lambda: "ermissions" in bus.last_error_note, "NATS says why")
        assert (await admin.jetstream.stream_info("CAPTURES")).state.messages == 2
    finally:
        await bus.close()
        await admin.close()
