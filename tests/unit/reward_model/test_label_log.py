"""The log of labels follows the score objects, whatever events arrive."""

import gc
import io
import json
import tracemalloc
from collections.abc import Iterator
from dataclasses import replace
from datetime import UTC, datetime, timedelta
from itertools import islice
from typing import Any

import numpy as np
import pytest

from rlaif.contracts.judging.comparisons import ComparisonRecord
from rlaif.contracts.judging.scores import LEARNED
from rlaif.reward_model.labels import label_log
from rlaif.reward_model.labels.export import json_lines, parquet
from rlaif.reward_model.labels.label_log import LabelLog, sample
from rlaif.reward_model.labels.labels import kept_rows
from rlaif.storage import keys
from rlaif.storage.ports import ObjectInfo, ObjectStore, StoreUnavailableError
from rlaif.testing.data.judging.comparisons import compared
from rlaif.testing.data.judging.scored_segments import ScoredSegment, play, write_scored

SEGMENTS = play(episodes=2, each=4, signal=True)


class SpiedStore:
    """Counts reads, and fails them on request."""

    def __init__(self, store: ObjectStore) -> None:
        self._store = store
        self.read: list[str] = []
        self.failing = ""
        self.unlisting = False
        self.breaks_after: int | None = None
        self.modified: dict[str, datetime] = {}

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        self.read.append(key)
        if self.failing and self.failing in key:
            raise StoreUnavailableError("no answer")
        return self._store.get(key)

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        if self.unlisting:
            raise StoreUnavailableError("no answer")
        yield from islice(self.list(prefix), self.breaks_after)
        if self.breaks_after is not None:
            raise StoreUnavailableError("no answer")

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        yield from map(self._dated, self._store.list(prefix, after=after))

    def head(self, key: str) -> ObjectInfo | None:
        info = self._store.head(key)
        return None if info is None else self._dated(info)

    def _dated(self, info: ObjectInfo) -> ObjectInfo:
        return replace(info, modified_at=self.modified.get(info.key, info.modified_at))

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


def learned(segment: ScoredSegment) -> dict[str, float]:
    """What a label holds of what judges said of a segment."""
    return {name: segment.values[name] for name in LEARNED}


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
        assert found[segment.segment_id].values == learned(segment)
        assert found[segment.segment_id].env_step == segment.env_step
    assert [i.env_step for i in log.labels] == sorted(i.env_step for i in log.labels)


def test_a_look_reads_only_what_its_event_names(store):
    log = log_of(store)
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    log.read_new(full=True)
    store.read.clear()
    log.read_new(full=False)
    assert store.read == []
    scored = write_scored(store, SEGMENTS[3])
    log.read_new([scored.score_key, "captures/no-score", ""], full=False)
    assert ids(log) == names(SEGMENTS[:4])
    assert len(store.read) == 3  # score, manifest, observations


def test_after_the_first_poll_a_listing_continues_over_many_polls(store, monkeypatch):
    monkeypatch.setattr(label_log, "KEYS_PER_POLL", 3)
    log = log_of(store)
    write_scored(store, SEGMENTS[0])
    log.read_new(full=True)
    for segment in SEGMENTS[1:]:
        write_scored(store, segment)
    found = []
    for poll in range(4):
        log.read_new(full=poll == 0)
        found.append(len(log.labels))
    assert found == [3, 6, 8, 8]


def test_a_first_listing_that_breaks_off_is_done_again_at_once(store, monkeypatch):
    monkeypatch.setattr(label_log, "KEYS_PER_POLL", 3)
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    store.breaks_after = 5
    with pytest.raises(StoreUnavailableError):
        log.read_new(full=True)
    store.breaks_after = None
    log.read_new(full=False)
    assert ids(log) == names(SEGMENTS)
    assert log.judge_configs[0].scores == len(SEGMENTS)


