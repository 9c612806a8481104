from itertools import pairwise

from hypothesis import given
from hypothesis import strategies as st

from rlaif.hud.read_model.llm import EDGES, histogram

SECONDS = st.lists(st.one_of(st.floats(0, 2000), st.sampled_from(EDGES)), min_size=1, max_size=80)


@given(seconds=SECONDS)
def test_each_call_is_in_the_one_bucket_that_holds_it(seconds: list[float]) -> None:
    found = histogram(seconds)
    assert found is not None
    for bucket in found:
        top = float("inf") if bucket.to_seconds is None else bucket.to_seconds
        low = -1.0 if bucket.from_seconds == 0.0 else bucket.from_seconds
        assert bucket.calls == sum(low < each <= top for each in seconds)
    assert sum(bucket.calls for bucket in found) == len(seconds)


@given(seconds=SECONDS)
def test_buckets_follow_without_a_gap_and_none_is_empty_at_the_ends(seconds: list[float]) -> None:
    found = histogram(seconds)
    assert found is not None
    assert all(one.to_seconds == other.from_seconds for one, other in pairwise(found))
    assert found[0].calls > 0
    assert found[-1].calls > 0
