"""What a potential pays: potentials in, rewards out. Needs numpy alone.

The trainer pays a step from s to s'

    weight * (gamma * P(s') - P(s)),    P(s) = Phi(s) - Phi(first state of the episode),

and P is 0 after the game's end (Ng, Harada & Russell 1999; Grzes 2017). P starts at 0, so over an
episode that ends the discounted sum is 0. Counting from the start is what lets a rise show: with
Phi itself a state costs (1 - gamma) * Phi for every step that is spent near it, and where Phi is
near 1 that is more than a step towards the goal earns.

A segment of T observations that is taken as the beginning of an episode is paid

    gamma^(T - 1) * (Phi(last) - Phi(first))

and nothing else of it counts. That number, of weight 1, is what a reward model is fitted by, what
its gate examines and what `paid_accuracy` ranks by.
"""

from typing import Protocol, TypeVar

import numpy as np
from numpy.typing import NDArray

DISCOUNT = 0.999
"""gamma of PPO as the trainer has it by default; the design's number."""

Float32 = NDArray[np.float32]
Float64 = NDArray[np.float64]
Values = TypeVar("Values", float, Float64)


class Potential(Protocol):
    """Phi: `[B, D] float32` observations to `[B] float32` potentials."""

    def __call__(self, observations: Float32, /) -> Float32: ...


def step_pay(before: Values, after: Values, *, gamma: float | Values) -> Values:
    """Pay of a step of weight 1, from the potentials of the states before and after it.

    `gamma` is the trainer's discount; of steps that last differently long, that of each.
    """
    return gamma * after - before


def segment_pay(first: Values, last: Values, *, steps: int | Values, gamma: float) -> Values:
    """Discounted pay of a segment as an episode's beginning.

    Args:
        first: Potential of its first observation; a number or `[N]`.
        last: Potential of its last one.
        steps: Steps between the two: one less than it has observations. A number or `[N]`.
        gamma: Discount of the trainer's PPO.
    """
    return gamma**steps * (last - first)


def paid(potential: Potential, observations: Float32, gamma: float = DISCOUNT) -> float:
    """`segment_pay` of one segment's observations `[T, D]`, T at least 1."""
    first, last = potential(observations[[0, -1]]).astype(np.float64)
    return float(segment_pay(first, last, steps=len(observations) - 1, gamma=gamma))


def paid_of_ends(
    potential: Potential, ends: Float32, steps: NDArray[np.int64], gamma: float = DISCOUNT
) -> Float64:
    """`segment_pay` of N segments at once: `[N] float64`.

    Args:
        potential: Is asked once, for all of them.
        ends: `[N, 2, D]`; of each segment the first and the last observation.
        steps: `[N]`; steps between them.
        gamma: Discount of the trainer's PPO.
    """
    count, _, width = ends.shape
    values = potential(ends.reshape(2 * count, width)).astype(np.float64).reshape(count, 2)
    return segment_pay(values[:, 0], values[:, 1], steps=steps.astype(np.float64), gamma=gamma)
