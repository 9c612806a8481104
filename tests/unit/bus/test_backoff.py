from datetime import timedelta

import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.bus.backoff import backoff

BASE, CAP = timedelta(seconds=1), timedelta(seconds=60)


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (20, 60)]
)
def test_the_wait_doubles_up_to_the_cap(attempt, seconds):
    assert backoff(attempt, base=BASE, cap=CAP, jitter=0.5) == timedelta(seconds=seconds)


@given(attempt=st.integers(-3, 10_000), jitter=st.floats(0, 1, exclude_max=True))
def test_the_wait_stays_near_its_bounds(attempt, jitter):
    wait = backoff(attempt, base=BASE, cap=CAP, jitter=jitter)
    assert 0.75 * BASE <= wait <= 1.25 * CAP
