"""`python -m rlaif.bootstrap` as it is run before the services, on a real nats-server and S3."""

import asyncio
import os
import subprocess
import sys
from uuid import uuid4

import pytest
from nats.js.api import ConsumerConfig

from rlaif.bootstrap.preparing import NotReachedError, prepare
from rlaif.bootstrap.settings import BootstrapSettings
from rlaif.bus.connection import connect
from rlaif.contracts.catalog import CATALOG, STREAMS, spec_of
from rlaif.contracts.events import SegmentCaptured
from rlaif.storage.open import open_store
from rlaif.testing.data.events import segment_captured
from rlaif.testing.servers.nats_server import NatsServer

MIB = 1024 * 1024
CAPTURES = spec_of(SegmentCaptured).stream


@pytest.fixture
def nats(tmp_path):
    """A server of this test's own, without any stream; not started yet."""
    server = NatsServer(tmp_path)
    try:
        yield server
    finally:
        server.stop()


@pytest.fixture
def environment(nats, s3):
    """Environment of the bootstrap: two buckets that do not exist yet."""
    name = uuid4().hex[:12]
    return {
        "PATH": os.environ["PATH"],
        "NATS_URL": nats.url,
        "S3_ENDPOINT_URL": s3.endpoint_url,
        "S3_ACCESS_KEY": s3.access_key,
        "S3_SECRET_KEY": s3.secret_key,
        "EPISODES_STORE": f"s3://episodes-{name}",
        "MODELS_STORE": f"s3://models-{name}",
        "LOG_FORMAT": "text",
    }


def start(environment, *arguments):
    return subprocess.Popen(
        [sys.executable, "-m", "rlaif.bootstrap", *arguments],
        env=environment,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
    )


def run(environment, *arguments):
    with start(environment, *arguments) as process:
        try:
            said, complained = process.communicate(timeout=60)
        finally:
            process.kill()
    return process.returncode, said.splitlines(), complained


async def stream_of(url, name):
    bus = await connect(url, name="test")
    try:
        return await bus.jetstream.stream_info(name)
    finally:
        await bus.close()


async def test_it_makes_every_stream_consumer_and_bucket_and_reports_it(nats, environment, s3):
    nats.start()
    code, said, _ = run(environment)
    assert code == 0
    assert said == [
        *(f"stream {name}: made" for name in STREAMS),
        *(f"consumer {spec.stream}/{name}: made" for spec in CATALOG for name in spec.consumers),
        f"{environment['EPISODES_STORE']}: made",
        f"{environment['MODELS_STORE']}: made",
    ]
    bus = await connect(nats.url, name="test")
    try:
        assert set(STREAMS) == {each.config.name for each in await bus.jetstream.streams_info()}
    finally:
        await bus.close()
    for url in (environment["EPISODES_STORE"], environment["MODELS_STORE"]):
        assert list(open_store(url, s3).list()) == []  # the probe left nothing behind


async def test_a_second_run_finds_everything_and_changes_nothing(nats, environment):
    nats.start()
    run(environment)
    before = await stream_of(nats.url, CAPTURES)
    code, said, complained = run(environment)
    assert (code, complained) == (0, "")
    assert {line.rpartition(": ")[2] for line in said} == {"found"}
    after = await stream_of(nats.url, CAPTURES)
    assert (after.created, after.config) == (before.created, before.config)


async def test_a_changed_setting_changes_the_streams_and_keeps_their_events(nats, environment):
    nats.start()
    run(environment | {"NATS_STREAM_MIB": "16"})
    bus = await connect(nats.url, name="test")
    try:
        await bus.jetstream.publish("segment.captured", b"kept")
    finally:
        await bus.close()
    code, said, _ = run(environment | {"NATS_STREAM_MIB": "32"})
    assert code == 0
    assert f"stream {CAPTURES}: changed max_bytes from {16 * MIB} to {32 * MIB}" in said
    found = await stream_of(nats.url, CAPTURES)
    assert (found.config.max_bytes, found.state.messages) == (32 * MIB, 1)