def test_a_listing_that_was_broken_off_is_done_again(store):
    write_scored(store, SEGMENTS[0])
    log = log_of(store)
    log.read_new(full=True)
    write_scored(store, SEGMENTS[1])
    store.unlisting = True
    with pytest.raises(StoreUnavailableError):
        log.read_new(full=True)
    store.unlisting = False
    log.read_new(full=False)
    assert ids(log) == names(SEGMENTS[:2])


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


def test_half_of_what_is_kept_are_the_newest_and_what_is_left_out_is_not_even_loaded(store):
    many = play(episodes=10, each=8, signal=True, run="many")
    for segment in many:
        write_scored(store, segment)
    log = log_of(store, most_labels=20)
    log.read_new(full=True)
    kept = ids(log)
    assert len(kept) == 20
    assert set(names(many[-10:])) <= set(kept)
    assert len(store.read) == 3 * 20
    assert log.skipped == {"older": 60}
    assert len({item.episode_id for item in log.labels}) >= 8
    late = play(episodes=1, each=1, signal=True, run="late")[0]
    scored = write_scored(store, late)
    log.read_new([scored.score_key], full=True)
    assert late.segment_id in ids(log)
    assert len(set(kept) - set(ids(log))) == 1
    assert len(store.read) == 3 * 21


def test_a_forgotten_score_is_neither_read_nor_counted_again(store):
    many = play(episodes=10, each=8, signal=True, run="many")
    announced = [write_scored(store, segment).score_key for segment in many]
    log = log_of(store, most_labels=4)
    log.read_new(full=True)
    kept = ids(log)
    store.read.clear()
    for _ in range(2):
        log.read_new(full=True)
        log.read_new(announced, full=False)
    assert ids(log) == kept
    assert store.read == []
    assert log.skipped == {"older": 76}
    assert [item.scores for item in log.judge_configs] == [80]


def test_a_forgotten_score_that_is_no_label_is_not_read_again(store):
    for segment in play(episodes=10, each=8, signal=True, run="many"):
        write_scored(store, segment, values={"novelty": 1.0})
    log = log_of(store, most_labels=4)
    for _ in range(3):
        log.read_new(full=True)
    read = [key for key in store.read if key.startswith("scores/")]
    assert len(read) == len(set(read)) <= 12
    assert log.labels == ()


class ManyScores:
    """A store with so many scores, none of which can be read."""

    def __init__(self, count: int) -> None:
        self._count = count

    def list(self, prefix: str = "", *, after: str = "") -> Iterator[ObjectInfo]:
        for place in range(self._count if "scores/config-1/".startswith(prefix) else 0):
            key = keys.score("config-1", f"episode-{place // 30}-s{place:07d}")
            yield ObjectInfo(key, 1, NOW + timedelta(seconds=place))

    def scan(self, prefix: str = "") -> Iterator[ObjectInfo]:
        return self.list(prefix)

    def head(self, key: str) -> None:
        return None

    def get(self, key: str, max_bytes: int | None = None) -> bytes:
        return b"{}"


def test_memory_does_not_grow_with_the_number_of_scores():
    def peak(count: int) -> int:
        """Bytes in use at most."""
        gc.collect()
        tracemalloc.start()
        log = log_of(ManyScores(count), most_labels=24)
        log.read_new(full=True)
        log.read_new(full=True)
        found = tracemalloc.get_traced_memory()[1]
        tracemalloc.stop()
        assert log.judge_configs[0].scores == count
        return found

    peak(100)  # what is imported and cached once
    assert peak(16_000) - peak(4000) < 50 * 12_000


def test_labels_of_an_older_layout_have_the_room_that_is_left(store):
    many = play(episodes=4, each=8, signal=True, run="many")
    log = log_of(store, most_labels=8)
    kept = []
    for turn, segment in enumerate(many):
        layout = "old" if turn < 12 or turn == 14 else "new"
        scored = write_scored(store, segment, layout_version=layout, created_at=datetime.now(UTC))
        log.read_new([scored.score_key], full=turn == 0)
        layouts = [item.layout_version for item in log.labels]
        kept.append((layouts.count("old"), layouts.count("new")))
    assert kept[11:16] == [(8, 0), (7, 1), (6, 2), (7, 1), (6, 2)]
    assert kept[-1] == (0, 8), "only these can be learned from"


