"""Checks of the network itself: layout, size, finite weights, no weight on transient slots."""

import numpy as np
import torch

from rlaif.contracts.game.observation import LAYOUT
from rlaif.contracts.reward_models import RewardNetSpec
from rlaif.reward_model.learning.fit.inputs import is_known_layout, lasting_slots
from rlaif.reward_model.learning.gate.checks import Check
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_net.artifact import MAX_BYTES
from rlaif.reward_net.network import RewardNet, tensor_shapes

_MAX_OUTPUT = 1e30
"""Largest intermediate value; float32 ends at 3e38."""

_BYTES_PER_WEIGHT = 4


def network_checks(
    net: RewardNet, *, layout_version: str, settings: CandidateSettings
) -> tuple[Check, ...]:
    """The checks of a network; a later one assumes that those before it hold."""
    spec = net.spec
    allowed = RewardNetSpec(
        layout_version=layout_version, inputs=spec.inputs, members=settings.fit.members
    )
    broken = sum(not torch.isfinite(value).all() for value in net.state_dict().values())
    layout = float(spec.layout_version == layout_version)
    scale = float(spec.scale == settings.scale)
    most = min(_weights(allowed), MAX_BYTES // _BYTES_PER_WEIGHT)
    output = (largest_output(net) + abs(spec.shift)) / spec.spread
    transient, slot = _transient_weight(net)
    on_slot = f", largest on {slot}" if transient else ""
    return (
        Check("network_layout", "Reads the observation layout of the labels", layout, bound=1.0),
        Check("network_scale", "Potential has the configured scale", scale, bound=1.0),
        Check("network_size", "Weights of the network", _weights(spec), bound=most,
              relation="value <="),
        Check("network_finite", "Weight tensors with NaN or infinity", broken, bound=0.0,
              relation="value <="),
        Check("network_output", "Largest possible intermediate value", output,
              bound=_MAX_OUTPUT, relation="value <="),
        Check("network_transient_slots", f"Weight of transient slots{on_slot}", transient,
              bound=0.0, relation="value <="),
    )  # fmt: skip


def largest_output(net: RewardNet) -> float:
    """Upper bound of every number in the network, for observations in [0, 1]."""
    state = {name: value.double().abs() for name, value in net.state_dict().items()}
    bound, most = 1.0, 1.0
    for index in range(len(net.spec.hidden) + 1):
        weight, bias = state[f"net.{2 * index}.weight"], state[f"net.{2 * index}.bias"]
        most = max(most, float((weight.sum(dim=-1) * bound + bias).max()))
        bound = 1.0 if net.spec.activation == "tanh" else most
    return most


def _weights(spec: RewardNetSpec) -> int:
    return sum(int(np.prod(shape)) for shape in tensor_shapes(spec).values())


def _transient_weight(net: RewardNet) -> tuple[float, str]:
    """(largest weight of a transient slot, that slot): it would pay for menus or standing still."""
    spec = net.spec
    lasting = lasting_slots(spec.layout_version, spec.inputs)
    transient = np.setdiff1d(np.arange(spec.inputs), lasting)
    if not len(transient):
        return 0.0, ""
    weight = net.state_dict()["net.0.weight"][..., torch.from_numpy(transient)]
    slots = weight.abs().flatten(0, -2).max(dim=0).values
    worst = int(transient[int(slots.argmax())])
    known = is_known_layout(spec.layout_version, spec.inputs)
    return float(slots.max()), LAYOUT[worst].name if known else f"slot {worst}"
