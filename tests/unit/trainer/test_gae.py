"""Advantages that can be worked out by hand."""

from typing import Any

import numpy as np
import pytest

from rlaif.trainer.learner.algorithm.batch import advantages, standardized


def column(*values: float) -> np.ndarray:
    return np.array(values, dtype=np.float32)[:, None]


def test_lambda_one_is_the_discounted_return_minus_the_value():
    result = advantages(
        column(1, 2, 4),
        column(0.5, 0.5, 0.5),
        column(0.5, 0.5, 0.0),
        column(0, 0, 1).astype(bool),
        gamma=0.5,
        lam=1.0,
    )
    assert result[:, 0] == pytest.approx([1 + 1 + 1 - 0.5, 2 + 2 - 0.5, 4 - 0.5])


def test_lambda_zero_is_the_one_step_error():
    result = advantages(
        column(1, 2), column(3, 5), column(5, 7), column(0, 0).astype(bool), gamma=0.9, lam=0.0
    )
    assert result[:, 0] == pytest.approx([1 + 4.5 - 3, 2 + 6.3 - 5])


def test_nothing_flows_back_over_the_end_of_an_episode():
    calm: dict[str, Any] = dict(values=column(0, 0), next_values=column(0, 0), gamma=0.9, lam=0.95)
    ended = column(1, 0).astype(bool)
    quiet = advantages(column(1, 0), ended=ended, **calm)
    loud = advantages(column(1, 100), ended=ended, **calm)
    assert quiet[0, 0] == loud[0, 0] == pytest.approx(1.0)


def test_a_truncated_episode_counts_what_would_have_come():
    result = advantages(
        column(0), column(0), column(8), column(1).astype(bool), gamma=0.5, lam=0.95
    )
    assert result[0, 0] == pytest.approx(4.0)


def test_environments_are_independent():
    rng = np.random.default_rng(0)
    shape = (20, 3)
    rewards, values, following = (rng.normal(size=shape).astype(np.float32) for _ in range(3))
    ended = rng.random(shape) < 0.1
    together = advantages(rewards, values, following, ended, gamma=0.99, lam=0.9)
    for n in range(3):
        alone = advantages(
            rewards[:, n : n + 1], values[:, n : n + 1], following[:, n : n + 1],
            ended[:, n : n + 1], gamma=0.99, lam=0.9,
        )  # fmt: skip
        assert together[:, n] == pytest.approx(alone[:, 0])


def test_standardized_has_zero_mean_and_unit_deviation():
    result = standardized(np.random.default_rng(1).normal(5, 3, 1000).astype(np.float32))
    assert result.mean() == pytest.approx(0, abs=1e-5)
    assert result.std() == pytest.approx(1, abs=1e-4)


def test_equal_advantages_do_not_blow_up():
    assert not standardized(np.full(10, 3.0, dtype=np.float32)).any()
