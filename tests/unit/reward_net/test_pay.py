"""What a segment is paid is what its steps are paid, when it is taken as an episode's beginning."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.reward_net.pay import DISCOUNT, paid, paid_of_ends, step_pay

WIDTH = 5


def phi(observations: np.ndarray) -> np.ndarray:
    """A potential that is far from 0 nearly everywhere."""
    weights = np.linspace(-1.0, 2.0, WIDTH, dtype=np.float32)
    return np.tanh(observations @ weights + 0.4).astype(np.float32)


def segment(rows: int, seed: int) -> np.ndarray:
    return np.random.default_rng(seed).random((rows, WIDTH), dtype=np.float32)


@given(
    rows=st.integers(1, 200), seed=st.integers(0, 2**16), gamma=st.sampled_from([0.9, DISCOUNT, 1])
)
def test_a_segment_is_paid_the_discounted_sum_of_its_steps(rows, seed, gamma):
    observations = segment(rows, seed)
    counted = phi(observations).astype(np.float64)
    counted -= counted[0]
    steps = step_pay(counted[:-1], counted[1:], gamma=gamma)
    discounted = float((gamma ** np.arange(rows - 1) * steps).sum())
    assert paid(phi, observations, gamma) == pytest.approx(discounted, abs=1e-6)


@given(seed=st.integers(0, 2**16))
def test_a_way_and_its_reverse_pay_the_same_with_opposite_signs(seed):
    out = segment(75, seed)
    assert paid(phi, out) == pytest.approx(-paid(phi, out[::-1]), abs=1e-7)


def test_many_segments_are_paid_as_each_of_them_alone():
    segments = [segment(rows, seed) for seed, rows in enumerate([1, 2, 75, 40])]
    ends = np.stack([part[[0, -1]] for part in segments])
    steps = np.array([len(part) - 1 for part in segments])
    asked = []

    def counting(observations: np.ndarray) -> np.ndarray:
        asked.append(len(observations))
        return phi(observations)

    assert paid_of_ends(counting, ends, steps) == pytest.approx([paid(phi, p) for p in segments])
    assert asked == [8]
