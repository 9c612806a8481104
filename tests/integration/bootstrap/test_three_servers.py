"""Three servers of one cluster: streams get copies, and events outlive one of the servers."""

import asyncio
from datetime import timedelta

import pytest

from rlaif.bootstrap.preparing import prepare
from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.bus.connection import connect
from rlaif.contracts.catalog import STREAMS
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.nats_server import NatsServer, free_ports
from rlaif.testing.waiting import eventually


@pytest.fixture
async def cluster(tmp_path):
    """Three servers that found each other."""
    ports = free_ports(3)
    routes = ", ".join(f'"nats://127.0.0.1:{port}"' for port in ports)
    servers = []
    for number, port in enumerate(ports):
        (tmp_path / str(number)).mkdir()
        lines = (
            f"server_name: nats-{number}",
            f"cluster {{ name: test, listen: 127.0.0.1:{port}, routes: [{routes}] }}",
        )
        servers.append(NatsServer(tmp_path / str(number), more="\n".join(lines)))
    try:
        # At once: one alone is not healthy, it has no majority.
        await asyncio.gather(*(asyncio.to_thread(each.start) for each in servers))
        yield servers
    finally:
        for each in servers:
            each.stop()


def settings_for(servers, tmp_path, **changes):
    return BootstrapSettings.model_validate(
        {
            "nats_url": ",".join(each.url for each in servers),
            "episodes_store": (tmp_path / "episodes").as_uri(),
            "models_store": (tmp_path / "models").as_uri(),
            "nats_stream_mib": 16,
            "timeout_seconds": 60,
            **changes,
        }
    )


async def test_streams_made_once_get_copies_later_and_outlive_a_server(cluster, tmp_path):
    await prepare(settings_for(cluster, tmp_path))
    bus = await connect(cluster[0].url, name="test")
    try:
        assert await bus.publisher("trainer").publish(segment_captured())
    finally:
        await bus.close()
    said = await prepare(settings_for(cluster, tmp_path, nats_stream_replicas=3))
    assert [line for line in said if line.endswith("changed num_replicas from 1 to 3")] == [
        f"stream {name}: changed num_replicas from 1 to 3" for name in STREAMS
    ]
    bus = await connect(cluster[0].url, name="test")
    try:

        async def copied() -> bool:
            found = (await bus.jetstream.stream_info("CAPTURES")).cluster
            copies = (found.replicas or []) if found else []
            return len(copies) == 2 and all(each.current for each in copies)

        await eventually(copied, "both copies are whole", seconds=30)
        cluster[1].kill()
        deadline = timedelta(seconds=30)
        again = segment_captured(segment_id="seg-2")
        assert await bus.publisher("trainer", deadline=deadline).publish(again)

        async def waiting() -> bool:
            return await bus.backlog(SegmentCaptured, "exporter") == 2

        await eventually(waiting, "both events wait for the exporter", seconds=20)
    finally:
        await bus.close()
