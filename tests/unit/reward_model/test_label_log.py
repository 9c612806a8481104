"""The log of labels follows the score objects, whatever events arrive."""

import io
import json
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.comparisons import ComparisonRecord
from rlaif.reward_model.labels.export import json_lines, parquet
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.reward_model.labels.labels import kept_rows, label_digest
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore, StoreUnavailableError
from rlaif.testing.data.scored_segments import ScoredSegment, play, write_scored

SEGMENTS = play(episodes=2, each=4, signal=True)


class SpiedStore:
    """Passes everything on; counts reads, and fails them when told to."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.read: list[str] = []
        self.failing = ""
        self.unlisted: set[str] = set()
        self.modified: dict[str, datetime] = {}

    def get(self, key: str) -> bytes:
        self.read.append(key)
        if self.failing and self.failing in key:
            raise StoreUnavailableError("no answer")
        return self._store.get(key)

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        for info in self._store.list(prefix, after=after):
            if info.key in self.unlisted:
                continue
            yield replace(info, modified_at=self.modified.get(info.key, info.modified_at))

    def __getattr__(self, name: str) -> Any:
        return getattr(self._store, name)


@pytest.fixture
def store(file_store: ObjectStore) -> SpiedStore:
    return SpiedStore(file_store)


def log_of(store: Any, **changes: Any) -> LabelLog:
    arguments: dict[str, Any] = {"judge_config": "config-1", "most_labels": 100}
    return LabelLog(store, **(arguments | changes))


def ids(log: LabelLog) -> list[str]:
    return sorted(item.segment_id for item in log.labels)


def names(segments: list[ScoredSegment]) -> list[str]:
    return sorted(item.segment_id for item in segments)


def test_every_score_object_becomes_a_label_without_any_event(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    assert ids(log) == names(SEGMENTS)
    assert log.skipped == {}
    found = {item.segment_id: item for item in log.labels}
    for segment in SEGMENTS:
        kept = kept_rows(segment.observations)
        assert found[segment.segment_id].observations.tobytes() == kept.tobytes()
        assert found[segment.segment_id].decision_steps == len(segment.observations)
        assert found[segment.segment_id].values == segment.values
        assert found[segment.segment_id].env_step == segment.env_step
    assert [i.env_step for i in log.labels] == sorted(i.env_step for i in log.labels)


def test_permuted_scores_leave_the_inputs_unchanged_bit_for_bit(store):
    order = np.random.default_rng(0).permutation(len(SEGMENTS))
    for segment, other in zip(SEGMENTS, order, strict=True):
        write_scored(store, segment, judge_config="right")
        write_scored(store, segment, judge_config="permuted", values=SEGMENTS[other].values)
    inputs, values = [], []
    for config in ("right", "permuted"):
        log = log_of(store, judge_config=config)
        log.read_new(full=True)
        inputs.append([(i.segment_id, i.observations.tobytes()) for i in log.labels])
        values.append([i.values for i in log.labels])
    assert inputs[0] == inputs[1]
    assert values[0] != values[1]


def test_a_short_look_reads_only_what_is_new(store):
    log = log_of(store)
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    log.read_new(full=True)
    store.read.clear()
    log.read_new(full=False)
    assert store.read == []
    write_scored(store, SEGMENTS[3])
    log.read_new(full=False)
    assert ids(log) == names(SEGMENTS[:4])
    assert len(store.read) == 3  # score, manifest, observations


def test_a_score_with_a_lower_key_is_found_by_its_hint_or_by_the_next_full_look(store):
    log = log_of(store)
    write_scored(store, SEGMENTS[5])
    log.read_new(full=True)
    hinted = write_scored(store, SEGMENTS[1])
    write_scored(store, SEGMENTS[0])
    log.read_new(full=False)
    assert ids(log) == names([SEGMENTS[5]])
    log.read_new([hinted.score_key], full=False)
    assert ids(log) == names([SEGMENTS[1], SEGMENTS[5]])
    log.read_new(full=True)
    assert ids(log) == names([SEGMENTS[0], SEGMENTS[1], SEGMENTS[5]])


def test_a_hint_that_is_ahead_of_the_listing_hides_no_key_below_it(store):
    log = log_of(store)
    write_scored(store, SEGMENTS[0])
    log.read_new(full=True)
    ahead = write_scored(store, SEGMENTS[6]).score_key
    store.unlisted = {ahead}
    log.read_new([ahead], full=False)
    store.unlisted = set()
    write_scored(store, SEGMENTS[5])
    log.read_new(full=False)
    assert ids(log) == names([SEGMENTS[0], SEGMENTS[5], SEGMENTS[6]])


def test_scores_that_are_no_labels_are_counted_by_reason_and_read_once(store):
    write_scored(store, SEGMENTS[0])
    write_scored(store, SEGMENTS[1], observations=b"other bytes")
    write_scored(store, SEGMENTS[2], values={"novelty": 1.0})
    event = write_scored(store, SEGMENTS[3])
    store.delete_many([keys.manifest(SEGMENTS[3].episode_id, SEGMENTS[3].segment_id)])
    store.put(keys.score("config-1", "zz-broken"), b"{}")
    store.put(keys.score("config-1", "zz-copy"), store.get(event.score_key))
    log = log_of(store)
    log.read_new(full=True)
    assert ids(log) == names(SEGMENTS[:1])
    assert log.skipped == {
        "hash_mismatch": 1,
        "abstained": 1,
        "missing": 1,
        "invalid": 1,
        "other_segment": 1,
    }
    store.read.clear()
    log.read_new(full=True)
    assert store.read == []


def test_a_manifest_that_was_replaced_after_scoring_is_refused(store):
    write_scored(store, SEGMENTS[0])
    key = keys.manifest(SEGMENTS[0].episode_id, SEGMENTS[0].segment_id)
    store.put(key, store.get(key) + b" ")
    log = log_of(store)
    log.read_new(full=True)
    assert log.skipped == {"hash_mismatch": 1}


def test_an_outage_of_the_store_loses_no_label(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    store.failing = "observations.npy"
    with pytest.raises(StoreUnavailableError):
        log.read_new(full=True)
    store.failing = ""
    log.read_new(full=False)
    assert ids(log) == names(SEGMENTS)
    assert log.skipped == {}


def test_only_the_newest_labels_are_kept_and_older_ones_are_not_even_loaded(store):
    for segment in SEGMENTS[:6]:
        write_scored(store, segment)
    newest = sorted(SEGMENTS[:6], key=lambda item: item.env_step)[-3:]
    log = log_of(store, most_labels=3)
    log.read_new(full=True)
    assert ids(log) == names(newest)
    assert sum("observations.npy" in key for key in store.read) == 3
    late = max(SEGMENTS, key=lambda item: item.env_step)
    write_scored(store, late)
    log.read_new(full=True)
    assert ids(log) == names([*newest[1:], late])


def test_unset_takes_the_configuration_that_scored_last_and_never_mixes(store):
    old = write_scored(store, SEGMENTS[0], judge_config="zz-old")
    new = write_scored(store, SEGMENTS[1], judge_config="aa-new")
    now = datetime(2026, 1, 2, tzinfo=UTC)
    store.modified = {old.score_key: now - timedelta(hours=1), new.score_key: now}
    store.put("scores/epoch_3/scores.jsonl", b"the seeds' view is no score object")
    log = log_of(store, judge_config=None)
    log.read_new(full=True)
    assert (log.judge_config, ids(log)) == ("aa-new", names([SEGMENTS[1]]))
    again = write_scored(store, SEGMENTS[2], judge_config="zz-old")
    store.modified[again.score_key] = now + timedelta(hours=1)
    log.read_new([again.score_key], full=False)
    assert log.judge_config == "aa-new"
    assert ids(log) == names([SEGMENTS[1]])
    log.read_new(full=True)
    assert (log.judge_config, ids(log)) == ("zz-old", names([SEGMENTS[0], SEGMENTS[2]]))


def test_before_the_first_score_there_is_no_configuration(store):
    log = log_of(store, judge_config=None)
    log.read_new(full=False)
    assert (log.judge_config, log.labels) == (None, ())
    write_scored(store, SEGMENTS[0])
    log.read_new(full=False)
    assert ids(log) == names(SEGMENTS[:1])


def override(store, segment, revision, value):
    """What a person says of a segment."""
    values = dict.fromkeys(segment.values, value)
    return write_scored(store, segment, judge_config=f"human-{revision}", values=values)


def test_what_a_person_said_counts_before_the_judges_and_the_last_word_counts(store):
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    override(store, SEGMENTS[0], 1, 0.0)
    log = log_of(store)
    log.read_new(full=True)
    assert ids(log) == names(SEGMENTS[:3])
    found = {item.segment_id: item for item in log.labels}
    assert found[SEGMENTS[0].segment_id].values == dict.fromkeys(SEGMENTS[0].values, 0.0)
    assert found[SEGMENTS[1].segment_id].revision == 0
    override(store, SEGMENTS[0], 2, 1.0)
    log.read_new(full=False)
    found = {item.segment_id: item for item in log.labels}
    assert found[SEGMENTS[0].segment_id].values == dict.fromkeys(SEGMENTS[0].values, 1.0)
    assert found[SEGMENTS[0].segment_id].revision == 2


def test_overrides_are_never_taken_for_the_judges_that_scored_last(store):
    now = datetime(2026, 1, 2, tzinfo=UTC)
    old = write_scored(store, SEGMENTS[0])
    new = override(store, SEGMENTS[0], 1, 1.0)
    store.modified = {old.score_key: now, new.score_key: now + timedelta(hours=1)}
    log = log_of(store, judge_config=None)
    log.read_new(full=True)
    assert log.judge_config == "config-1"
    assert [item.revision for item in log.labels] == [1]


def test_a_person_is_kept_when_the_judges_labels_are_too_many(store):
    oldest = min(SEGMENTS, key=lambda item: item.env_step)
    override(store, oldest, 1, 1.0)
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store, most_labels=2)
    log.read_new(full=True)
    assert oldest.segment_id in ids(log)
    assert len(log.labels) == 3


def test_labels_of_two_runs_are_ordered_by_run_and_not_by_step(store):
    early, late = datetime(2026, 1, 1, tzinfo=UTC), datetime(2026, 1, 2, tzinfo=UTC)
    first, second = sorted(SEGMENTS[:2], key=lambda item: -item.env_step)
    assert first.env_step > second.env_step
    write_scored(store, first, run_id="run-a", created_at=early)
    write_scored(store, second, run_id="run-b", created_at=late)
    log = log_of(store)
    log.read_new(full=True)
    assert [item.run_id for item in log.labels] == ["run-a", "run-b"]
    few = log_of(store, most_labels=1)
    few.read_new(full=True)
    assert [item.run_id for item in few.labels] == ["run-b"]


def test_the_log_is_the_same_after_a_restart(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    override(store, SEGMENTS[2], 1, 0.5)
    one, other = log_of(store), log_of(store)
    for segment in SEGMENTS[:4]:
        one.read_new([keys.score("config-1", segment.segment_id)], full=False)
    one.read_new(full=True)
    other.read_new(full=True)
    assert label_digest(one.labels) == label_digest(other.labels)


def test_the_export_holds_every_score_used_or_not_and_says_why(store):
    for segment in SEGMENTS[:2]:
        write_scored(store, segment)
    write_scored(store, SEGMENTS[2], values={"novelty": 1.0})
    override(store, SEGMENTS[0], 1, 0.0)
    store.put(keys.score("config-1", "zz-broken"), b"{}")
    log = log_of(store)
    log.read_new(full=True)
    told = {entry.score_key: (entry.used, entry.why_not) for entry in log.entries()}
    assert told == {
        keys.score("config-1", SEGMENTS[0].segment_id): (False, "overridden"),
        keys.score("config-1", SEGMENTS[1].segment_id): (True, None),
        keys.score("config-1", SEGMENTS[2].segment_id): (False, "abstained"),
        keys.score("config-1", "zz-broken"): (False, "invalid"),
        keys.score("human-1", SEGMENTS[0].segment_id): (True, None),
    }


def test_an_exported_line_has_the_whole_provenance(store):
    event = write_scored(store, SEGMENTS[0])
    log = log_of(store)
    log.read_new(full=True)
    (line,) = json_lines(log.entries())
    told = json.loads(line)
    record = json.loads(store.get(event.score_key))
    assert told["score_sha256"] == event.score_sha256
    for name in ("manifest_sha256", "judge_config", "criteria", "weights", "calls", "run_id"):
        assert told[name] == record[name]


def test_parquet_holds_the_same_rows(store):
    parquet_module = pytest.importorskip("pyarrow.parquet")
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    table = parquet_module.read_table(io.BytesIO(parquet(log.entries()))).to_pylist()
    assert [row["segment_id"] for row in table] == names(SEGMENTS[:3])
    assert table[0]["value_progress"] == SEGMENTS[0].values["progress"]
    assert set(json.loads(table[0]["criteria"])) == set(SEGMENTS[0].values)


def comparison(first: ScoredSegment, second: ScoredSegment, log: LabelLog) -> ComparisonRecord:
    """What judges said who were shown both, of their scores as the log has them."""
    one, other = sorted((first.segment_id, second.segment_id))
    digests = {item.segment_id: item.score_sha256 for item in log.labels}
    return ComparisonRecord(
        judge_config="config-1", judge="puzzle", first=one, second=other,
        first_score_sha256=digests[one], second_score_sha256=digests[other],
        first_shown_first="first", second_shown_first="first", soft=1.0, calls=(),
        created_at=datetime(2026, 1, 2, tzinfo=UTC),
    )  # fmt: skip


def preferred(log: LabelLog) -> dict[str, dict[str, float]]:
    return {item.segment_id: item.preferred for item in log.labels if item.preferred}


def test_a_comparison_counts_in_both_labels_until_a_person_overrules_a_score(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    record = comparison(SEGMENTS[0], SEGMENTS[1], log)
    key = keys.comparison("config-1", record.first, record.second)
    store.put_once(key, record.model_dump_json().encode())
    log.read_new(full=False)
    assert preferred(log) == {}
    log.read_new(full=True)
    log.read_new(full=True)
    assert preferred(log) == {
        record.first: {record.second: 1.0}, record.second: {record.first: 0.0}
    }  # fmt: skip
    assert store.read.count(key) == 1
    override(store, SEGMENTS[0], 1, 1.0)
    log.read_new(full=True)
    assert preferred(log) == {}


def test_a_comparison_of_a_segment_that_is_forgotten_is_forgotten_too(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    newest = sorted(SEGMENTS, key=lambda item: item.env_step)[-2:]
    for first, second in ([each for each in SEGMENTS if each not in newest][:2], newest):
        record = comparison(first, second, log)
        key = keys.comparison("config-1", record.first, record.second)
        store.put_once(key, record.model_dump_json().encode())
    short = log_of(store, most_labels=2)
    short.read_new(full=True)
    assert set(preferred(short)) == {item.segment_id for item in newest}
