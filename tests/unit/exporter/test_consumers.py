import hashlib
import itertools
from datetime import UTC, datetime

import pytest

from rlaif.bus.outcome import Reject, Retry, Suspect
from rlaif.contracts.catalog import envelop
from rlaif.contracts.game.captures import EmulatorIdentity, GameIdentity
from rlaif.contracts.game.segments import SegmentManifest
from rlaif.exporter.consumers import ExporterMetrics, SegmentExporter
from rlaif.exporter.replaying import picture_steps
from rlaif.exporter.settings import ReplaySettings
from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.captures.replay import frames_after_steps
from rlaif.service.metrics import ServiceMetrics
from rlaif.storage import keys
from rlaif.storage.bounds import size_limit
from rlaif.storage.ports import ObjectNotFoundError, StoreUnavailableError
from rlaif.testing.crashing import Crash, crashing

NOW = datetime(2026, 1, 2, tzinfo=UTC)


async def rejection(handle, event):
    with pytest.raises(Reject) as caught:
        await handle(event)
    return caught.value


def objects(store):
    return [info.key for info in store.list()]


async def test_a_segment_is_stored_completely_and_published(
    handle, stored, file_store, publisher, recorded
):
    event = stored()
    await handle(event)
    key = keys.manifest("ep-1", event.segment_id)
    data = file_store.get(key)
    manifest = SegmentManifest.model_validate_json(data)
    capture = recorded[0].capture
    waited = sum(frames for _, frames in capture.waits)
    assert waited > 0
    assert (manifest.frames, manifest.decision_steps) == (80 + waited, 20)
    assert manifest.capture_sha256 == event.capture_sha256
    assert manifest.end_ram_sha256 == recorded[0].capture.end_ram_sha256
    assert manifest.exporter_version == "1.2.3"
    expected = picture_steps(frames_after_steps(capture), 30)
    assert manifest.picture_steps == tuple(sorted(expected))
    for file in (manifest.states, manifest.observations, *manifest.pictures):
        held = file_store.get(file.key)
        assert (hashlib.sha256(held).hexdigest(), len(held)) == (file.sha256, file.size_bytes)
    second = f"frames/{manifest.picture_steps[1]:06}.png"
    assert keys.segment("ep-1", event.segment_id, second) in objects(file_store)
    (reported,) = publisher.published
    assert (reported.manifest_key, reported.manifest_sha256) == (
        key,
        hashlib.sha256(data).hexdigest(),
    )


async def test_the_manifest_of_a_faster_exporter_counts(
    handle, stored, file_store, publisher, metrics, monkeypatch
):
    event = stored()
    await handle(event)
    key = keys.manifest("ep-1", event.segment_id)
    theirs = file_store.get(key)
    real_get = file_store.get
    looks: list[str] = []

    def get(asked, max_bytes=None):
        # The other exporter commits between our first look and our put_once.
        if asked == key and not looks:
            looks.append(asked)
            raise ObjectNotFoundError(asked)
        return real_get(asked, max_bytes)

    monkeypatch.setattr(file_store, "get", get)
    await handle(event)
    assert real_get(key) == theirs
    assert publisher.published[0] == publisher.published[1]
    assert 'segments_total{result="overtaken"} 1.0' in metrics.exposition().decode()


async def test_files_of_an_export_that_died_are_replaced(handle, stored, file_store):
    event = stored()
    junk = keys.segment("ep-1", event.segment_id, "states.jsonl")
    file_store.put(junk, b"half a li")
    await handle(event)
    manifest = SegmentManifest.model_validate_json(
        file_store.get(keys.manifest("ep-1", event.segment_id))
    )
    assert hashlib.sha256(file_store.get(junk)).hexdigest() == manifest.states.sha256


@pytest.mark.parametrize("after", [False, True], ids=["before", "after"])
async def test_a_crash_at_any_write_is_made_up_for_by_the_next_delivery(
    stored, file_store, publisher, replays, after
):
    event = stored()

    async def delivered(store):
        exporter = SegmentExporter(
            store, replays, publisher, ExporterMetrics(ServiceMetrics("exporter")), version="1"
        )
        await exporter.handle_segment_captured(envelop(event, source="rlaif/test", time=NOW))

    for write in itertools.count():
        file_store.delete_many([key for key in objects(file_store) if key.startswith("ep-1/")])
        publisher.published.clear()
        try:
            await delivered(crashing(file_store, write, after=after))
        except Crash:
            assert publisher.published == []
        else:
            break
        await delivered(file_store)
        data = file_store.get(keys.manifest("ep-1", event.segment_id))
        manifest = SegmentManifest.model_validate_json(data)
        for file in (manifest.states, manifest.observations, *manifest.pictures):
            assert hashlib.sha256(file_store.get(file.key)).hexdigest() == file.sha256
        (reported,) = publisher.published
        assert reported.manifest_sha256 == hashlib.sha256(data).hexdigest()
    assert write == len([key for key in objects(file_store) if key.startswith("ep-1/")])


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({"game": GameIdentity(title="OTHER", rom_sha256="b" * 64)}, "wrong_game"),
        (
            {"emulator": EmulatorIdentity(version="1.0.0", sound_emulated=False)},
            "wrong_emulator",
        ),
    ],
)
async def test_another_game_or_emulator_is_rejected(handle, stored, changes, reason):
    assert (await rejection(handle, stored(**changes))).reason == reason


