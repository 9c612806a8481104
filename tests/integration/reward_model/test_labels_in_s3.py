"""The log of labels on a real S3 server, which lists by pages and knows times to the second."""

import json
from datetime import UTC, datetime
from typing import Any

import pytest

from rlaif.reward_model.labels import label_log
from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.storage.ports import ObjectStore
from rlaif.storage.s3 import S3Store
from rlaif.testing.data.scored_segments import play, write_scored

SEGMENTS = play(episodes=6, each=4, signal=True)


@pytest.fixture
def paged(episodes_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> S3Store:
    """The bucket of episodes, listed in pages of four keys."""
    whole = episodes_store._list_page
    monkeypatch.setattr(
        episodes_store, "_list_page", lambda prefix, more: whole(prefix, {"MaxKeys": 4} | more)
    )
    monkeypatch.setattr(label_log, "KEYS_PER_POLL", 4)
    return episodes_store


def log_of(store: ObjectStore, **changes: Any) -> LabelLog:
    return LabelLog(store, **({"judge_config": None, "most_labels": 100} | changes))


def ids(log: LabelLog) -> set[str]:
    return {item.segment_id for item in log.labels}


def test_a_start_and_the_looks_after_it_find_every_score(paged: S3Store) -> None:
    for segment in SEGMENTS[::2]:
        write_scored(paged, segment)
    log = log_of(paged)
    log.read_new(full=True)
    assert ids(log) == {item.segment_id for item in SEGMENTS[::2]}
    hinted, *lost = SEGMENTS[1::2]
    event = write_scored(paged, hinted)
    log.read_new([event.score_key], full=False)
    assert hinted.segment_id in ids(log)
    for segment in lost:
        write_scored(paged, segment)
    looks = 0
    while len(log.labels) < len(SEGMENTS):
        log.read_new(full=looks == 0)
        looks += 1
        assert looks <= len(SEGMENTS) // 4 + 1, "a look lists four keys, in order"
    again = log_of(paged)
    again.read_new(full=True)
    assert ids(again) == ids(log)


def test_what_is_kept_is_the_same_after_a_restart(
    paged: S3Store,
) -> None:
    for segment in SEGMENTS:
        write_scored(paged, segment, created_at=datetime.now(UTC))
    first = log_of(paged, most_labels=8)
    first.read_new(full=True)
    assert len(first.labels) == 8
    second = log_of(paged, most_labels=8)
    second.read_new(full=True)
    assert ids(second) == ids(first)


def test_a_score_that_is_replaced_because_judges_were_distrusted_is_read_again(
    paged: S3Store,
) -> None:
    scored = write_scored(paged, SEGMENTS[0], values={"dialog": 1.0})
    record = json.loads(paged.get(scored.score_key)) | {"distrusted": ["progress"]}
    paged.put(scored.score_key, json.dumps(record).encode())
    log = log_of(paged)
    log.read_new(full=True)
    assert (log.labels, log.skipped) == ((), {"distrusted": 1})
    write_scored(paged, SEGMENTS[0])
    log.read_new([scored.score_key], full=False)
    assert ids(log) == {SEGMENTS[0].segment_id}
