"""The fit: what it compares, what it learns, and that it repeats."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.labels.preferences import PairSettings, PairTable
from rlaif.reward_model.learning.bradley_terry import (
    fit,
    freeze_constants,
    row_weights,
    segment_rows,
)
from rlaif.reward_model.learning.settings import FitSettings
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.testing.data.scored_segments import PROGRESS_DIM

SPEC = RewardNetSpec(layout_version="layout-1", activation="tanh")


def fitted(segments, *, seed=0, members=1, bags=None, start=None, epochs=30, **changes):
    settings = FitSettings(members=members, **changes)
    rows = np.stack([segment_rows(item.observations, settings.statistic) for item in segments])
    return fit(
        rows,
        PairTable(segments, PairSettings()),
        np.ones((members, len(segments)), np.float32) if bags is None else bags,
        spec=SPEC.model_copy(update={"members": members}),
        settings=settings,
        seed=seed,
        epochs=epochs,
        start=start,
    )


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


def test_members_differ_in_scale_before_they_are_evened_and_not_after():
    spec = SPEC.model_copy(update={"members": 3})
    net = RewardNet(spec, generator=torch.Generator().manual_seed(0))
    with torch.no_grad():
        list(net.net.parameters())[-2][0] *= 20.0  # the weights of the last layer
    x = np.random.default_rng(0).random((400, 128), dtype=np.float32)
    evened = freeze_constants(net, x, np.empty((0, 128), np.float32))
    with torch.inference_mode():
        before = net.member_logits(torch.from_numpy(x)).std(dim=1)
        after = evened.member_logits(torch.from_numpy(x))
    assert before.max() / before.min() > 5
    assert after.std(dim=1).max() / after.std(dim=1).min() == pytest.approx(1.0, abs=1e-3)
    distance = (after - after.mean(dim=0)).square().mean(dim=1)
    assert distance[0] == distance.min()


def test_bags_count_relative_to_each_other(labels):
    segments = labels(episodes=4, each=6, signal=True)
    equal = np.ones((2, len(segments)), np.float32)
    half = equal.copy()
    half[1, ::2] = 0.0
    plain, doubled, uneven = (
        fitted(segments, members=2, bags=bags, epochs=3) for bags in (equal, 2 * equal, half)
    )
    assert weights_of(plain) == weights_of(doubled)
    x = torch.from_numpy(segments[0].observations)
    with torch.inference_mode():
        first, second = (net.member_logits(x) for net in (plain, uneven))
    # Members do not touch each other: only the one with the other bag differs.
    torch.testing.assert_close(first[0], second[0])
    assert not torch.allclose(first[1], second[1])


def test_a_warm_fit_begins_where_the_other_ended(labels):
    segments = labels(episodes=3, each=6, signal=True)
    first = fitted(segments, epochs=3)
    assert weights_of(fitted(segments, epochs=0, start=first)) == weights_of(first)
    assert weights_of(fitted(segments, epochs=1, start=first)) != weights_of(first)


def test_one_wrong_label_pulls_less_with_noise_in_the_loss(labels):
    segments = labels(episodes=6, each=8, signal=True, wrong=0.0)
    best = max(range(len(segments)), key=lambda index: segments[index].weighted)
    wrong = list(segments)
    mirrored = {name: 1.0 - value for name, value in segments[best].values.items()}
    wrong[best] = replace(segments[best], values=mirrored)

    def moved(noise):
        rows = np.stack([item.observations.mean(0) for item in segments])
        truth, seen = (
            PotentialFunction(fitted(some, noise=noise))(rows) for some in (segments, wrong)
        )
        return np.abs(truth - seen).mean() / np.abs(truth).mean()

    assert moved(0.3) < moved(0.0)
