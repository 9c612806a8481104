"""The gate refuses for a reason that it names."""

import numpy as np
import pytest

from rlaif.contracts.reward_models import GateMetrics
from rlaif.reward_model.gate import (
    GateSettings,
    faults_of_potential,
    lacking_data,
    newest_quarter,
    shortcomings,
)

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
