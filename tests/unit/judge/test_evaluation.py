import asyncio
import json
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import pytest

from rlaif.bus.outcome import Reject, Retry
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import CriterionScore
from rlaif.judge.epoch import Epoch, EpochPass, find_epoch, judge_epoch, write_report
from rlaif.service.cli import InvalidSettingsError
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scores import judge_call, score_record

NOW = datetime(2026, 1, 2, tzinfo=UTC)
EPOCH = EpochPass(123_456 // 100_000, 100_000)


def _write(segments: Any, store: ObjectStore, *names: str) -> None:
    for name in names:
        segments.write_segment(store, name)


def _score(store: ObjectStore, segment_id: str, config: str = "jtest", **changes: Any) -> None:
    fields: dict[str, Any] = {
        "segment_id": segment_id,
        "judge_config": config,
        "criteria": {
            "progress": CriterionScore(
                value=1, votes=(2, 2, 1), agreement=2 / 3, judge="state", soft=5 / 6
            )
        },
        "abstentions": {"dialog": "insufficient_evidence"},
        "weighted": 1.0,
        "truth": {"progress": 2},
        "calls": (judge_call(prompt_tokens=100, completion_tokens=10),),
    }
    record = score_record(**(fields | changes))
    store.put(keys.score(config, segment_id), record.model_dump_json().encode())


def _report(epoch: Epoch, store: ObjectStore) -> dict[str, Any]:
    return write_report(epoch, store, store, "jtest", NOW)


def test_an_epoch_is_a_range_of_environment_steps_of_one_run(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1", "seg-2")
    epoch = find_epoch(store, EPOCH)
    assert epoch.run_id == "run-1"
    assert [segment.segment_id for segment in epoch.segments] == ["seg-1", "seg-2"]


def test_an_epoch_without_segments_replaces_no_report(store: ObjectStore, segments: Any) -> None:
    _write(segments, store, "seg-1")
    for missing in (EpochPass(0, 100_000), replace(EPOCH, run_id="other")):
        with pytest.raises(InvalidSettingsError, match="runs with segments: run-1"):
            find_epoch(store, missing)


async def test_an_outage_is_waited_for_and_a_corrupt_segment_is_named(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1", "seg-2", "seg-3")
    epoch = find_epoch(store, EPOCH)
    tries: list[str] = []
    slept: list[float] = []

    async def handle(event: Any) -> None:
        tries.append(event.data.segment_id)
        if event.data.segment_id == "seg-2":
            raise Reject("corrupt_segment", "a digest is wrong")
        if tries.count(event.data.segment_id) < 3:
            raise Retry("a judge is out of reach", timedelta(seconds=2))

    async def sleep(seconds: float) -> None:
        slept.append(seconds)
        await asyncio.sleep(0)

    await judge_epoch(epoch, handle, concurrency=2, deadline_seconds=60, sleep=sleep)
    assert tries.count("seg-1") == tries.count("seg-3") == 3
    assert slept == [2.0] * 4
    assert epoch.failed == {"seg-2": "corrupt_segment: a digest is wrong"}


async def test_an_outage_that_outlasts_the_deadline_is_reported(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1")
    epoch = find_epoch(store, EPOCH)

    async def handle(event: Any) -> None:
        raise Retry("a judge is out of reach")

    await judge_epoch(epoch, handle, concurrency=1, deadline_seconds=0.0)
    assert "outage" in epoch.failed["seg-1"]


def test_the_report_has_a_line_a_segment_and_a_summary(store: ObjectStore, segments: Any) -> None:
    _write(segments, store, "seg-1", "seg-2", "seg-3")
    _score(store, "seg-1")
    _score(store, "seg-2", weighted=None, criteria={}, truth={})
    epoch = find_epoch(store, EPOCH)
    report = _report(epoch, store)
    lines = store.get("scores/epoch_1/scores.jsonl").decode().splitlines()
    rows = [json.loads(line) for line in lines]
    assert [row["segment_id"] for row in rows] == ["seg-1", "seg-2"]
    assert rows[0]["progress"] == 1.0
    assert rows[0]["progress_soft"] == pytest.approx(5 / 6)
    assert rows[0]["novelty"] is None
    assert rows[0]["abstentions"] == {"dialog": "insufficient_evidence"}
    assert (report["segments"], report["judged"], report["labels"]) == (3, 2, 1)
    assert report["criteria"]["progress"]["mean"] == 1.0
    assert report["criteria"]["dialog"]["abstentions"] == {"insufficient_evidence": 2}
    assert report["judges"]["state"]["criteria"]["progress"]["truth"]["accuracy"] == pytest.approx(
        2 / 3
    )
    assert report["tokens_per_label"] == 220
    stored = json.loads(store.get("evaluations/epoch_1/summary.json"))
    assert stored == report


def test_the_report_says_how_far_the_players_came_and_what_models_decided_of_it(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1", "seg-2")
    start, end = QuestPosition(objective=2, distance=20), QuestPosition(objective=2, distance=0)
    quest = QuestProgress(
        start=start, end=end, objectives=18, votes=3, agreement=1.0, judge="state"
    )
    novelty = CriterionScore(value=0, votes=(0,), agreement=1, judge="ram", source="computed")
    voted = CriterionScore(value=1, votes=(2, 2, 2), agreement=1, judge="state")
    _score(store, "seg-1", criteria={"progress": voted, "novelty": novelty}, quest=quest)
    _score(store, "seg-2", criteria={}, truth={})
    report = _report(find_epoch(store, EPOCH), store)
    rows = [json.loads(line) for line in store.get("scores/epoch_1/scores.jsonl").splitlines()]
    assert [row["rise"] for row in rows] == [pytest.approx(0.9), None]
    assert (rows[0]["position_start"], rows[0]["position_end"]) == (1.0, pytest.approx(1.9))
    assert [row["judged_share"] for row in rows] == [pytest.approx(0.8), None]
    assert (report["rise_mean"], report["judged_share"]) == (
        pytest.approx(0.9),
        pytest.approx(0.8),
    )
    # By its anchors the RAM says 2, of the rise it is not sure: nothing to hold votes against.
    assert report["judges"]["state"]["criteria"]["progress"]["truth"]["votes"] == 0


def test_a_persons_newest_word_stands_in_the_report(store: ObjectStore, segments: Any) -> None:
    _write(segments, store, "seg-1")
    _score(store, "seg-1")
    for revision, weighted in ((1, 0.25), (2, 0.5), (10, 0.75)):
        _score(store, "seg-1", f"human-{revision}", weighted=weighted, provenance="human", calls=())
    epoch = find_epoch(store, EPOCH)
    assert _report(epoch, store)["overridden"] == 1
    row = json.loads(store.get("scores/epoch_1/scores.jsonl"))
    assert (row["weighted"], row["provenance"]) == (0.75, "human")


def test_a_corrupt_object_fails_its_segment_and_not_the_report(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1", "seg-2", "seg-3", "seg-4")
    for name in ("seg-1", "seg-2", "seg-3"):
        _score(store, name)
    store.put(keys.score("human-1", "seg-2"), b"{")
    manifest = next(i.key for i in store.list() if (keys.manifest_ids(i.key) or "  ")[1] == "seg-4")
    store.put(manifest, b"{")
    report = _report(find_epoch(store, EPOCH), store)
    assert (report["segments"], report["judged"]) == (3, 2)
    failed = {name: why.split(":")[0] for name, why in report["failed"].items()}
    assert failed == {"seg-2": "corrupt_score", "seg-4": "corrupt_manifest, of an unknown epoch"}


def test_the_report_claims_no_statistics_that_scores_do_not_hold(
    store: ObjectStore, segments: Any
) -> None:
    _write(segments, store, "seg-1")
    _score(store, "seg-1")
    state = _report(find_epoch(store, EPOCH), store)["judges"]["state"]
    assert state["prompt_tokens"] == 100
    assert not {"believed", "comparisons", "abstain_rate"} & state.keys()
    assert state["criteria"]["progress"].keys() == {"truth"}
