"""The exporter on a real NATS and a real S3 server."""

import asyncio
import hashlib
import io
import os
import re
import signal
import subprocess
import sys
from datetime import UTC, datetime

import numpy as np

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import CloudEvent, SegmentCaptured, SegmentExported
from rlaif.contracts.game.names import SEEDLING_ROOMS
from rlaif.contracts.game.segments import SegmentManifest, StateRecord
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.storage import keys
from rlaif.testing.data.hanging import hanging_keyframe
from rlaif.testing.data.judging.segments import write_segment
from rlaif.testing.waiting import PATIENCE_SECONDS, all_answered, eventually


async def exported_events(bus):
    """The export events that are stored now."""
    stream = await bus.jetstream.stream_info("SEGMENTS")
    feed = bus.feed().follow(SegmentExported, history=True)
    events: list[CloudEvent[SegmentExported]] = []
    while len(events) < stream.state.messages:
        events.append(await asyncio.wait_for(anext(feed), PATIENCE_SECONDS))
    await feed.aclose()
    return events


async def all_done(bus):
    await eventually(
        lambda: all_answered(bus, SegmentCaptured, "exporter"),
        "every capture is handled",
    )


async def test_a_captured_segment_is_exported_with_the_observations_of_the_play(
    bus, episodes_store, start_exporter, captured, recorded
):
    await start_exporter()
    event = captured()
    await bus.publisher("trainer").publish(event)
    await all_done(bus)
    (reported,) = await exported_events(bus)
    data = episodes_store.get(reported.data.manifest_key)
    assert hashlib.sha256(data).hexdigest() == reported.data.manifest_sha256
    manifest = SegmentManifest.model_validate_json(data)
    waited = sum(frames for _, frames in recorded[0].capture.waits)
    assert (manifest.frames, manifest.decision_steps) == (300 + waited, 75)
    assert 11 <= len(manifest.pictures) <= manifest.frames // 30 + 2
    stored = np.load(io.BytesIO(episodes_store.get(manifest.observations.key)))
    assert stored.tobytes() == recorded[0].observations.tobytes()
    for file in (manifest.states, manifest.observations, *manifest.pictures):
        assert hashlib.sha256(episodes_store.get(file.key)).hexdigest() == file.sha256
    first, *_ = episodes_store.get(manifest.states.key).splitlines()
    state = StateRecord.model_validate_json(first).state
    assert state["game"] == "seedling-vale"
    assert state["room"]["name"] in SEEDLING_ROOMS.values()


async def test_a_tampered_action_is_dead_lettered_once_and_others_continue(
    bus, episodes_store, start_exporter, captured, recorded
):
    client = await start_exporter()
    turned = recorded[0].capture.actions.translate(str.maketrans("0123", "1032"))
    tampered, good = captured(0, actions=turned), captured(1)
    for event in (tampered, good):
        await bus.publisher("trainer").publish(event)
    await all_done(bus)
    (letter,) = await bus.dead_letters()
    assert letter.data.reason == "ram_hash_mismatch"
    assert letter.data.event_id == f"captured:{tampered.segment_id}"
    assert episodes_store.head(keys.manifest("ep-1", tampered.segment_id)) is None
    assert [e.data.segment_id for e in await exported_events(bus)] == [good.segment_id]
    assert "rlaif_exporter_ram_mismatches_total 1.0" in (await client.get("/metrics")).text


async def test_a_duplicate_delivery_gives_one_manifest_and_one_event(
    bus, episodes_store, start_exporter, captured
):
    client = await start_exporter()
    event = captured()
    publisher = bus.publisher("trainer")
    await publisher.publish(event)
    await all_done(bus)
    manifest = episodes_store.get(keys.manifest("ep-1", event.segment_id))
    # A second message with another id, as a redrive makes one.
    again = envelop(event, source="rlaif/test", time=datetime.now(UTC)).model_dump_json().encode()
    await bus.jetstream.publish("segment.captured", again, headers={"Nats-Msg-Id": "again"})
    await all_done(bus)
    assert episodes_store.get(keys.manifest("ep-1", event.segment_id)) == manifest
    assert len(await exported_events(bus)) == 1
    assert 'segments_total{result="repeated"} 1.0' in (await client.get("/metrics")).text


async def test_an_object_that_comes_late_is_waited_for(
    bus, episodes_store, start_exporter, captured
):
    event = captured()
    keyframe = episodes_store.get(event.keyframe_key)
    episodes_store.delete_many([event.keyframe_key])
    client = await start_exporter()
    await bus.publisher("trainer").publish(event)

    async def retried():
        return 'outcome="retried"' in (await client.get("/metrics")).text

    await eventually(retried, "the event was tried once")
    episodes_store.put(event.keyframe_key, keyframe)
    await all_done(bus)
    assert len(await exported_events(bus)) == 1


