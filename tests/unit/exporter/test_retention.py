"""Segments are deleted after some days; their captures and scores stay."""

from datetime import UTC, datetime, timedelta

import pytest

from rlaif.exporter import retention as module
from rlaif.exporter.consumers import ExporterMetrics
from rlaif.exporter.retention import Retention
from rlaif.storage import keys
from rlaif.testing.crashing import Crash, crashing
from rlaif.testing.data.judging.segments import write_segment

LATER = datetime.now(UTC) + timedelta(days=8)
KEPT = [
    keys.capture("ep-1", "seg-1"),
    keys.keyframe("a" * 64),
    keys.score("judge", "seg-1"),
    keys.room_picture("run-1", 4, 1),
    "probe/x",
]


@pytest.fixture
def retention(file_store, metrics):
    def made(store=file_store, days=7):
        return Retention(store, ExporterMetrics(metrics), days=days, now=lambda: LATER)

    return made


def objects(store):
    return [info.key for info in store.list()]


@pytest.mark.parametrize("batch", [1, 3, 1000])
async def test_old_segments_go_and_everything_else_stays(file_store, retention, monkeypatch, batch):
    monkeypatch.setattr(module, "_BATCH", batch)
    monkeypatch.setattr(module, "_PAUSE_SECONDS", 0)
    for key in KEPT:
        file_store.put(key, b"x")
    write_segment(file_store, "seg-1")
    write_segment(file_store, "seg-2")
    await retention().look()
    assert objects(file_store) == sorted(KEPT)


async def test_young_segments_stay(file_store, retention):
    write_segment(file_store, "seg-1")
    before = objects(file_store)
    await retention(days=9).look()
    assert objects(file_store) == before


async def test_what_a_crash_leaves_has_no_manifest_and_goes_next_time(file_store, retention):
    write_segment(file_store, "seg-1")
    with pytest.raises(Crash):
        await retention(crashing(file_store, 0, after=True)).look()
    left = objects(file_store)
    assert left != []
    assert keys.manifest("ep-1", "seg-1") not in left
    await retention().look()
    assert objects(file_store) == []


async def test_a_deleted_segment_is_exported_again_with_the_same_bytes(
    file_store, retention, metrics, stored, handle
):
    event = stored()
    await handle(event)
    before = {key: file_store.get(key) for key in objects(file_store)}
    await retention().look()
    deleted = before.keys() - set(objects(file_store))
    assert keys.manifest("ep-1", event.segment_id) in deleted
    assert f"expired_objects_total {len(deleted)}.0" in metrics.exposition().decode()
    await handle(event)
    assert {key: file_store.get(key) for key in objects(file_store)} == before
