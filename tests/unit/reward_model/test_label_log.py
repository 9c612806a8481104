"""The log of labels follows the score objects, whatever events arrive."""

from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from typing import Any

import numpy as np
import pytest

from rlaif.reward_model.adapters.label_log import LabelLog
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore, StoreUnavailableError
from rlaif.testing.scored_segments import ScoredSegment, play, write_scored

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
    log.look(full=True)
    assert ids(log) == names(SEGMENTS)
    assert log.skipped == {}
    found = {item.segment_id: item for item in log.labels}
    for segment in SEGMENTS:
        assert found[segment.segment_id].observations.tobytes() == segment.observations.tobytes()
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
        log.look(full=True)
        inputs.append([(i.segment_id, i.observations.tobytes()) for i in log.labels])
        values.append([i.values for i in log.labels])
    assert inputs[0] == inputs[1]
    assert values[0] != values[1]


def test_a_short_look_reads_only_what_is_new(store):
    log = log_of(store)
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    log.look(full=True)
    store.read.clear()
    log.look(full=False)
    assert store.read == []
    write_scored(store, SEGMENTS[3])
    log.look(full=False)
    assert ids(log) == names(SEGMENTS[:4])
    assert len(store.read) == 3  # score, manifest, observations


def test_a_score_with_a_lower_key_is_found_by_its_hint_or_by_the_next_full_look(store):
    log = log_of(store)
    write_scored(store, SEGMENTS[5])
    log.look(full=True)
    hinted = write_scored(store, SEGMENTS[1])
    write_scored(store, SEGMENTS[0])
    log.look(full=False)
    assert ids(log) == names([SEGMENTS[5]])
    log.look([hinted.score_key], full=False)
    assert ids(log) == names([SEGMENTS[1], SEGMENTS[5]])
    log.look(full=True)
    assert ids(log) == names([SEGMENTS[0], SEGMENTS[1], SEGMENTS[5]])


def test_a_hint_that_is_ahead_of_the_listing_hides_no_key_below_it(store):
    log = log_of(store)
    write_scored(store, SEGMENTS[0])
    log.look(full=True)
    ahead = write_scored(store, SEGMENTS[6]).score_key
    store.unlisted = {ahead}
    log.look([ahead], full=False)
    store.unlisted = set()
    write_scored(store, SEGMENTS[5])
    log.look(full=False)
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
    log.look(full=True)
    assert ids(log) == names(SEGMENTS[:1])
    assert log.skipped == {
        "hash_mismatch": 1,
        "abstained": 1,
        "missing": 1,
        "invalid": 1,
        "other_segment": 1,
    }
    store.read.clear()
    log.look(full=True)
    assert store.read == []


def test_a_manifest_that_was_replaced_after_scoring_is_refused(store):
    write_scored(store, SEGMENTS[0])
    key = keys.manifest(SEGMENTS[0].episode_id, SEGMENTS[0].segment_id)
    store.put(key, store.get(key) + b" ")
    log = log_of(store)
    log.look(full=True)
    assert log.skipped == {"hash_mismatch": 1}


def test_an_outage_of_the_store_loses_no_label(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    store.failing = "observations.npy"
    with pytest.raises(StoreUnavailableError):
        log.look(full=True)
    store.failing = ""
    log.look(full=False)
    assert ids(log) == names(SEGMENTS)
    assert log.skipped == {}


def test_only_the_newest_labels_are_kept_and_older_ones_are_not_even_loaded(store):
    for segment in SEGMENTS[:6]:
        write_scored(store, segment)
    newest = sorted(SEGMENTS[:6], key=lambda item: item.env_step)[-3:]
    log = log_of(store, most_labels=3)
    log.look(full=True)
    assert ids(log) == names(newest)
    assert sum("observations.npy" in key for key in store.read) == 3
    late = max(SEGMENTS, key=lambda item: item.env_step)
    write_scored(store, late)
    log.look(full=True)
    assert ids(log) == names([*newest[1:], late])


def test_unset_takes_the_configuration_that_scored_last_and_never_mixes(store):
    old = write_scored(store, SEGMENTS[0], judge_config="zz-old")
    new = write_scored(store, SEGMENTS[1], judge_config="aa-new")
    now = datetime(2026, 1, 2, tzinfo=UTC)
    store.modified = {old.score_key: now - timedelta(hours=1), new.score_key: now}
    store.put("scores/epoch_3/scores.jsonl", b"the seeds' view is no score object")
    log = log_of(store, judge_config=None)
    log.look(full=True)
    assert (log.judge_config, ids(log)) == ("aa-new", names([SEGMENTS[1]]))
    again = write_scored(store, SEGMENTS[2], judge_config="zz-old")
    store.modified[again.score_key] = now + timedelta(hours=1)
    log.look([again.score_key], full=False)
    assert log.judge_config == "aa-new"
    assert ids(log) == names([SEGMENTS[1]])
    log.look(full=True)
    assert (log.judge_config, ids(log)) == ("zz-old", names([SEGMENTS[0], SEGMENTS[2]]))


def test_before_the_first_score_there_is_no_configuration(store):
    log = log_of(store, judge_config=None)
    log.look(full=False)
    assert (log.judge_config, log.labels) == (None, ())
    write_scored(store, SEGMENTS[0])
    log.look(full=False)
    assert ids(log) == names(SEGMENTS[:1])
