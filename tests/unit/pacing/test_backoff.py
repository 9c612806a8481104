import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.pacing.backoff import backoff


@pytest.mark.parametrize(
    ("attempt", "seconds"), [(1, 1), (2, 2), (3, 4), (6, 32), (7, 60), (20, 60)]
)
def test_the_wait_doubles_up_to_the_cap(attempt: int, seconds: float) -> None:
    assert backoff(attempt, base=1.0, cap=60.0) == seconds
    assert backoff(attempt, base=1.0, cap=60.0, jitter=0.5) == seconds


@given(attempt=st.integers(-3, 10_000), jitter=st.floats(0, 1, exclude_max=True))
def test_the_wait_stays_near_its_bounds(attempt: int, jitter: float) -> None:
    assert 0.75 <= backoff(attempt, base=1.0, cap=60.0, jitter=jitter) <= 75.0
    assert backoff(attempt, base=1.0) < float("inf")
