import asyncio
import logging
from datetime import timedelta

from nats.js.api import DiscardPolicy, RetentionPolicy, StorageType

from rlaif.bus.connection import connect
from rlaif.bus.topology import TopologySettings
from rlaif.contracts.catalog import CATALOG, STREAMS, retry_subject, spec_of
from rlaif.contracts.events import DeadLetter, RewardModelPublished, SegmentCaptured
from rlaif.testing.servers.nats_server import NatsServer

DAY = timedelta(days=1).total_seconds()


async def test_five_services_ensure_the_topology_at_the_same_time(bus, nats_url, caplog):
    await bus.delete_topology()
    # Nearly all of the server's room: it reserves room for each creation under way.
    settings = TopologySettings(max_bytes=200 * 1024**2)
    buses = await asyncio.gather(
        *(connect(nats_url, name=f"service-{i}", settings=settings) for i in range(5))
    )
    try:
        with caplog.at_level(logging.WARNING):
            await asyncio.gather(*(each.ensure_topology() for each in buses))
            await asyncio.gather(*(each.ensure_topology() for each in buses))
    finally:
        await asyncio.gather(*(each.close() for each in buses))
    assert caplog.text == ""
    infos = {info.config.name: info.config for info in await bus.jetstream.streams_info()}
    assert set(infos) == set(STREAMS)
    for name, config in infos.items():
        assert tuple(config.subjects) == STREAMS[name].subjects
        assert config.retention == RetentionPolicy.LIMITS
        dropping = STREAMS[name].drops_oldest
        assert config.discard == (DiscardPolicy.OLD if dropping else DiscardPolicy.NEW)
        assert config.storage == StorageType.FILE
        assert config.duplicate_window == 3600
    assert infos[spec_of(SegmentCaptured).stream].max_age == 30 * DAY
    assert infos[spec_of(SegmentCaptured).stream].max_msg_size == 64 * 1024
    assert infos[spec_of(RewardModelPublished).stream].max_age == 365 * DAY
    assert infos[spec_of(DeadLetter).stream].max_age == 0
    for spec in CATALOG:
        for name in spec.consumers:
            config = (await bus.jetstream.consumer_info(spec.stream, name)).config
            assert config.filter_subjects == [spec.subject, retry_subject(name)]
            assert config.ack_policy == "explicit"
            assert (config.ack_wait, config.max_deliver, config.max_ack_pending) == (30, 20, 64)


async def test_a_differing_stream_is_reported_and_left_alone(bus, nats_url, caplog):
    other = await connect(
        nats_url, name="newer", settings=TopologySettings(max_bytes=1_000_000, max_ack_pending=7)
    )
    try:
        await other.ensure_topology()
    finally:
        await other.close()
    stream = spec_of(SegmentCaptured).stream
    assert f"stream {stream} has max_bytes=" in caplog.text
    assert f"consumer {stream}/exporter has max_ack_pending=64, this release expects 7" in (
        caplog.text
    )
    assert (await bus.jetstream.stream_info(stream)).config.max_bytes > 1_000_000
    assert (await bus.jetstream.consumer_info(stream, "exporter")).config.max_ack_pending == 64


async def test_all_streams_fit_the_one_gigabyte_of_the_default_server(bus):
    info = await bus.jetstream.account_info()
    assert info.limits is not None
    infos = await bus.jetstream.streams_info()
    assert sum(each.config.max_bytes for each in infos) < 1e9


async def test_ensuring_on_a_full_server_is_an_error(tmp_path):
    server = NatsServer(tmp_path, max_file="1MB")
    await asyncio.to_thread(server.start)
    bus = await connect(server.url, name="test")
    try:
        try:
            await bus.ensure_topology()
        except Exception as error:
            text = str(error)
    finally:
        await bus.close()
        server.stop()
    assert "could not ensure the streams" in text
    assert "storage" in text
