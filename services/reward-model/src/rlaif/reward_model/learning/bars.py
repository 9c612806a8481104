"""What a network may be, before it is asked anything: its shape, its weights, its constants."""

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.contracts.observation import LAYOUT
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.learning.bradley_terry import LEAST_SPREAD
from rlaif.reward_model.learning.lasting import lasting_slots
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.artifact import MAX_BYTES
from rlaif.reward_net.network import RewardNet, tensor_shapes

_LARGEST = 1e30
"""Largest number that may stand anywhere in the network; float32 ends at 3e38."""

_MOST_SATURATED = 0.25
_NEARLY_ONE = 0.99
_LEAST_DEVIATION = 0.0045
"""Standard deviation of Φ over the training data, in objectives, below which it counts as constant:
a tenth of the half screen in which judges tell distances. Not in units of the scale, which is ten
objectives at least: early play that is judged in half screens is a thousandth of it."""

_SPREADS = (0.5, 2.0)
"""The spread, over the one that the training would give it on the labelled observations."""

_TEMPERATURES = (0.1, 10.0)
_BYTES = 4


def faults_of_network(
    net: RewardNet, *, layout_version: str, settings: CandidateSettings
) -> list[str]:
    """What is wrong with a network before it is asked anything; the first fault found."""
    spec = net.spec
    if spec.layout_version != layout_version:
        return [
            f"it reads observation layout {spec.layout_version!r}, the labels are of "
            f"{layout_version!r}"
        ]
    weights = _weights(spec)
    allowed = _weights(
        RewardNetSpec(
            layout_version=layout_version, inputs=spec.inputs, members=settings.fit.members
        )
    )
    if weights > allowed or weights * _BYTES > MAX_BYTES:
        return [f"it has {weights} weights, and {allowed} may be evaluated at every step"]
    if spec.scale != settings.scale:
        return [f"its potential is scaled by {spec.scale:g}, the settings say {settings.scale:g}"]
    broken = [name for name, value in net.state_dict().items() if not torch.isfinite(value).all()]
    if broken:
        return [f"{broken[0]} holds NaN or infinity"]
    largest = largest_logit(net)
    if not (largest + abs(spec.shift)) / spec.spread < _LARGEST:
        return [f"numbers up to {largest:.2g} may arise in it, which some observation makes NaN"]
    return _reads_what_passes(net)


def _weights(spec: RewardNetSpec) -> int:
    return sum(int(np.prod(shape)) for shape in tensor_shapes(spec).values())


def largest_logit(net: RewardNet) -> float:
    """No observation in [0, 1] makes any number in the network larger than this."""
    state = {name: value.double().abs() for name, value in net.state_dict().items()}
    bound, most = 1.0, 1.0
    for index in range(len(net.spec.hidden) + 1):
        weight, bias = state[f"net.{2 * index}.weight"], state[f"net.{2 * index}.bias"]
        most = max(most, float((weight.sum(dim=-1) * bound + bias).max()))
        bound = 1.0 if net.spec.activation == "tanh" else most
    return most


def _reads_what_passes(net: RewardNet) -> list[str]:
    """Slots that come and go must have no weight at all, so that nothing can be paid for them."""
    lasting = lasting_slots(net.spec.layout_version, net.spec.inputs)
    passing = np.setdiff1d(np.arange(net.spec.inputs), lasting)
    weight = net.state_dict()["net.0.weight"][..., torch.from_numpy(passing)]
    if not weight.numel() or float(weight.abs().max()) == 0.0:
        return []
    slots = weight.abs().flatten(0, -2).max(dim=0).values
    worst = int(passing[int(slots.argmax())])
    return [
        f"its potential depends on {int((slots > 0).sum())} numbers that come and go, most of all "
        f"on {_name(net.spec, worst)}: it would pay for menus, texts or standing still"
    ]


def _name(spec: RewardNetSpec, slot: int) -> str:
    return LAYOUT[slot].name if spec.inputs == len(LAYOUT) else f"slot {slot}"


def faults_of_potential(
    potentials: NDArray[np.float32], units: NDArray[np.float32], *, spread: float
) -> list[str]:
    """What is wrong with `[N]` potentials of labelled observations, in units of the scale.

    `units` are the same before tanh, `spread` is the network's.
    """
    if not np.isfinite(potentials).all():
        return ["the potential is NaN or infinite on training observations"]
    if np.abs(potentials).max() > 1.0 + 1e-6:
        return [f"the potential leaves its bound: {np.abs(potentials).max():.3g} times it"]
    deviation = float(potentials.std()) * spread
    if deviation < _LEAST_DEVIATION:
        return [f"the potential is constant: its deviation is {deviation:.2g} objectives"]
    size = float(np.sqrt(np.square(units.astype(np.float64)).mean()))
    usual = max(size * spread, LEAST_SPREAD)
    if not _SPREADS[0] <= spread / usual <= _SPREADS[1]:
        return [
            f"its constants are not those of its training: its spread is {spread:.2g}, and over "
            f"the labelled observations {usual:.2g} would be right"
        ]
    saturated = float((np.abs(potentials) > _NEARLY_ONE).mean())
    if saturated > _MOST_SATURATED:
        return [f"{saturated:.0%} of the labelled observations are at its bound, where it is flat"]
    return []


def faults_of_calibration(spec: RewardNetSpec, temperature: float) -> list[str]:
    """Whether the network says itself how sure its differences are, as the labels have it."""
    ratio = spec.temperature / temperature
    if _TEMPERATURES[0] <= ratio <= _TEMPERATURES[1]:
        return []
    return [
        f"its temperature is {spec.temperature:.3g}, and {temperature:.3g} fits the labels: its "
        "probabilities would be wrong"
    ]
