"""Three servers of one cluster: streams get copies, and events outlive one of the servers."""

import asyncio
from datetime import timedelta

import nats.errors
import pytest

from rlaif.bootstrap.preparing import prepare
from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.bus.connection import connect
from rlaif.bus.errors import BusUnavailableError
from rlaif.contracts.catalog import STREAMS
from rlaif.contracts.events import SegmentCaptured
from rlaif.testing.data.events import segment_captured
from rlaif.testing.servers.nats_server import NatsServer, free_ports
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


def whole(cluster):
    """Whether there is a leader, and both followers are up to date."""
    copies = (cluster.replicas or []) if cluster and cluster.leader else []
    return len(copies) == 2 and all(each.current and not each.offline for each in copies)


async def holds(bus, count):
    """Whether the exporter finds `count` events; no answer means that there is no leader yet."""
    try:
        return await bus.backlog(SegmentCaptured, "exporter") == count
    except BusUnavailableError:
        return False


async def copied(bus):
    """Whether stream and consumer have both copies: the consumer gets its own after the stream."""
    stream = (await bus.jetstream.stream_info("CAPTURES")).cluster
    try:
        consumer = (await bus.jetstream.consumer_info("CAPTURES", "exporter")).cluster
    except (nats.errors.Error, OSError):  # no leader yet
        return False
    return whole(stream) and whole(consumer)


async def test_events_outlive_one_of_three_servers(cluster, tmp_path):
    await prepare(settings_for(cluster, tmp_path, nats_stream_replicas=3))
    bus = await connect(cluster[0].url, name="test")
    try:
        assert await bus.publisher("trainer").publish(segment_captured())
        await eventually(lambda: copied(bus), "stream and consumer have copies", seconds=240)
        cluster[1].kill()
        deadline = timedelta(seconds=30)
        again = segment_captured(segment_id="seg-2")
        assert await bus.publisher("trainer", deadline=deadline).publish(again)
        await eventually(lambda: holds(bus, 2), "both events wait for the exporter", seconds=240)
    finally:
        await bus.close()


async def test_streams_made_once_get_copies_later_and_keep_their_events(cluster, tmp_path):
    await prepare(settings_for(cluster, tmp_path))
    bus = await connect(cluster[0].url, name="test")
    try:
        assert await bus.publisher("trainer").publish(segment_captured())
        said = await prepare(settings_for(cluster, tmp_path, nats_stream_replicas=3))
        assert [line for line in said if line.endswith("changed num_replicas from 1 to 3")] == [
            f"stream {name}: changed num_replicas from 1 to 3" for name in STREAMS
        ]
        await eventually(lambda: copied(bus), "stream and consumer have copies", seconds=240)
        await eventually(lambda: holds(bus, 1), "the event waits for the exporter", seconds=240)
    finally:
        await bus.close()
