"""Advantages that an update takes: zero mean, unit deviation."""

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.batch import standardized


def test_standardized_has_zero_mean_and_unit_deviation():
    result = standardized(np.random.default_rng(1).normal(5, 3, 1000).astype(np.float32))
    assert result.mean() == pytest.approx(0, abs=1e-5)
    assert result.std() == pytest.approx(1, abs=1e-4)


def test_equal_advantages_do_not_blow_up():
    assert not standardized(np.full(10, 3.0, dtype=np.float32)).any()
