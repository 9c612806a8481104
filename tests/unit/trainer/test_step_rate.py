"""What the page calls speed is what a watch would say, however uneven the iterations are."""

import pytest

from rlaif.trainer.learner.step_rate import WINDOW_SECONDS, StepRate


def test_batches_that_were_played_beforehand_do_not_count_as_speed():
    rate = StepRate(0.0, 0)
    # 1,000 steps a second are played; every second iteration finds its batch ready.
    told, steps = [], 0
    for pair in range(20):
        for ended in (pair * 2 + 1.9, pair * 2 + 2.0):
            steps += 1000
            told.append(rate.after(ended, steps))
    assert max(told[2:]) < 1150
    assert told[-1] == pytest.approx(1000, rel=0.05)


def test_an_iteration_that_takes_longer_than_the_window_is_told_by_itself():
    rate = StepRate(0.0, 0)
    rate.after(1.0, 100)
    assert rate.after(101.0, 600) == pytest.approx(5.0)


def test_a_resumed_run_counts_from_where_it_began():
    assert StepRate(50.0, 1_000_000).after(52.0, 1_000_500) == pytest.approx(250.0)


def test_it_keeps_no_more_than_its_window():
    rate = StepRate(0.0, 0)
    for tenth in range(1, 1000):
        rate.after(tenth / 10, tenth)
    assert len(rate._marks) <= WINDOW_SECONDS * 10 + 2
