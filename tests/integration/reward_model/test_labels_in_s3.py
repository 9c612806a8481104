"""The label log on a real S3 server, which lists in pages."""

from typing import Any

import pytest

from rlaif.reward_model.labels.label_log import LabelLog
from rlaif.storage.ports import ObjectStore
from rlaif.storage.s3 import S3Store
from rlaif.testing.data.judging.scored_segments import play, write_scored

SEGMENTS = play(episodes=6, each=4, signal=True)


@pytest.fixture
def paged(episodes_store: S3Store, monkeypatch: pytest.MonkeyPatch) -> S3Store:
    """The bucket of episodes, listed in pages of four keys."""
    whole = episodes_store._list_page
    monkeypatch.setattr(
        episodes_store, "_list_page", lambda prefix, more: whole(prefix, {"MaxKeys": 4} | more)
    )
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
    log.read_new(full=True)
    assert len(log.labels) == len(SEGMENTS)
    again = log_of(paged)
    again.read_new(full=True)
    assert ids(again) == ids(log)
