from hypothesis import given
from hypothesis import strategies as st

from rlaif.pacing.token_bucket import TokenBucket


def test_a_full_bucket_gives_its_burst_at_once_and_then_by_the_rate() -> None:
    bucket = TokenBucket(per_second=2.0, burst=3.0, tokens=3.0)
    assert [bucket.take(10.0) for _ in range(4)] == [0.0, 0.0, 0.0, 0.5]
    assert bucket.take(10.25) == 0.25, "a look takes nothing"
    assert bucket.take(10.5) == 0.0


def test_a_quiet_time_saves_up_no_more_than_the_burst() -> None:
    bucket = TokenBucket(per_second=1.0, burst=4.0, tokens=0.0)
    bucket.level(0.0)
    assert bucket.level(3600.0) == 4.0


def test_what_was_spent_beyond_the_tokens_is_forgiven() -> None:
    bucket = TokenBucket(per_second=1.0, burst=4.0, tokens=2.0)
    bucket.spend(10)
    assert bucket.level(0.0) == 0.0


def test_without_a_rate_an_empty_bucket_stays_empty() -> None:
    bucket = TokenBucket(per_second=0.0, burst=1.0, tokens=1.0)
    assert bucket.take(0.0) == 0.0
    assert bucket.take(1e9) == float("inf")


@given(looks=st.lists(st.floats(0, 10), max_size=50), rate=st.floats(0.1, 10))
def test_no_more_is_given_than_the_burst_and_what_arrived(looks: list[float], rate: float) -> None:
    bucket, now, taken = TokenBucket(rate, burst=3.0, tokens=3.0), 0.0, 0
    for pause in [0.0, *looks]:
        now += pause
        taken += bucket.take(now) == 0.0
    assert taken <= 3 + now * rate + 1e-6
