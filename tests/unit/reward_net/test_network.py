"""The reward network and its potential."""

import numpy as np
import pytest
import torch

from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import tensor_shapes

SPEC = RewardNetSpec(layout_version="v1", shift=0.2, spread=0.1, scale=2.0)


def seeded(seed: int = 0, spec: RewardNetSpec = SPEC) -> RewardNet:
    return RewardNet(spec, generator=torch.Generator().manual_seed(seed))


def observations(rows: int = 32) -> np.ndarray:
    return np.random.default_rng(1).random((rows, 128), dtype=np.float32)


def test_the_default_network_has_the_published_shape():
    assert tensor_shapes(SPEC) == {
        "net.0.weight": (64, 128),
        "net.0.bias": (64,),
        "net.2.weight": (64, 64),
        "net.2.bias": (64,),
        "net.4.weight": (1, 64),
        "net.4.bias": (1,),
    }
    found = {name: tuple(value.shape) for name, value in seeded().state_dict().items()}
    assert found == tensor_shapes(SPEC)


def test_equal_seeds_build_equal_networks_without_touching_the_global_generator():
    before = torch.random.get_rng_state()
    first, second, other = seeded(3), seeded(3), seeded(4)
    assert torch.equal(before, torch.random.get_rng_state())
    assert torch.equal(first.net.get_parameter("0.weight"), second.net.get_parameter("0.weight"))
    assert not torch.equal(first.net.get_parameter("0.weight"), other.net.get_parameter("0.weight"))


def test_the_potential_is_the_frozen_formula():
    net = seeded()
    x = torch.from_numpy(observations())
    with torch.no_grad():
        expected = 2.0 * np.tanh((net(x).numpy() - 0.2) / 0.1)
        np.testing.assert_allclose(net.potential(x).numpy(), expected, rtol=1e-5, atol=1e-6)


def test_the_potential_function_is_bounded_float32_and_repeatable():
    phi = PotentialFunction(seeded())
    x = observations()
    first, second = phi(x), phi(x)
    assert first.dtype == np.float32
    assert first.shape == (32,)
    assert np.abs(first).max() <= 2.0
    np.testing.assert_array_equal(first, second)


def test_the_potential_function_reads_read_only_and_empty_arrays():
    phi = PotentialFunction(seeded())
    frozen = observations()
    frozen.setflags(write=False)
    assert phi(frozen).shape == (32,)
    assert phi(np.empty((0, 128), np.float32)).shape == (0,)


def test_an_observation_of_another_length_is_refused():
    with pytest.raises(ValueError, match=r"expected \[B, 128\]"):
        PotentialFunction(seeded())(np.zeros((3, 64), np.float32))


def test_new_constants_leave_the_weights_alone():
    net = seeded()
    other = net.with_spec(net.spec.model_copy(update={"shift": 1.0, "spread": 3.0}))
    assert (other.spec.shift, other.spec.spread, other.spec.scale) == (1.0, 3.0, 2.0)
    x = torch.from_numpy(observations())
    with torch.no_grad():
        assert torch.equal(net(x), other(x))


@pytest.mark.parametrize("activation", ["relu", "tanh"])
@pytest.mark.parametrize("members", [1, 3])
def test_slopes_in_numpy_are_the_gradients_of_torch(activation: str, members: int):
    spec = SPEC.model_copy(update={"activation": activation, "members": members, "shift": 0.1})
    net = seeded(4, spec)
    rows = torch.rand((20, spec.inputs), generator=torch.Generator().manual_seed(1))
    rows.requires_grad_()
    (wanted,) = torch.autograd.grad(net.potential(rows).sum(), rows)
    found = PotentialFunction(net).slopes(rows.detach().numpy())
    assert float(wanted.abs().max()) > 1e-3
    np.testing.assert_allclose(found, wanted.numpy(), atol=1e-6)
