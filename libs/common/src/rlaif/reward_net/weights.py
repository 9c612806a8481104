"""Weights of a reward network as arrays, with shapes from its spec. Needs numpy only."""

from collections.abc import Mapping
from dataclasses import dataclass
from itertools import pairwise
from typing import Protocol

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_models import RewardNetSpec

Arrays = Mapping[str, NDArray[np.float32]]


class Weighted(Protocol):
    """A network whose weights can be read: `NetWeights`, or a `RewardNet` of torch."""

    @property
    def spec(self) -> RewardNetSpec: ...

    def arrays(self) -> Arrays:
        """Name → weight, with the names of `tensor_shapes`; read-only."""


@dataclass(frozen=True, eq=False)
class NetWeights:
    """The weights of one network."""

    spec: RewardNetSpec
    tensors: Arrays

    def arrays(self) -> Arrays:
        return self.tensors


def layer_sizes(spec: RewardNetSpec) -> tuple[int, ...]:
    """Units of each layer, input and output included, such as (128, 64, 64, 1)."""
    return (spec.inputs, *spec.hidden, 1)


def tensor_shapes(spec: RewardNetSpec) -> dict[str, tuple[int, ...]]:
    """Name → shape of every weight, without building the network."""
    axis = (spec.members,) if spec.members > 1 else ()
    shapes: dict[str, tuple[int, ...]] = {}
    for index, (fan_in, fan_out) in enumerate(pairwise(layer_sizes(spec))):
        shapes[f"net.{2 * index}.weight"] = (*axis, fan_out, fan_in)
        shapes[f"net.{2 * index}.bias"] = (*axis, fan_out)
    return shapes
