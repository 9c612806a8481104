from math import isnan
from typing import Any

import pytest

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.learning.candidate import Candidate
from rlaif.reward_model.metrics import RewardModelMetrics
from rlaif.service.metrics import ServiceMetrics


@pytest.fixture
def service() -> ServiceMetrics:
    return ServiceMetrics("reward-model")


@pytest.fixture
def metrics(service: ServiceMetrics) -> RewardModelMetrics:
    return RewardModelMetrics(service)


def _value(service: ServiceMetrics, name: str, **labels: str) -> float | None:
    return service.registry.get_sample_value(f"rlaif_reward_model_{name}", labels)


def _candidate(**measured: Any) -> Candidate:
    metrics = GateMetrics(heldout_pairs=0, heldout_episodes=0, **measured)
    return Candidate("candidate-1", None, (), metrics, 30, 4, 0, "0" * 64, ())


def test_a_reason_without_scores_is_not_reported_any_more(
    service: ServiceMetrics, metrics: RewardModelMetrics
) -> None:
    metrics.polled(30, {"distrusted": 3, "older": 2})
    metrics.polled(33, {"older": 2})
    assert _value(service, "scores_skipped", reason="older") == 2
    assert _value(service, "scores_skipped", reason="distrusted") is None


def test_what_was_not_measured_of_the_last_candidate_is_unknown(
    service: ServiceMetrics, metrics: RewardModelMetrics
) -> None:
    assert isnan(_value(service, "heldout_ece_ratio") or 0)
    metrics.attempted(_candidate(heldout_accuracy=0.7, heldout_ece=0.1), "published", 1.0)
    assert _value(service, "heldout_accuracy_ratio", of="candidate") == 0.7
    assert _value(service, "heldout_ece_ratio") == 0.1
    metrics.attempted(_candidate(), "rejected", 1.0)
    assert _value(service, "heldout_accuracy_ratio", of="candidate") is None
    assert isnan(_value(service, "heldout_ece_ratio") or 0)
