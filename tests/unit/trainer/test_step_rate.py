"""What the page calls speed is what a watch would say, however uneven the iterations are."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.trainer.learner.progress import StepRate


def test_batches_that_were_played_beforehand_do_not_count_as_speed():
    rate = StepRate(0.0, 0)
    # 1,000 steps per second are played; every second iteration finds its batch ready.
    reported, steps = [], 0
    for pair in range(20):
        for ended in (pair * 2 + 1.9, pair * 2 + 2.0):
            steps += 1000
            reported.append(rate.after(ended, steps).steps_per_second)
    assert max(reported[2:]) < 1150
    assert reported[-1] == pytest.approx(1000, rel=0.05)


def test_an_iteration_longer_than_the_window_is_reported_alone():
    rate = StepRate(0.0, 0)
    rate.after(1.0, 100)
    assert rate.after(101.0, 600).steps_per_second == pytest.approx(5.0)


def test_a_resumed_run_counts_from_where_it_began():
    speed = StepRate(50.0, 1_000_000).after(52.0, 1_000_500, frames=17_500)
    assert speed == pytest.approx((250.0, 8750.0))


@given(
    st.floats(0.05, 20.0),
    st.lists(st.floats(0.0, 60.0), min_size=1, max_size=60),
)
def test_no_rate_is_above_that_at_which_the_runners_play(play_seconds: float, pauses: list[float]):
    """Two batches are on order; each is played after the other, while the learner does its own."""
    batch = 4096
    rate, now = StepRate(0.0, 0), 0.0
    ordered, ready = [0.0, 0.0], 0.0
    for count, pause in enumerate(pauses, start=1):
        ready = max(ready, ordered.pop(0)) + play_seconds
        now = max(now, ready) + pause  # waits for the batch, then learns, evaluates or saves
        reported = rate.after(now, count * batch, play_seconds).steps_per_second
        ordered.append(now)
        assert reported <= batch / play_seconds * (1 + 1e-9)