async def test_missing_objects_are_given_up_and_hold_up_no_other_capture(
    bus, episodes_store, start_unready, captured
):
    """Forty, more than the trainer lets wait; and the exporter is restarted in the middle."""
    missing = [captured(segment_id=f"gone-{number}") for number in range(40)]
    episodes_store.delete_many([event.capture_key for event in missing])
    publisher = bus.publisher("trainer")
    for event in missing:
        await publisher.publish(event)
    async with start_unready() as client:

        async def tried_as_often_as_there_are():
            counts = re.findall(r'outcome="retried"} (\S+)', (await client.get("/metrics")).text)
            return counts and float(counts[0]) >= len(missing)

        await eventually(tried_as_often_as_there_are, "about each is tried once")
    good = [captured(index) for index in range(3)]
    for event in good:
        await publisher.publish(event)
    async with start_unready():
        await all_done(bus)
    letters = await bus.dead_letters()
    assert {letter.data.reason for letter in letters} == {"missing_object"}
    assert {letter.data.event_id for letter in letters} == {
        f"captured:{event.segment_id}" for event in missing
    }
    assert {letter.data.attempts for letter in letters} == {5}
    reported = await exported_events(bus)
    assert {e.data.segment_id for e in reported} == {event.segment_id for event in good}
    assert await bus.backlog(SegmentCaptured, "exporter") == 0


async def test_a_keyframe_that_hangs_the_emulator_is_given_up_and_others_continue(
    bus, episodes_store, start_exporter, captured, recorded
):
    hanging = hanging_keyframe(recorded[0].keyframe, load_cartridge().data)
    hung = captured(0, keyframe_sha256=hanging.sha256)
    episodes_store.put(hung.keyframe_key, hanging.data)
    client = await start_exporter(replay=ReplaySettings(grace_seconds=1.0))
    good = captured(1)
    for event in (hung, good):
        await bus.publisher("trainer").publish(event)
    await all_done(bus)
    (letter,) = await bus.dead_letters()
    assert (letter.data.reason, letter.data.attempts) == ("replay_hung", 2)
    assert "did not end within" in letter.data.detail
    assert [e.data.segment_id for e in await exported_events(bus)] == [good.segment_id]
    metrics = (await client.get("/metrics")).text
    assert 'rlaif_exporter_lost_replays_total{why="hung"} 2.0' in metrics
    assert (await client.get("/readyz")).status_code == 200


async def test_two_exporters_share_the_work(bus, episodes_store, start_exporter, captured):
    await start_exporter()
    await start_exporter()
    for index in range(3):
        await bus.publisher("trainer").publish(captured(index))
    await all_done(bus)
    reported = await exported_events(bus)
    assert sorted(e.data.segment_id for e in reported) == [f"ep-1-s{n:05d}" for n in range(3)]


async def test_a_killed_process_loses_no_segment(
    bus, episodes_store, start_exporter, captured, settings
):
    events = [captured(index) for index in range(3)]
    for event in events:
        await bus.publisher("trainer").publish(event)
    process = spawn(settings)
    try:
        first = keys.manifest("ep-1", events[0].segment_id)
        await eventually(lambda: episodes_store.head(first) is not None, "the first manifest")
    finally:
        os.kill(process.pid, signal.SIGKILL)
        process.wait()
    await start_exporter()
    # What the dead process held comes again after its ack_wait.
    await all_done(bus)
    reported = await exported_events(bus)
    assert sorted(e.data.segment_id for e in reported) == sorted(e.segment_id for e in events)
    for each in reported:
        stored = episodes_store.get(each.data.manifest_key)
        assert each.data.manifest_sha256 == hashlib.sha256(stored).hexdigest()


def spawn(settings):
    environment = {
        **os.environ,
        "NATS_URL": settings.nats_url,
        "S3_ENDPOINT_URL": settings.s3_endpoint_url,
        "S3_ACCESS_KEY": settings.s3_access_key,
        "S3_SECRET_KEY": settings.s3_secret_key.get_secret_value(),
        "EXPORTER_PORT": "0",
    }
    return subprocess.Popen(
        [sys.executable, "-m", "rlaif.exporter"],
        env=environment,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        start_new_session=True,
    )


async def test_segments_are_deleted_after_their_days(episodes_store, start_exporter):
    event = write_segment(episodes_store, "seg-1")
    client = await start_exporter(keep_days=1e-9)
    await eventually(lambda: not list(episodes_store.list("ep-1/")), "its deletion")
    assert (await client.get("/readyz")).json()["checks"]["retention"]["ok"]
    assert episodes_store.head(event.manifest_key) is None


async def test_without_nats_it_runs_and_reports_its_missing_dependencies(
    start_unready, episodes_store
):
    async with start_unready(nats_url="nats://127.0.0.1:1") as client:

        async def says_why():
            checks = (await client.get("/readyz")).json()["checks"]
            return "no NATS at 127.0.0.1:1" in (checks["bus"]["detail"] or "")

        await eventually(says_why, "the check names the missing server")
        answer = await client.get("/readyz")
        assert (answer.status_code, answer.json()["checks"]["worker"]["ok"]) == (503, False)
        assert (await client.get("/livez")).status_code == 200
