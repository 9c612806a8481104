"""Accuracy on preferences and how sure it is."""

from typing import Any

import numpy as np
import pytest

from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.gate.evaluation import (
    Calibration,
    accuracy_on,
    calibrate,
    even_weights,
    expected_calibration_error,
    gain_on,
)


def preference(a: int, b: int, margin: float, *, decided: bool = True) -> Preference:
    return Preference(a, b, margin, decided, 0.7)


class Pairs:
    """The part of a `Side` that is used: decided pairs and the episodes of segments."""

    def __init__(self, preferences: list[Preference], episodes: np.ndarray) -> None:
        self.decided = [item for item in preferences if item.decided]
        self.episode_numbers = episodes


def measured(statistics, preferences, *, episodes=None, confidence=0.95):
    numbers = np.arange(len(statistics)) if episodes is None else episodes
    side: Any = Pairs(preferences, numbers)
    return accuracy_on(np.asarray(statistics, np.float64), side, seed=0, confidence=confidence)


def test_accuracy_counts_decided_pairs_and_halves_equal_answers():
    pairs = [
        preference(0, 1, -0.5),
        preference(2, 1, -0.5),
        preference(3, 1, 0.5),
        preference(0, 2, 0.0, decided=False),
    ]
    found = measured([0.0, 1.0, 2.0, 1.0], pairs)
    assert (found.value, found.pairs) == (pytest.approx(0.5), 3)


def test_the_interval_is_wider_than_the_pairs_alone_would_make_it():
    rng = np.random.default_rng(1)
    pairs = [
        preference(a, b, float(rng.choice([-1, 1]))) for a in range(12) for b in range(a + 1, 12)
    ]
    found = measured(rng.random(12), pairs)
    # 66 independent pairs would have a standard error of 0.06, so 0.1 to the lower end.
    assert found.value - found.low > 0.1
    assert found.low < found.value < found.high


def test_segments_of_one_episode_are_no_surer_than_one_of_them():
    rng = np.random.default_rng(4)
    worth, said = rng.random(12), rng.random(12)

    def width(copies: int) -> float:
        """Each segment comes so many times, in one episode."""
        of = np.repeat(np.arange(12), copies)
        pairs = [
            preference(a, b, float(worth[of[a]] - worth[of[b]]))
            for a in range(len(of))
            for b in range(a + 1, len(of))
            if of[a] != of[b]
        ]
        found = measured(said[of], pairs, episodes=of)
        return float(found.high - found.low)

    assert width(4) == pytest.approx(width(1), rel=0.02)


def test_a_stuffed_episode_counts_as_a_few_usual_ones():
    episodes = np.array([0] * 60 + [1] * 4 + [2] * 4)
    weights = even_weights(episodes)
    assert weights[60:].tolist() == [1.0] * 8
    assert weights[:60].sum() == pytest.approx(12.0)


@pytest.mark.parametrize(("segments", "surely"), [(60, True), (4, False)])
def test_a_worse_ranking_is_surely_worse_only_on_enough_episodes(segments, surely):
    pairs = [
        preference(a, b, float(a - b)) for a in range(segments) for b in range(a + 1, segments)
    ]
    right = np.arange(segments, dtype=np.float64)
    wrong = right + np.random.default_rng(3).normal(0, segments / 4, segments)

    def gain(of):
        side: Any = Pairs(pairs, np.arange(segments))
        return gain_on(of, right, side, seed=0)

    assert (gain(wrong).high < 0) is surely
    assert (gain(right).low, gain(right).value, gain(right).high) == (0, 0, 0)


def test_without_decided_pairs_nothing_is_gained():
    pairs = [preference(0, 1, 0.0, decided=False)]
    side: Any = Pairs(pairs, np.arange(2))
    assert gain_on(np.zeros(2), np.ones(2), side, seed=0) is None


def drawn(truth: Calibration, count: int = 6000):
    rng = np.random.default_rng(0)
    difference = rng.normal(0, 2, count)
    return difference, (rng.random(count) < truth.probability(difference)).astype(float)


@pytest.mark.parametrize(
    "truth", [Calibration(0.5, 0.0), Calibration(2.0, 0.0), Calibration(0.4, 0.2)]
)
def test_the_temperature_and_the_share_of_chance_are_found(truth):
    difference, outcome = drawn(truth)
    found = calibrate(difference, outcome)
    assert found.temperature == pytest.approx(truth.temperature, rel=0.35)
    assert found.lapse == pytest.approx(truth.lapse, abs=0.06)
    fresh, happened = drawn(truth, 4000)
    assert expected_calibration_error(found.probability(fresh), happened) < 0.03


def test_too_sure_predictions_have_a_calibration_error():
    difference, outcome = drawn(Calibration(2.0, 0.0))
    sure = Calibration(0.2, 0.0).probability(difference)
    assert expected_calibration_error(sure, outcome) > 0.15


def test_without_pairs_nothing_is_calibrated():
    assert calibrate(np.empty(0), np.empty(0)) == Calibration()


def test_calling_the_other_segment_a_changes_no_error():
    difference, outcome = drawn(Calibration(1.0, 0.1), 500)
    likely = Calibration(0.5, 0.0).probability(difference)
    assert expected_calibration_error(1 - likely, 1 - outcome) == pytest.approx(
        expected_calibration_error(likely, outcome)
    )