def test_scores_that_are_no_labels_make_room_for_others(store):
    for place, segment in enumerate(SEGMENTS):
        write_scored(store, segment, values={"novelty": 1.0} if place % 2 else None)
    log = log_of(store, most_labels=4)
    log.read_new(full=True)
    assert ids(log) == names(SEGMENTS[::2])


NOW = datetime(2026, 1, 2, tzinfo=UTC)


def score_by(store, config, segments, *, minutes):
    """Scores by a configuration, `minutes` after `NOW` by the store's clock; gives their keys."""
    made = [write_scored(store, segment, judge_config=config).score_key for segment in segments]
    store.modified |= dict.fromkeys(made, NOW + timedelta(minutes=minutes))
    return made


def test_two_configurations_in_turns_do_not_make_it_forget(store):
    """A rolling upgrade: replicas of the old and the new judge score side by side."""
    log = log_of(store, judge_config=None, enough_labels=4)
    score_by(store, "old", SEGMENTS[:5], minutes=0)
    log.read_new(full=True)
    store.read.clear()
    for turn, segment in enumerate(SEGMENTS[:3]):
        score_by(store, "new", [segment], minutes=1 + 2 * turn)
        score_by(store, "old", [SEGMENTS[5 + turn]], minutes=2 + 2 * turn)
        log.read_new(full=True)
        assert log.judge_config == "old"
    assert ids(log) == names(SEGMENTS)
    assert len(store.read) == 3 * 6, "each score was read once"
    assert [(i.judge_config, i.labels, i.learned) for i in log.judge_configs] == [
        ("new", 3, False), ("old", 8, True)
    ]  # fmt: skip
    hinted = score_by(store, "new", SEGMENTS[3:4], minutes=8)
    log.read_new(hinted, full=False)
    assert (log.judge_config, ids(log)) == ("new", names(SEGMENTS[:4]))
    score_by(store, "old", play(episodes=1, each=1, signal=True, run="last"), minutes=9)
    log.read_new(full=True)
    assert log.judge_config == "new"


def test_a_new_configuration_takes_over_from_one_that_is_silent_and_the_old_is_dropped(store):
    log = log_of(store, judge_config=None, enough_labels=4, patience_seconds=600)
    score_by(store, "old", SEGMENTS[:5], minutes=0)
    score_by(store, "new", SEGMENTS[5:6], minutes=9)
    log.read_new(full=True)
    assert log.judge_config == "old"
    score_by(store, "new", SEGMENTS[6:7], minutes=11)
    log.read_new(full=True)
    assert (log.judge_config, ids(log)) == ("new", names(SEGMENTS[5:7]))
    assert [(i.judge_config, i.scores, i.labels) for i in log.judge_configs] == [
        ("new", 2, 2), ("old", 5, 0)
    ]  # fmt: skip
    score_by(store, "old", SEGMENTS[7:], minutes=12)
    log.read_new(full=True)
    assert (log.judge_config, len(log.labels)) == ("old", 6)


def test_a_configuration_that_is_asked_for_is_the_only_one_that_is_read(store):
    score_by(store, "old", SEGMENTS[:2], minutes=0)
    other = score_by(store, "new", SEGMENTS, minutes=60)
    log = log_of(store, judge_config="old")
    log.read_new(other, full=True)
    assert (log.judge_config, ids(log)) == ("old", names(SEGMENTS[:2]))
    assert not set(other) & set(store.read)
    assert [(i.judge_config, i.scores, i.learned) for i in log.judge_configs] == [
        ("new", len(SEGMENTS), False), ("old", 2, True)
    ]  # fmt: skip


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
    assert found[SEGMENTS[0].segment_id].values == dict.fromkeys(LEARNED, 0.0)
    assert found[SEGMENTS[1].segment_id].revision == 0
    override(store, SEGMENTS[0], 2, 1.0)
    log.read_new(full=False)
    found = {item.segment_id: item for item in log.labels}
    assert found[SEGMENTS[0].segment_id].values == dict.fromkeys(LEARNED, 1.0)
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
    oldest, *others = SEGMENTS
    override(store, oldest, 1, 1.0)
    for segment in others:
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