async def test_changed_bytes_of_a_capture_are_rejected(handle, stored, file_store):
    event = stored()
    file_store.put(event.capture_key, file_store.get(event.capture_key) + b" ")
    assert (await rejection(handle, event)).reason == "corrupt_capture"


async def test_objects_that_are_too_large_to_read_are_rejected(handle, stored, file_store):
    event = stored()
    file_store.put(event.capture_key, bytes(size_limit(event.capture_key) + 1))
    assert (await rejection(handle, event)).reason == "corrupt_capture"
    key = keys.manifest("ep-1", event.segment_id)
    file_store.put(key, bytes(size_limit(key) + 1))
    assert (await rejection(handle, event)).reason == "corrupt_manifest"


async def test_an_invalid_capture_is_rejected(handle, stored, file_store):
    event = stored()
    file_store.put(event.capture_key, b"{}")
    event = event.model_copy(update={"capture_sha256": hashlib.sha256(b"{}").hexdigest()})
    rejected = await rejection(handle, event)
    assert (rejected.reason, "is not a capture" in rejected.detail) == ("corrupt_capture", True)


@pytest.mark.parametrize(
    "changes",
    [
        {"episode_id": "ep-2", "capture_key": "captures/ep-1/ep-1-s00000.capture"},
        {"run_id": "another"},
        {"keyframe_sha256": "c" * 64},
    ],
)
async def test_an_event_that_contradicts_its_capture_is_rejected(handle, stored, changes):
    event = stored().model_copy(update=changes)
    assert (await rejection(handle, event)).reason == "corrupt_capture"


@pytest.mark.parametrize("found", [b"junk", pack_keyframe(b"\x1d another state").data])
async def test_a_damaged_keyframe_is_tried_again_until_it_is_repaired(
    handle, stored, file_store, publisher, found
):
    event = stored()
    whole = file_store.get(event.keyframe_key)
    file_store.put(event.keyframe_key, found)
    with pytest.raises(Suspect) as caught:
        await handle(event)
    assert caught.value.reason == "corrupt_keyframe"
    file_store.put(event.keyframe_key, whole)
    await handle(event)
    assert len(publisher.published) == 1


@pytest.mark.parametrize("damage", ["changed", "cut", "deleted"])
async def test_damaged_files_of_a_stored_segment_are_replaced(
    handle, stored, file_store, publisher, damage
):
    event = stored()
    await handle(event)
    key = keys.segment("ep-1", event.segment_id, "states.jsonl")
    whole = {each: file_store.get(each) for each in objects(file_store)}
    match damage:
        case "changed":
            file_store.put(key, whole[key].upper())
        case "cut":
            file_store.put(key, whole[key][:10])
        case "deleted":
            file_store.delete_many([key])
    await handle(event)
    assert {each: file_store.get(each) for each in objects(file_store)} == whole
    assert publisher.published[0] == publisher.published[1]


async def test_a_whole_segment_is_not_replayed_again(handle, stored, metrics):
    event = stored()
    await handle(event)
    await handle(event)
    assert 'segments_total{result="repeated"} 1.0' in metrics.exposition().decode()


async def test_a_replay_of_hours_is_refused(handle, stored, monkeypatch):
    monkeypatch.setattr(ReplaySettings, "max_frames", 10_000)
    event = stored(prefix_actions="7" * 5_000)
    assert (await rejection(handle, event)).reason == "corrupt_capture"


async def test_a_store_that_is_away_means_trying_again(handle, stored, file_store, monkeypatch):
    event = stored()

    def away(key, data, *, content_type=""):
        raise StoreUnavailableError("no answer")

    monkeypatch.setattr(file_store, "put", away)
    with pytest.raises(Retry, match="no answer"):
        await handle(event)


async def test_a_broken_manifest_is_rejected_not_overwritten(handle, stored, file_store):
    event = stored()
    key = keys.manifest("ep-1", event.segment_id)
    file_store.put(key, b"not json")
    assert (await rejection(handle, event)).reason == "corrupt_manifest"
    assert file_store.get(key) == b"not json"