async def test_streams_of_a_release_without_subjects_for_retries_get_them(nats, environment):
    nats.start()
    run(environment)
    bus = await connect(nats.url, name="test")
    stream = (await bus.jetstream.stream_info(CAPTURES)).config
    await bus.jetstream.delete_consumer(CAPTURES, "exporter")
    await bus.jetstream.update_stream(stream.evolve(subjects=["segment.captured"]))
    old = ConsumerConfig(durable_name="exporter", filter_subject="segment.captured", max_deliver=20)
    await bus.jetstream.add_consumer(CAPTURES, old)
    await bus.publisher("trainer").publish(segment_captured())
    run(environment)
    assert (await bus.jetstream.stream_info(CAPTURES)).config.subjects == stream.subjects
    consumer = await bus.jetstream.consumer_info(CAPTURES, "exporter")
    assert consumer.config.filter_subjects == stream.subjects
    assert consumer.num_pending == 1
    await bus.close()


async def test_room_is_never_made_smaller_than_what_a_stream_holds(nats, environment):
    nats.start()
    run(environment | {"NATS_STREAM_MIB": "2"})
    bus = await connect(nats.url, name="test")
    try:
        for _ in range(25):
            await bus.jetstream.publish("segment.captured", bytes(60_000))
    finally:
        await bus.close()
    code, said, _ = run(environment | {"NATS_STREAM_MIB": "1"})
    assert code == 0
    assert any(line.startswith(f"stream {CAPTURES}: has max_bytes={2 * MIB}") for line in said)
    found = await stream_of(nats.url, CAPTURES)
    assert (found.config.max_bytes, found.state.messages) == (2 * MIB, 25)


async def test_it_waits_until_nats_is_there(nats, environment):
    with start(environment) as process:
        try:
            assert "waiting for NATS" in await asyncio.to_thread(process.stderr.readline)
            await asyncio.to_thread(nats.start)
            said, _ = await asyncio.to_thread(process.communicate, timeout=60)
        finally:
            process.kill()
    assert process.returncode == 0
    assert f"stream {CAPTURES}: made" in said


async def test_it_gives_up_after_its_timeout_and_names_what_is_missing(environment, monkeypatch):
    for name, value in (environment | {"S3_SECRET_KEY": "wrong"}).items():
        monkeypatch.setenv(name, value)
    with pytest.raises(NotReachedError) as caught:
        await prepare(BootstrapSettings(timeout_seconds=1))
    assert "NATS was not ready within 1 s" in str(caught.value)
    assert f"{environment['EPISODES_STORE']} was not ready within 1 s" in str(caught.value)


def test_a_wrong_setting_ends_it_at_once(environment):
    code, _, complained = run(environment | {"NATS_STREAM_REPLICAS": "2"})
    assert code == 2
    assert "NATS_STREAM_REPLICAS" in complained
    code, _, complained = run(environment | {"MODELS_STORE": "ftp://models"})
    assert code == 2
    assert "ftp://models" in complained


async def test_making_room_drops_what_is_handled_and_nothing_else(nats, environment):
    nats.start()
    run(environment | {"NATS_STREAM_MIB": "1"})
    bus = await connect(nats.url, name="test")
    try:
        for _ in range(15):  # of 60 kB in 1 MiB: more than four fifths
            await bus.jetstream.publish("segment.captured", bytes(60_000))
        code, said, _ = run(environment, "--make-room")
        assert code == 0
        assert said == ["no stream is more than 80% full of handled events"]
        consumer = await bus.jetstream.pull_subscribe_bind("exporter", stream=CAPTURES)
        for message in await consumer.fetch(10, timeout=5):
            await message.ack_sync()
        code, said, _ = run(environment, "--make-room")
        assert code == 0
        assert said == [f"stream {CAPTURES}: dropped its handled events"]
        state = (await bus.jetstream.stream_info(CAPTURES)).state
        assert (state.messages, state.first_seq) == (5, 11)
    finally:
        await bus.close()
