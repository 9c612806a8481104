"""A network is asked where nobody has been, and held against others of the same labels.

The labels here are a made-up worth of places and possessions, without a recipe: each network is
taught it directly, some of them with a fault besides that no label shows.
"""

from collections.abc import Callable
from typing import Any

import numpy as np
import pytest
import torch
from numpy.typing import NDArray

from rlaif.contracts.observation import LASTING_SLOTS, LAYOUT_VERSION, slot_index
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.learning.counterfactuals import make_probes
from rlaif.reward_model.learning.responses import compare, unlike_refits
from rlaif.reward_net.network import RewardNet

Rows = NDArray[np.float32]
Fault = Callable[[Rows], NDArray[Any]]

X, Y = slot_index("player_x"), slot_index("player_y")
FEATHER, BOSS_KEY = slot_index("has_feather"), slot_index("boss_key")
TAKEN, LOCKED, EVENT = (slot_index(name) for name in ("item_taken", "locked", "room_event"))
ROOM = slot_index("room_bit_0")
FLAGS = (FEATHER, BOSS_KEY, TAKEN, LOCKED, EVENT, ROOM)


def seen(count: int, seed: int) -> Rows:
    """Places in two rooms; few things are owned."""
    rng = np.random.default_rng(seed)
    rows = np.zeros((count, 128), np.float32)
    rows[:, [X, Y]] = rng.random((count, 2))
    rows[:, FLAGS] = rng.random((count, len(FLAGS))) < 0.3
    return rows


def worth(rows: Rows) -> NDArray[np.float64]:
    """Nearer to a corner is better, another corner in each room, and each thing helps."""
    corner = rows[:, ROOM]
    way = np.abs(rows[:, X] - corner) + np.abs(rows[:, Y] - 0.2)
    return (0.6 - way + 0.3 * rows[:, FEATHER] + 0.3 * rows[:, BOSS_KEY]).astype(np.float64)


def taught(seed: int, fault: Fault | None = None, members: int = 3) -> RewardNet:
    """A network that knows `worth` where it is seen, and a fault where it lies.

    Refits are single networks, as those of the folds are.
    """
    generator = torch.Generator().manual_seed(seed)
    spec = RewardNetSpec(layout_version=LAYOUT_VERSION, members=members, activation="tanh")
    net = RewardNet(spec, generator=generator)
    rows = seen(1500, 100 + seed)
    target = worth(rows) + (fault(rows) if fault else 0.0)
    x, y = torch.from_numpy(rows), torch.from_numpy(target.astype(np.float32))
    passing = torch.from_numpy(np.setdiff1d(np.arange(128), LASTING_SLOTS))
    with torch.no_grad():
        net.state_dict()["net.0.weight"][..., passing] = 0.0
    optimiser = torch.optim.Adam(net.parameters(), lr=5e-3, weight_decay=1e-4)
    for _ in range(400):
        chosen = torch.randint(len(x), (128,), generator=generator)
        optimiser.zero_grad()
        torch.autograd.backward((net.member_logits(x[chosen]) - y[chosen]).square().mean())
        optimiser.step()
    return net.eval().requires_grad_(False)


@pytest.fixture(scope="module")
def refits() -> list[RewardNet]:
    torch.set_num_threads(1)
    return [taught(seed, members=1) for seed in range(6)]


@pytest.fixture(scope="module")
def probes():
    return make_probes(seen(300, 7), LAYOUT_VERSION, seed=0)


def reasons(net, refits, probes) -> list[str]:
    return unlike_refits(compare(net, refits, probes))


@pytest.mark.parametrize("seed", [10, 11, 12])
def test_another_network_of_the_same_labels_is_like_its_refits(refits, probes, seed):
    assert reasons(taught(seed), refits, probes) == []


def both(rows: Rows, *slots: int) -> NDArray[np.bool_]:
    return np.logical_and.reduce(rows[:, slots] > 0.5, axis=1)


FAULTS: dict[str, Fault] = {
    "a trap at a place": lambda r: 2.0 * ((r[:, X] < 0.3) & (r[:, Y] > 0.7)),
    "one room turned round": lambda r: -2.0 * worth(r) * (r[:, ROOM] > 0.5),
    "one room raised": lambda r: 1.5 * (r[:, ROOM] > 0.5),
    "a pair of flags": lambda r: 2.0 * both(r, TAKEN, LOCKED),
    "three flags": lambda r: -2.5 * both(r, TAKEN, LOCKED, EVENT),
    "a thing that lowers": lambda r: -1.0 * (r[:, BOSS_KEY] > 0.5),
    "a copy of one number": lambda r: 2.0 * r[:, Y] - worth(r),
    "the opposite": lambda r: -2.0 * worth(r),
}


@pytest.mark.parametrize("fault", FAULTS.values(), ids=FAULTS.keys())
def test_a_fault_that_no_label_shows_is_found(refits, probes, fault):
    assert reasons(taught(20, fault), refits, probes)


def test_a_thing_that_lowers_the_potential_is_named(refits, probes):
    found = compare(taught(20, FAULTS["a thing that lowers"]), refits, probes)
    assert found.lowered == ("boss_key",)


def test_one_member_out_of_line_is_found(refits, probes):
    net = taught(20)
    state = net.state_dict()
    for name in ("net.4.weight", "net.4.bias"):
        state[name][1] *= -1.0
    assert any("member 2" in reason for reason in reasons(net, refits, probes))


def test_members_that_cancel_each_other_are_found_by_their_weights(refits, probes):
    net = taught(20)
    last = net.state_dict()["net.4.weight"]
    last[0] *= 1000.0
    assert any("net.4.weight" in reason for reason in reasons(net, refits, probes))


def test_a_unit_that_waits_for_a_rare_combination_is_found_by_its_weights(refits, probes):
    net = taught(20)
    first, bias = net.state_dict()["net.0.weight"], net.state_dict()["net.0.bias"]
    first[:, 0, :] = 0.0
    first[:, 0, [FEATHER, BOSS_KEY, slot_index("compass")]] = 20.0
    bias[:, 0] = -50.0
    assert any("trigger" in reason for reason in reasons(net, refits, probes))
