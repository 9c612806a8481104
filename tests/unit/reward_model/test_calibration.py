"""Probabilities mean what they say."""

import numpy as np
import pytest

from rlaif.reward_model.learning.gate.evaluation import (
    Calibration,
    calibrate,
    expected_calibration_error,
)


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
