"""Shaping reward from potentials. Needs numpy only.

The reward of a step from s to s' is

    weight * (gamma * P(s') - P(s)),    P(s) = Phi(s) - Phi(first state of the episode),

and P is 0 after the end of the game (Ng, Harada & Russell 1999; Grzes 2017), so over an episode
that ends the discounted sum is 0. With Phi itself every step near s would cost (1 - gamma) * Phi,
more than a step towards the goal earns. A segment of T observations at the start of an episode gets

    gamma^(T - 1) * (Phi(last) - Phi(first)),

by which the gate and `paid_accuracy` rank segments. Reward models are fitted to positions and rises
of r, the network's output before the tanh, without the discount.
"""

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

DISCOUNT = 0.999
"""Default gamma of the trainer's PPO."""

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Values = TypeVar("Values", float, Float64)


class Potential(Protocol):
    """Phi: maps `[B, D] float32` observations to `[B] float32` potentials."""

    def __call__(self, observations: Float32, /) -> Float32: ...


def step_pay(before: Values, after: Values, *, gamma: float | Values) -> Values:
    """Shaping reward of a step at weight 1; `gamma` may be an array with one value per step."""
    return gamma * after - before


def segment_pay(first: Values, last: Values, *, steps: int | Values, gamma: float) -> Values:
    """Discounted reward of a segment at the start of an episode.

    `first` and `last` are its potentials, `steps` one less than its observations: numbers or `[N]`.
    """
    return gamma**steps * (last - first)


def paid(potential: Potential, observations: Float32, gamma: float = DISCOUNT) -> float:
    """`segment_pay` of the observations `[T, D]` of one segment, T at least 1."""
    first, last = potential(observations[[0, -1]]).astype(np.float64)
    return float(segment_pay(first, last, steps=len(observations) - 1, gamma=gamma))


def paid_of_ends(potential: Potential, ends: Float32, steps: NDArray[np.int64]) -> Float64:
    """`segment_pay` of N segments in one call: `[N] float64`.

    `ends` are first and last observations `[N, 2, D]`, `steps` the steps between them `[N]`.
    """
    count, _, width = ends.shape
    values = potential(ends.reshape(2 * count, width)).astype(np.float64).reshape(count, 2)
    return segment_pay(values[:, 0], values[:, 1], steps=steps.astype(np.float64), gamma=DISCOUNT)
