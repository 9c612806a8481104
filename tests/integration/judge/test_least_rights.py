"""A judge whose user of NATS makes no streams: it works after the bootstrap, and waits before."""

from typing import Any

import httpx

from rlaif.bus.connection import connect
from rlaif.contracts.events import SegmentExported
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.servers.nats_server import NatsServer
from rlaif.testing.waiting import all_answered, eventually


async def test_it_waits_for_the_bootstrap_reports_it_and_then_scores(
    guarded_nats: NatsServer, episodes_store: ObjectStore, start_judge: Any
) -> None:
    judge: httpx.AsyncClient = await start_judge(
        wait=False,
        nats_url=guarded_nats.url_of("judge"),
        nats_manage_streams=False,
    )

    async def reported() -> str:
        answer = await judge.get("/readyz")
        return str(answer.json()["checks"]["bus"]) if answer.status_code == 503 else ""

    await eventually(lambda: _contains(reported, "stream SEGMENTS"), "it says what is missing")
    assert "python -m rlaif.bootstrap" in await reported()
    admin = await connect(guarded_nats.url_of("admin"), name="bootstrap")
    try:
        assert await admin.jetstream.streams_info() == []
        await admin.align_topology()
        await admin.publisher("exporter").publish(write_segment(episodes_store))
        await eventually(lambda: all_answered(admin, SegmentExported, "judge"), "it scores")
    finally:
        await admin.close()
    assert len(list(episodes_store.list(keys.scores()))) == 1


async def _contains(reported: Any, text: str) -> bool:
    return text in await reported()
