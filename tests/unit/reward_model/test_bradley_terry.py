"""The fit: what it compares, what it learns, and that it repeats."""

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.bradley_terry import (
    FitSettings,
    fit,
    freeze_constants,
    row_weights,
    segment_rows,
)
from rlaif.reward_model.preferences import PairSettings, sample_preferences
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.scored_segments import PROGRESS_DIM

SPEC = RewardNetSpec(layout_version="layout-1", activation="tanh")


def fitted(segments, *, seed=0, **changes) -> RewardNet:
    settings = FitSettings(**changes)
    pairs = sample_preferences(segments, settings=PairSettings(), rng=np.random.default_rng(0))
    rows = np.stack([segment_rows(item.observations, settings.statistic) for item in segments])
    return fit(rows, pairs, spec=SPEC, settings=settings, seed=seed)


def weights_of(net: RewardNet) -> bytes:
    return b"".join(value.numpy().tobytes() for value in net.state_dict().values())


def test_end_minus_start_takes_the_first_and_the_last_observation():
    observations = np.arange(20, dtype=np.float32).reshape(5, 4)
    rows = segment_rows(observations, "end_minus_start")
    assert (row_weights("end_minus_start") @ rows).tolist() == [16.0] * 4


@pytest.mark.parametrize("steps", [1, 3, 8, 75])
def test_the_mean_is_over_rows_spread_evenly(steps):
    observations = np.linspace(0, 1, steps, dtype=np.float32)[:, None].repeat(4, 1)
    rows = segment_rows(observations, "mean")
    assert rows.shape == (8, 4)
    expected = observations.mean() if steps > 1 else observations[0, 0]
    assert (row_weights("mean") @ rows)[0] == pytest.approx(expected, abs=0.05)


def test_equal_seeds_give_equal_weights_and_no_global_generator_is_touched(labels):
    segments = labels(episodes=2, each=10, signal=True)
    before = torch.random.get_rng_state()
    first, second = fitted(segments, epochs=3), fitted(segments, epochs=3)
    assert weights_of(first) == weights_of(second)
    assert weights_of(first) != weights_of(fitted(segments, epochs=3, seed=1))
    assert torch.equal(before, torch.random.get_rng_state())


@pytest.mark.parametrize("statistic", ["end_minus_start", "mean"])
def test_the_potential_rises_along_the_dimension_that_the_judges_reward(labels, statistic):
    segments = labels(episodes=6, each=12, signal=True, distractors=8)
    phi = PotentialFunction(fitted(segments, statistic=statistic, epochs=40))
    ramp = np.full((11, 128), 0.3, np.float32)
    # The mean learns what is seen for long: the dimension that shows what rose in the segment.
    ramp[:, PROGRESS_DIM + (statistic == "mean")] = np.linspace(0, 1, 11)
    rise = np.diff(phi(ramp))
    if statistic == "end_minus_start":
        assert (rise > 0).all()
    assert phi(ramp)[-1] > phi(ramp)[0]


def test_a_potential_is_near_zero_at_the_start_of_episodes_and_spread_over_the_rest():
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(0))
    rng = np.random.default_rng(0)
    everything = rng.random((500, 128), dtype=np.float32)
    starts = np.zeros((5, 128), np.float32)
    phi = PotentialFunction(freeze_constants(net, everything, starts))
    assert np.abs(phi(starts)).max() < 1e-6
    assert 0.3 < np.sqrt((phi(everything) ** 2).mean()) < 0.95


def test_without_a_known_start_the_potential_is_centred_on_the_data():
    net = RewardNet(SPEC, generator=torch.Generator().manual_seed(0))
    everything = np.random.default_rng(0).random((500, 128), dtype=np.float32)
    phi = PotentialFunction(freeze_constants(net, everything, np.empty((0, 128), np.float32)))
    assert abs(phi(everything).mean()) < 0.1
