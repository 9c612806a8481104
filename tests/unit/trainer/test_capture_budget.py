"""The capture budget follows the judges, not the emulator."""

import pytest

from rlaif.trainer.learner.runners.runner import share
from rlaif.trainer.service.runtime import CaptureBudget


def test_tokens_arrive_by_the_minute():
    budget = CaptureBudget(per_minute=60, backlog_limit=100)
    assert budget.grant(0.0, 0) == 1
    budget.spend(1)
    assert budget.grant(4.0, 0) == 4


@pytest.mark.parametrize(
    ("per_minute", "seconds", "backlog", "granted"),
    [(20, 3600.0, 0, 5), (60, 60.0, 8, 0), (60, 60.0, 5, 3), (60, 60.0, None, 0)],
    ids=["burst of a quarter of a minute", "full queue", "nearly full queue", "unknown queue"],
)
def test_grants_are_limited(per_minute, seconds, backlog, granted):
    budget = CaptureBudget(per_minute=per_minute, backlog_limit=8)
    budget.grant(0.0, 0)
    assert budget.grant(seconds, backlog) == granted


def test_nearly_all_of_the_rate_is_captured_though_a_batch_takes_only_part_of_a_grant():
    budget, captured = CaptureBudget(per_minute=90, backlog_limit=32), 0
    for second in range(600):
        granted = budget.grant(float(second), 4)
        if second % 4 == 3:  # half is for the batch that overlaps this one
            batch = int(0.8 * (granted // 2))
            budget.spend(batch)
            captured += batch
    assert 0.9 * 900 < captured <= 900


def test_zero_per_minute_captures_nothing_after_the_first():
    budget = CaptureBudget(per_minute=0, backlog_limit=8)
    budget.spend(budget.grant(0.0, 0))
    assert budget.grant(600.0, 0) == 0


def test_the_shares_of_all_runners_add_up_to_the_grant():
    for segments in range(8):
        for turn in range(7):
            shares = [share(segments, parts=3, part=part, turn=turn) for part in (1, 2, 3)]
            assert sum(shares) == segments
            assert max(shares) - min(shares) <= 1
