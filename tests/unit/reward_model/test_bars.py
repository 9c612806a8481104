"""What a network may be is decided before it is asked anything."""

import numpy as np
import pytest
import torch

from rlaif.contracts.observation import LASTING_SLOTS, LAYOUT_VERSION, slot_index
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.learning.bars import (
    faults_of_calibration,
    faults_of_network,
    faults_of_potential,
    largest_logit,
)
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet

SETTINGS = CandidateSettings()


def lasting_net(**spec) -> RewardNet:
    """A network that reads what lasts."""
    made = RewardNet(
        RewardNetSpec(layout_version=LAYOUT_VERSION, members=2, **spec),
        generator=torch.Generator().manual_seed(0),
    )
    passing = np.setdiff1d(np.arange(128), LASTING_SLOTS)
    with torch.no_grad():
        first(made)[..., torch.from_numpy(passing)] = 0.0
    return made.eval().requires_grad_(False)


def first(net: RewardNet) -> torch.Tensor:
    return net.state_dict()["net.0.weight"]


def last(net: RewardNet) -> torch.Tensor:
    return net.state_dict()["net.4.weight"]


def faults(net: RewardNet) -> list[str]:
    return faults_of_network(net, layout_version=LAYOUT_VERSION, settings=SETTINGS)


def test_a_network_that_reads_what_lasts_is_fine():
    assert faults(lasting_net()) == []


@pytest.mark.parametrize(
    ("net", "word"),
    [
        (lasting_net(scale=2.0), "scaled"),
        (lasting_net(hidden=(256, 256)), "weights"),
        (lasting_net().with_spec(RewardNetSpec(layout_version="v0", members=2)), "layout"),
    ],
)
def test_a_network_of_another_kind_is_refused(net, word):
    assert word in faults(net)[0]


def test_a_weight_on_the_menu_is_refused_however_small():
    net = lasting_net()
    first(net)[0, 3, slot_index("menu_open")] = 1e-6
    assert "menu_open" in faults(net)[0]


def test_nan_is_refused():
    net = lasting_net()
    last(net)[0] = float("nan")
    assert "NaN" in faults(net)[0]


def test_weights_that_may_overflow_for_some_observation_are_refused():
    """Finite weights, and NaN where two flags are on: infinity less infinity."""
    net = lasting_net(activation="relu")
    first(net)[0, 0, slot_index("has_feather")] = 3e38
    first(net)[0, 0, slot_index("boss_key")] = 3e38
    assert "NaN" in faults(net)[0]


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_no_observation_exceeds_the_largest_logit(activation):
    net = lasting_net(activation=activation)
    rows = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (500, 128)).astype(np.float32))
    assert float(net.member_logits(rows).abs().max()) < largest_logit(net)


@pytest.mark.parametrize(
    ("values", "word"),
    [
        (np.full(9, 0.3), "constant"),
        (np.linspace(0.3, 0.3003, 9), "constant"),
        (np.array([0.1, np.nan]), "NaN"),
        (np.array([0.1, np.inf]), "NaN"),
        (np.array([0.0, 1.5]), "bound"),
        (np.array([-1.0, 1.0, 0.999]), "at its bound"),
    ],
)
def test_a_potential_that_is_constant_unbounded_or_flat_is_refused(values, word):
    units = np.ones(len(values), np.float32)
    assert word in faults_of_potential(values.astype(np.float32), units, spread=20.0)[0]


def test_early_play_in_half_screens_is_no_constant():
    """One half screen is 0.045 objectives; the scale is ten of them."""
    potentials = np.linspace(0.0, 0.045, 9, dtype=np.float32) / 10.0
    assert faults_of_potential(potentials, potentials, spread=10.0) == []


@pytest.mark.parametrize("factor", [0.1, 10.0])
def test_constants_that_are_not_those_of_the_training_are_refused(factor):
    """Too small a spread makes a wall of tanh, too large a one a potential that says nothing."""
    potentials = np.linspace(-0.9, 0.9, 9, dtype=np.float32)
    units = np.linspace(-1.7, 1.7, 9, dtype=np.float32)
    assert faults_of_potential(potentials, units, spread=20.0) == []
    wide = units / np.float32(factor)
    assert "constants" in faults_of_potential(potentials, wide, spread=20.0 * factor)[0]


@pytest.mark.parametrize(("temperature", "fits"), [(1.0, True), (1e6, False), (1e-3, False)])
def test_a_network_says_how_sure_it_is_as_the_labels_have_it(temperature, fits):
    spec = RewardNetSpec(layout_version=LAYOUT_VERSION, temperature=temperature)
    assert (faults_of_calibration(spec, 0.8) == []) is fits
