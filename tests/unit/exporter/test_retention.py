"""Segments are deleted after some days, then their captures and scores, once not needed."""

from datetime import UTC, datetime, timedelta
from typing import Any

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
    def made(store=file_store, days=7, **more):
        kept: Any = {"segments": days, **more}
        return Retention(store, ExporterMetrics(metrics), days=kept, now=lambda: LATER)

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
    assert (
        f'expired_objects_total{{kind="segments"}} {len(deleted)}.0'
        in metrics.exposition().decode()
    )
    await handle(event)
    assert {key: file_store.get(key) for key in objects(file_store)} == before


CAPTURE, SCORE = keys.capture("ep-1", "seg-1"), keys.score("judge", "seg-1")
AGAIN, HUMAN = keys.rejudged("judge", "seg-1"), keys.score("human-1", "seg-1")
MANIFEST = keys.manifest("ep-1", "seg-1")


@pytest.mark.parametrize(
    ("stored_keys", "left"),
    [
        pytest.param([CAPTURE, SCORE], [SCORE], id="a scored segment that is deleted"),
        pytest.param([CAPTURE], [CAPTURE], id="a segment that is not scored, and can be redriven"),
        pytest.param([CAPTURE, HUMAN], [HUMAN], id="a segment that a person scored"),
        pytest.param([MANIFEST, CAPTURE, SCORE], [SCORE], id="a segment that is old as well"),
    ],
)
async def test_captures_go_when_nothing_can_be_exported_from_them(
    file_store, retention, stored_keys, left
):
    for key in stored_keys:
        file_store.put(key, b"x")
    passes = retention(captures=7)
    for _ in range(3):
        await passes.look()
    assert objects(file_store) == left


@pytest.mark.parametrize("young", [[MANIFEST], [MANIFEST, CAPTURE], [CAPTURE]])
async def test_a_score_stays_as_long_as_its_segment_or_capture(file_store, retention, young):
    for key in (*young, SCORE):
        file_store.put(key, b"x")
    passes = retention(days=9, captures=9, scores=7)
    for _ in range(3):
        await passes.look()
    assert objects(file_store) == sorted([*young, SCORE])


async def test_a_capture_stays_as_long_as_its_segment(file_store, retention):
    for key in (MANIFEST, CAPTURE, SCORE):
        file_store.put(key, b"x")
    passes = retention(days=9, captures=7, scores=7)
    for _ in range(3):
        await passes.look()
    assert objects(file_store) == sorted((MANIFEST, CAPTURE, SCORE))


@pytest.mark.parametrize(
    ("stored_keys", "left"),
    [
        pytest.param([CAPTURE, SCORE, AGAIN], [], id="nothing else is left of the segment"),
        pytest.param([SCORE, HUMAN], sorted([SCORE, HUMAN]), id="a person scored it"),
        pytest.param([keys.epoch_scores(3, "jsonl")], [keys.epoch_scores(3, "jsonl")], id="report"),
    ],
)
async def test_scores_go_last(file_store, retention, stored_keys, left):
    for key in stored_keys:
        file_store.put(key, b"x")
    passes = retention(captures=7, scores=7)
    for _ in range(4):
        await passes.look()
    assert objects(file_store) == left


async def test_young_captures_and_scores_stay(file_store, retention):
    for key in (CAPTURE, SCORE):
        file_store.put(key, b"x")
    passes = retention(captures=9, scores=9)
    for _ in range(4):
        await passes.look()
    assert objects(file_store) == [CAPTURE, SCORE]


async def test_captures_that_a_pass_has_no_room_for_go_later(file_store, retention, monkeypatch):
    monkeypatch.setattr(module, "_MAX_OLD", 1)
    for name in ("seg-1", "seg-2", "seg-3"):
        file_store.put(keys.capture("ep-1", name), b"x")
        file_store.put(keys.score("judge", name), b"x")
    passes = retention(captures=7, scores=7)
    for _ in range(12):
        await passes.look()
    assert objects(file_store) == []


async def test_the_growth_of_every_prefix_is_published(file_store, metrics):
    for key in (CAPTURE, SCORE, HUMAN, keys.keyframe("a" * 64), MANIFEST):
        file_store.put(key, b"four")
    await Retention(file_store, ExporterMetrics(metrics), days={}).look()
    found = metrics.exposition().decode()
    for prefix, count in {"captures": 1, "scores": 2, "keyframes": 1, "segments": 1}.items():
        assert f'stored_objects{{prefix="{prefix}"}} {count}.0' in found
        assert f'stored_bytes{{prefix="{prefix}"}} {count * 4}.0' in found
    assert len(objects(file_store)) == 5
