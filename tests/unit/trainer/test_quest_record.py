"""The phases of a run of mode quest: which comes next, and when the search is over."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.run_folder.quest_record import (
    FILE,
    MIN_POLICY_SECONDS,
    QuestRecord,
    QuestRecordError,
    search_end,
)
from rlaif.trainer.settings.run import MIN_WHOLE, QuestSettings, is_learned

SETTINGS = QuestSettings(minutes=100, search_minutes=45, quiet_minutes=10, lineages=5)


def test_a_damaged_record_says_what_to_do(tmp_path):
    (tmp_path / FILE).write_text('{"search_seconds": ')
    with pytest.raises(QuestRecordError, match=r"quest.json cannot be read .*: delete it"):
        QuestRecord.read(tmp_path)


@pytest.mark.parametrize(
    ("changes", "end"),
    [
        ({}, None),
        ({"seconds": 45 * 60.0}, "time"),
        ({"seconds": 45 * 60.0 - 1}, None),
        ({"seconds": 1200.0, "seconds_since_new": 600.0}, "quiet"),
        ({"with_essence": 4}, None),
        ({"with_essence": 5}, "essence"),
    ],
)
def test_a_search_ends_by_time_silence_or_enough_trajectories(changes, end):
    moment = {"seconds": 60.0, "seconds_since_new": 30.0, "with_essence": 0} | changes
    assert search_end(SETTINGS, **moment) == end


@given(search=st.floats(0, 1e5), demonstrations=st.floats(0, 1e5), minutes=st.floats(0.1, 1e4))
def test_no_run_is_longer_than_its_minutes_but_for_the_least_of_the_policy(
    search, demonstrations, minutes
):
    settings = SETTINGS.model_copy(update={"minutes": minutes})
    record = QuestRecord(search_seconds=search, demonstrations_seconds=demonstrations)
    left = record.policy_seconds(settings)
    assert left == pytest.approx(max(MIN_POLICY_SECONDS, minutes * 60 - record.seconds))
    assert record.seconds + left <= max(minutes * 60, record.seconds + MIN_POLICY_SECONDS) + 1e-6


@pytest.mark.parametrize(
    ("failed", "tried", "expected"),
    [
        (0, MIN_WHOLE - 1, False),
        (0, MIN_WHOLE, True),
        (4, MIN_WHOLE, False),
        (3, MIN_WHOLE, True),
        (6, 2 * MIN_WHOLE, True),
        (7, 2 * MIN_WHOLE, False),
    ],
)
def test_a_policy_that_completes_19_of_20_episodes_has_learned(failed, tried, expected):
    whole = [False] * failed + [True] * (tried - failed)
    assert is_learned(whole) == expected