def test_the_export_holds_every_score_used_or_not_and_says_why(store):
    for segment in SEGMENTS[:2]:
        write_scored(store, segment)
    write_scored(store, SEGMENTS[2], values={"novelty": 1.0})
    override(store, SEGMENTS[0], 1, 0.0)
    store.put(keys.score("config-1", "zz-broken"), b"{}")
    log = log_of(store)
    log.read_new(full=True)
    reported = {entry["score_key"]: (entry["used"], entry["why_not"]) for entry in log.entries()}
    assert reported == {
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
    reported = json.loads(line)
    record = json.loads(store.get(event.score_key))
    assert reported["score_sha256"] == event.score_sha256
    for name in ("manifest_sha256", "judge_config", "criteria", "weights", "calls", "run_id"):
        assert reported[name] == record[name]


def test_an_exported_line_says_which_share_is_the_judges_and_which_the_rams(store):
    event = write_scored(store, SEGMENTS[0])
    record = json.loads(store.get(event.score_key))
    for name in ("novelty", "efficiency"):
        record["criteria"][name] |= {"source": "computed", "judge": "ram"}
    store.put(event.score_key, json.dumps(record | {"truth": {"novelty": 2}}).encode())
    log = log_of(store)
    log.read_new(full=True)
    (entry,) = log.entries()
    assert entry["decided_by"] == pytest.approx({"votes": 0.8, "computed": 0.2})
    assert entry["truth"] == {"novelty": 2}
    (label,) = log.labels
    assert label.ram == {"novelty": 2}


def test_parquet_holds_the_same_rows(store):
    parquet_module = pytest.importorskip(
        "pyarrow.parquet", reason="pyarrow is not installed: make setup installs it into .venv"
    )
    for segment in SEGMENTS[:3]:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    table = parquet_module.read_table(io.BytesIO(parquet(log.entries()))).to_pylist()
    assert [row["segment_id"] for row in table] == names(SEGMENTS[:3])
    assert table[0]["value_progress"] == SEGMENTS[0].values["progress"]
    assert set(json.loads(table[0]["criteria"])) == set(SEGMENTS[0].values)


def distrust(store, segment, *, left=()):
    """A score in which a judge's votes did not count, so that only `left` has values."""
    scored = write_scored(store, segment, values={name: 1.0 for name in left})
    record = json.loads(store.get(scored.score_key)) | {"distrusted": ["progress"]}
    store.put(scored.score_key, json.dumps(record).encode())
    return scored.score_key


def test_what_distrusted_judges_left_open_is_no_label_until_it_is_judged_again(store):
    key = distrust(store, SEGMENTS[0], left=("dialog",))
    log = log_of(store)
    log.read_new(full=True)
    assert (ids(log), log.skipped) == ([], {"distrusted": 1})
    store.read.clear()
    log.read_new(full=True)
    assert store.read == []
    write_scored(store, SEGMENTS[0])
    log.read_new([key], full=False)
    assert (ids(log), log.skipped) == (names(SEGMENTS[:1]), {})


def test_a_label_that_lacks_a_distrusted_judge_counts_until_the_later_one_replaces_it(store):
    distrust(store, SEGMENTS[0], left=("progress", "puzzle"))
    log = log_of(store)
    log.read_new(full=True)
    assert set(log.labels[0].values) == {"progress", "puzzle"}
    later = write_scored(store, SEGMENTS[0])
    store.modified = {later.score_key: datetime.now(UTC) + timedelta(minutes=1)}
    log.read_new(full=True)
    assert log.labels[0].values == learned(SEGMENTS[0])
    store.read.clear()
    store.modified = {later.score_key: datetime.now(UTC) + timedelta(minutes=2)}
    log.read_new([later.score_key], full=True)
    assert store.read == [], "a score of trusted judges is final"


def comparison(first: ScoredSegment, second: ScoredSegment, log: LabelLog) -> ComparisonRecord:
    """What judges said who were shown both, of their scores as the log has them."""
    one, other = sorted((first.segment_id, second.segment_id))
    digests = {item.segment_id: item.score_sha256 for item in log.labels}
    ids = {"first": one, "second": other, "first_score_sha256": digests[one],
           "second_score_sha256": digests[other]}  # fmt: skip
    return compared("first", "first").model_copy(update=ids)


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
    assert preferred(log) == {
        record.first: {record.second: 1.0}, record.second: {record.first: 0.0}
    }  # fmt: skip
    assert store.read.count(key) == 1
    assert log.compared == {(record.first, record.second)}
    reported = {i["segment_id"]: i["preferred"] for i in log.entries() if i["preferred"]}
    assert reported == preferred(log)
    override(store, SEGMENTS[0], 1, 1.0)
    log.read_new(full=True)
    assert preferred(log) == {}


def test_a_comparison_of_a_segment_that_is_forgotten_is_forgotten_too(store):
    for segment in SEGMENTS:
        write_scored(store, segment)
    log = log_of(store)
    log.read_new(full=True)
    short = log_of(store, most_labels=2)
    short.read_new(full=True)
    kept = [each for each in SEGMENTS if each.segment_id in ids(short)]
    for first, second in ([each for each in SEGMENTS if each not in kept][:2], kept):
        record = comparison(first, second, log)
        key = keys.comparison("config-1", record.first, record.second)
        store.put_once(key, record.model_dump_json().encode())
    short.read_new(full=True)
    assert set(preferred(short)) == {item.segment_id for item in kept}


def scores(count, *, each=30, name="r1", first=0):
    """Key → time of scores a second apart, oldest first, in episodes of `each`."""
    return {
        keys.score("c", f"{name}-{place // each}-s{place:06d}"): float(first + place)
        for place in range(count)
    }


def segment(key):
    return key.rpartition("/")[2].removesuffix(".json")


def kept(many, limit):
    """Time → episode of the scores in the sample."""
    found = {many[key]: segment(key).rpartition("-")[0] for key in sample(many, limit)}
    assert len(found) == min(limit, len(many))
    return found


@pytest.mark.parametrize("limit", [10, 99, 500, 4000])
def test_the_newest_half_is_kept_and_never_more_than_the_limit(limit):
    found = kept(scores(3000), limit)
    assert found.keys() >= set(range(3000 - limit + limit // 2, 3000))


def test_every_age_has_its_share_of_the_older_half():
    found = kept(scores(6200, each=5), 400)
    counts, _ = np.histogram([at for at in found if at < 6000], 6, (0, 6000))
    assert counts.sum() == 200
    assert counts.min() >= 20


def test_no_episode_fills_the_sample():
    many = scores(2000, each=2000, name="long") | scores(2000, each=20, first=2000)
    older = [episode for at, episode in kept(many, 100).items() if at < 3950]
    assert older.count("long-0") == 1


def test_held_segments_are_in_the_sample_before_all_others():
    held = {"r1-0-s000001", "r1-0-s000002"}
    found = {segment(key) for key in sample(scores(100), 3, held)}
    assert found == {*held, "r1-3-s000099"}


def test_the_order_of_the_scores_changes_nothing():
    many = scores(3000)
    items = list(many.items())
    shuffled = [items[at] for at in np.random.default_rng(0).permutation(len(many))]
    assert sample(dict(shuffled), 200) == sample(many, 200)


@pytest.mark.parametrize("each", [1, 10, 300])
def test_a_service_that_runs_for_long_keeps_the_sample_of_a_restart(each):
    """What was forgotten would not be in the sample, however many scores follow."""
    many = scores(6000, each=each)
    running: dict[str, float] = {}
    for place, key in enumerate(many, 1):
        running[key] = many[key]
        if place % 10 == 0:
            running = {kept: many[kept] for kept in sample(running, 300)}
    assert running.keys() == sample(many, 300)
    assert sample(running, 100) == sample(many, 100)
