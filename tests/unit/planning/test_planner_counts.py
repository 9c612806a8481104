import pytest

from rlaif.contracts.telemetry.assistance import LATENCY_BUCKETS
from rlaif.trainer.play.planner_counts import ModeCounts, PlannerCounts, one_call


@pytest.mark.parametrize(
    ("seconds", "bucket"), [(0.0, 0), (0.1, 0), (0.11, 1), (60.0, 9), (60.1, 10), (1e9, 10)]
)
def test_a_call_is_in_the_bucket_whose_upper_edge_it_does_not_pass(seconds, bucket):
    counts = one_call("ok", seconds)
    assert counts.latency == tuple(int(at == bucket) for at in range(len(LATENCY_BUCKETS) + 1))
    assert counts.latency_seconds == seconds


def test_counts_of_two_spans_add_up_by_route():
    first = PlannerCounts({"dialog": ModeCounts(asked=2, not_asked={"busy": 1})}, {"dialog": 2})
    second = PlannerCounts(
        {
            "dialog": ModeCounts(asked=1, not_asked={"busy": 1, "resting": 3}, cached=1),
            "puzzle": one_call("timeout", 30.0),
        },
        {"puzzle": 1},
    )
    both = first + second
    assert both.by_mode["dialog"] == ModeCounts(
        asked=3, not_asked={"busy": 2, "resting": 3}, cached=1
    )
    assert both.by_mode["puzzle"] == one_call("timeout", 30.0)
    assert both.in_flight == {"dialog": 2, "puzzle": 1}
