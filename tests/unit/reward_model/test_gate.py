"""The gate refuses for a reason that it names."""

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import GateMetrics, RewardNetSpec
from rlaif.reward_model.learning.gate import (
    GateSettings,
    faults_of_network,
    faults_of_potential,
    lacking_data,
    newest_quarter,
    shortcomings,
)
from rlaif.reward_net.network import RewardNet

GOOD = GateMetrics(
    train_accuracy=0.9,
    heldout_accuracy=0.75,
    crossfit_accuracy=0.7,
    crossfit_accuracy_low=0.6,
    heldout_pairs=60,
    heldout_episodes=3,
    champion_heldout_accuracy=0.7,
    newest_heldout_accuracy=0.7,
    newest_heldout_pairs=30,
)
SETTINGS = GateSettings()


def test_a_good_candidate_passes():
    assert lacking_data(GOOD, labels=40, episodes=6, settings=SETTINGS) == []
    assert shortcomings(GOOD, SETTINGS) == []


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"crossfit_accuracy_low": 0.5}, "above chance"),
        ({"heldout_accuracy": 0.54}, "is below"),
        ({"champion_heldout_accuracy": 0.81}, "champion"),
        ({"newest_heldout_accuracy": 0.45}, "newest"),
        ({"heldout_accuracy": None}, "no held-out accuracy"),
    ],
)
def test_each_shortcoming_is_named(change, word):
    reasons = shortcomings(GOOD.model_copy(update=change), SETTINGS)
    assert any(word in reason for reason in reasons)


def test_a_champion_a_little_better_does_not_block_a_fresher_candidate():
    assert shortcomings(GOOD.model_copy(update={"champion_heldout_accuracy": 0.79}), SETTINGS) == []


@pytest.mark.parametrize(("gain_high", "passes"), [(0.02, True), (-0.02, False)])
def test_a_champion_much_better_blocks_only_when_that_is_no_luck(gain_high, passes):
    change = {"champion_heldout_accuracy": 0.9, "champion_gain_high": gain_high}
    assert (shortcomings(GOOD.model_copy(update=change), SETTINGS) == []) is passes


def test_few_new_pairs_decide_nothing():
    few = GOOD.model_copy(update={"newest_heldout_accuracy": 0.3, "newest_heldout_pairs": 5})
    assert shortcomings(few, SETTINGS) == []


def test_each_lack_of_data_is_named():
    metrics = GateMetrics(heldout_pairs=19, heldout_episodes=1)
    reasons = lacking_data(metrics, labels=23, episodes=3, settings=SETTINGS)
    assert [reason.split(",")[0] for reason in reasons] == [
        "23 labels",
        "3 episodes",
        "1 held-out episodes",
        "19 decided held-out pairs",
    ]


@pytest.mark.parametrize(
    "values", [np.full(9, 0.3), np.array([0.1, np.nan]), np.array([0.1, np.inf])]
)
def test_a_potential_that_is_constant_or_not_finite_is_refused(values):
    assert faults_of_potential(values.astype(np.float32), SETTINGS)


def test_a_potential_that_varies_is_fine():
    assert faults_of_potential(np.linspace(-1, 1, 9, dtype=np.float32), SETTINGS) == []


def test_the_newest_quarter_is_never_empty():
    assert newest_quarter([5]) == 5
    assert newest_quarter([1, 2, 3, 4, 5, 6, 7, 8]) == 7


@pytest.mark.parametrize(
    ("change", "word"),
    [
        ({"forward_accuracy": 0.45, "forward_pairs": 30}, "what comes next"),
        ({"control_accuracy": 0.7, "control_accuracy_low": 0.55}, "leak"),
        ({"heldout_accuracy_high": 0.6, "folds_accuracy_low": 0.7}, "did not learn"),
        ({"heldout_ece": 0.4}, "probabilities"),
        ({"champion_heldout_accuracy": 0.76, "probe_correlation": 0.1}, "probes"),
    ],
)
def test_each_piece_of_evidence_can_refuse(change, word):
    reasons = shortcomings(GOOD.model_copy(update=change), SETTINGS)
    assert any(word in reason for reason in reasons)


def test_another_ranking_of_the_probes_is_fine_when_it_is_a_better_one():
    change = {"champion_heldout_accuracy": 0.6, "probe_correlation": 0.1}
    assert shortcomings(GOOD.model_copy(update=change), SETTINGS) == []


def test_a_control_near_chance_says_that_nothing_leaks():
    change = {"control_accuracy": 0.56, "control_accuracy_low": 0.45}
    assert shortcomings(GOOD.model_copy(update=change), SETTINGS) == []


def test_a_potential_beyond_its_bound_is_refused():
    assert faults_of_potential(np.array([0.0, 1.5], np.float32), SETTINGS)


def test_a_network_of_another_layout_or_with_nan_is_refused_before_it_is_asked():
    net = RewardNet(RewardNetSpec(layout_version="v1"), generator=torch.Generator().manual_seed(0))
    assert faults_of_network(net, layout_version="v1") == []
    assert "layout" in faults_of_network(net, layout_version="v2")[0]
    with torch.no_grad():
        net.net[-1].bias[0] = float("nan")
    assert "NaN" in faults_of_network(net, layout_version="v1")[0]
