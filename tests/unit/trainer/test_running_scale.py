"""Figures that run along: of inputs, and of returns."""

import numpy as np
import pytest
import torch
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.trainer.learner.networks.running_scale import RunningScale, ValueHead


@given(
    seed=st.integers(0, 1000),
    parts=st.lists(st.integers(0, 40), min_size=1, max_size=5),
    offset=st.floats(-50, 50),
)
@settings(max_examples=40, deadline=None)
def test_figures_are_those_of_all_rows_however_they_came(
    seed: int, parts: list[int], offset: float
):
    rng = np.random.default_rng(seed)
    rows = [torch.from_numpy(rng.normal(offset, 2, (n, 3)).astype(np.float32)) for n in parts]
    scale = RunningScale(3)
    for some in rows:
        scale.observe(some)
    every = torch.cat(rows).double()
    if not len(every):
        assert scale.count == 0
        return
    assert int(scale.count) == len(every)
    assert torch.allclose(scale.mean.double(), every.mean(0), rtol=1e-5, atol=1e-5)
    assert torch.allclose(scale.variance.double(), every.var(0, unbiased=False), rtol=1e-5)


def test_a_small_scale_becomes_a_usual_one_and_an_outlier_is_bounded():
    scale = RunningScale(2)
    scale.observe(torch.tensor([[0.0, 0.5], [0.036, 0.5]]))
    seen = scale(torch.tensor([[0.0, 0.5], [0.036, 0.5], [1.0, 1.0]]))
    assert seen[:2].tolist() == pytest.approx(np.array([[-1, 0], [1, 0]]), abs=1e-5)
    assert seen[2].tolist() == [5, 5], "bounded, also where nothing ever moved"


@given(seed=st.integers(0, 1000), size=st.floats(0.0, 100), offset=st.floats(-100, 100))
@settings(max_examples=40, deadline=None)
def test_values_stay_what_they_are_when_the_figures_move(seed: int, size: float, offset: float):
    rng = np.random.default_rng(seed)
    head, features = ValueHead(8), torch.from_numpy(rng.normal(size=(16, 8)).astype(np.float32))
    for _ in range(3):
        before = head(features).detach().clone()
        head.follow(torch.from_numpy((offset + size * rng.normal(size=64)).astype(np.float32)))
        after = head(features).detach()
        assert torch.allclose(before, after, rtol=1e-3, atol=1e-3 * (1 + size + abs(offset)))


def test_the_first_returns_count_in_full():
    head = ValueHead(4)
    head.follow(torch.tensor([1.0, 3.0]))
    assert (head.mean.item(), head.spread.item()) == pytest.approx((2.0, 1.0))
