"""Which numbers of the observation a potential pays for: a segment's pay, dealt among the slots.

Integrated gradients (Sundararajan, Taly & Yan 2017) from the segment's first observation to its
last. What slot i gets is

    gamma^(T - 1) (last_i - first_i) * mean over the straight way of dPhi / dx_i

so a slot that did not change gets nothing, and all of a segment sum to its pay. The integral is a
sum of midpoints; what it misses is told.
"""

from dataclasses import dataclass

import numpy as np
import torch
from numpy.typing import NDArray

from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.learning.split_halves import ends_of
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.pay import paid_of_ends
from rlaif.reward_net.potential import PotentialFunction

_POINTS = 24
"""Of the way: the potential is smooth, and with these the rest stays below a thousandth of it."""

_CHUNK = 64
"""Segments at a time; each takes `_POINTS` rows through all members."""


@dataclass(frozen=True)
class Attribution:
    """What N segments are paid, and for what.

    Attributes:
        slots: `[N, D]` float64, the part of each slot.
        pay: `[N]` float64, as the trainer pays.
    """

    slots: NDArray[np.float64]
    pay: NDArray[np.float64]

    @property
    def rest(self) -> NDArray[np.float64]:
        """`[N]`: what the slots do not sum to."""
        rest: NDArray[np.float64] = self.pay - self.slots.sum(axis=1)
        return rest


def attribute(net: RewardNet, segments: list[LabelledSegment], gamma: float) -> Attribution:
    """Deal the pay of N segments, at least one, among the numbers of the observation. Blocks."""
    ends = ends_of(segments)
    steps = np.array([item.decision_steps - 1 for item in segments], np.int64)
    parts = [_integrated(net, ends[at : at + _CHUNK]) for at in range(0, len(ends), _CHUNK)]
    return Attribution(
        slots=np.concatenate(parts) * (gamma ** steps.astype(np.float64))[:, None],
        pay=paid_of_ends(PotentialFunction(net), ends, steps, gamma),
    )


def _integrated(net: RewardNet, ends: NDArray[np.float32]) -> NDArray[np.float64]:
    """`[N, D]` float64 of the ends `[N, 2, D]` of segments."""
    first, last = torch.from_numpy(ends[:, 0]), torch.from_numpy(ends[:, 1])
    change = last - first
    places = (torch.arange(_POINTS) + 0.5) / _POINTS
    way = first[:, None] + places[None, :, None] * change[:, None]
    rows = way.reshape(-1, ends.shape[-1]).requires_grad_()
    (slopes,) = torch.autograd.grad(net.potential(rows).sum(), rows)
    found: NDArray[np.float64] = (
        slopes.reshape(way.shape).mean(dim=1).double() * change.double()
    ).numpy()
    return found
