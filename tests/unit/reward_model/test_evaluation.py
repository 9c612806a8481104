"""Accuracy on preferences and how sure it is."""

import numpy as np
import pytest

from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.evaluation import highest_gain, measure, segment_statistics


def preference(a: int, b: int, margin: float, *, decided: bool = True) -> Preference:
    return Preference(a, b, margin, decided, 0.7, 1.0)


def measured(statistics, preferences, *, confidence=0.95):
    return measure(
        np.asarray(statistics, np.float64),
        preferences,
        confidence=confidence,
        rng=np.random.default_rng(0),
    )


def test_accuracy_counts_decided_pairs_and_halves_equal_answers():
    pairs = [
        preference(0, 1, -0.5),
        preference(2, 1, -0.5),
        preference(3, 1, 0.5),
        preference(0, 2, 0.0, decided=False),
    ]
    found = measured([0.0, 1.0, 2.0, 1.0], pairs)
    assert (found.value, found.pairs) == (pytest.approx(0.5), 3)


def test_without_decided_pairs_there_is_no_accuracy():
    assert measured([0.0, 1.0], [preference(0, 1, 0.0, decided=False)]).value is None


def test_the_interval_is_wider_than_the_pairs_alone_would_make_it():
    rng = np.random.default_rng(1)
    pairs = [
        preference(a, b, float(rng.choice([-1, 1]))) for a in range(12) for b in range(a + 1, 12)
    ]
    found = measured(rng.random(12), pairs)
    # 66 independent pairs would have a standard error of 0.06, so 0.1 to the lower end.
    assert found.value - found.low > 0.1
    assert found.low < found.value < found.high


def test_more_segments_make_a_narrower_interval():
    rng = np.random.default_rng(2)

    def width(count: int) -> float:
        pairs = [preference(a, b, float(a - b)) for a in range(count) for b in range(a + 1, count)]
        found = measured(np.arange(count) + rng.normal(0, count / 3, count), pairs)
        return float(found.high - found.low)

    assert width(60) < 0.7 * width(12)


@pytest.mark.parametrize(("segments", "surely"), [(60, True), (4, False)])
def test_a_worse_ranking_is_surely_worse_only_on_enough_segments(segments, surely):
    pairs = [
        preference(a, b, float(a - b)) for a in range(segments) for b in range(a + 1, segments)
    ]
    right = np.arange(segments, dtype=np.float64)
    wrong = right + np.random.default_rng(3).normal(0, segments / 4, segments)
    gain = highest_gain(wrong, right, pairs, confidence=0.99, rng=np.random.default_rng(0))
    assert gain is not None
    assert (gain < 0) is surely
    assert highest_gain(right, right, pairs, confidence=0.99, rng=np.random.default_rng(0)) == 0


def test_without_decided_pairs_nothing_is_gained():
    pairs = [preference(0, 1, 0.0, decided=False)]
    rng = np.random.default_rng(0)
    assert highest_gain(np.zeros(2), np.ones(2), pairs, confidence=0.99, rng=rng) is None


def test_the_statistic_is_the_weighted_sum_of_the_potential():
    rows = np.arange(24, dtype=np.float32).reshape(3, 2, 4)
    found = segment_statistics(lambda x: x.sum(axis=1), rows, np.array([-1.0, 1.0], np.float32))
    assert found.tolist() == [16.0, 16.0, 16.0]
