"""Checks of a network before it is evaluated."""

import numpy as np
import pytest
import torch

from rlaif.contracts.game.observation import LASTING_SLOTS, LAYOUT_VERSION, slot_index
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.learning.gate.checks import failed
from rlaif.reward_model.learning.gate.measuring import largest_output, network_checks
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.network import RewardNet

SETTINGS = CandidateSettings()


def lasting_net(**spec) -> RewardNet:
    """A network that reads lasting slots only."""
    made = RewardNet(
        RewardNetSpec(layout_version=LAYOUT_VERSION, members=2, **spec),
        generator=torch.Generator().manual_seed(0),
    )
    transient = np.setdiff1d(np.arange(128), LASTING_SLOTS)
    with torch.no_grad():
        first(made)[..., torch.from_numpy(transient)] = 0.0
    return made.eval().requires_grad_(False)


def first(net: RewardNet) -> torch.Tensor:
    return net.state_dict()["net.0.weight"]


def rejected_by(net: RewardNet) -> str:
    """The first check that fails; empty if all hold."""
    checks = failed(network_checks(net, layout_version=LAYOUT_VERSION, settings=SETTINGS))
    return checks[0].name if checks else ""


@pytest.mark.parametrize(
    ("net", "name"),
    [
        (lasting_net(scale=2.0), "network_scale"),
        (lasting_net(hidden=(256, 256)), "network_size"),
        (
            lasting_net().with_spec(RewardNetSpec(layout_version="v0", members=2)),
            "network_layout",
        ),
    ],
)
def test_a_network_of_another_kind_is_rejected(net, name):
    assert rejected_by(net) == name


def test_a_weight_on_the_menu_is_rejected_however_small():
    net = lasting_net()
    first(net)[0, 3, slot_index("menu_open")] = 1e-6
    assert rejected_by(net) == "network_transient_slots"
    (check,) = failed(network_checks(net, layout_version=LAYOUT_VERSION, settings=SETTINGS))
    assert "menu_open" in check.question


def test_weights_that_may_overflow_are_rejected():
    """Finite weights, and NaN where two flags are on: infinity minus infinity."""
    net = lasting_net(activation="relu")
    first(net)[0, 0, slot_index("has_feather")] = 3e38
    first(net)[0, 0, slot_index("boss_key")] = 3e38
    assert rejected_by(net) == "network_output"


@pytest.mark.parametrize("activation", ["relu", "tanh"])
def test_no_observation_exceeds_the_largest_output(activation):
    net = lasting_net(activation=activation)
    rows = torch.from_numpy(np.random.default_rng(0).integers(0, 2, (500, 128)).astype(np.float32))
    assert float(net.member_logits(rows).abs().max()) < largest_output(net)
