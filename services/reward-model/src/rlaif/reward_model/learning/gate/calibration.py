"""Calibration: P(A better) from the difference of two segments.

    P = (1 - lapse) sigmoid(difference / temperature) + lapse / 2

`lapse` is the share of labels that seem to be chance; without it, one wrong label among certain
ones would need a temperature that makes all predictions timid. Both are fitted on episodes that the
predicting network never saw, and measured on the held-out side.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.learning.fit.sides import Side
from rlaif.reward_model.learning.gate.evaluation import (
    NOT_MEASURED,
    Accuracy,
    accuracy_on,
    calibration_bins,
    differences,
    expected_calibration_error,
    negative_log_likelihood,
)
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction

_TEMPERATURES = np.geomspace(0.002, 20.0, 81)
_LAPSES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Calibration:
    """Temperature and lapse; see the module."""

    temperature: float = 1.0
    lapse: float = 0.0

    def probability(self, difference: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(A better) for differences in logits, `[P]` both."""
        bounded = np.clip(difference / self.temperature, -30.0, 30.0)
        confident: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-bounded))
        return (1.0 - self.lapse) * confident + 0.5 * self.lapse


@dataclass(frozen=True)
class Bin:
    """Pairs with about equal confidence: their mean confidence, and how often it was right."""

    expected: float
    right: Accuracy


@dataclass(frozen=True)
class Reliability:
    """A network on the decided pairs of a side.

    Attributes:
        error: Expected calibration error; None without pairs.
        bins: Bins that have pairs, in order of confidence.
    """

    accuracy: Accuracy = NOT_MEASURED
    error: float | None = None
    bins: tuple[Bin, ...] = ()


def calibrate(difference: NDArray[np.float64], outcome: NDArray[np.float64]) -> Calibration:
    """The most likely calibration for `[P]` logits and outcomes, on a grid; neutral without any."""
    if not len(difference):
        return Calibration()
    every = [Calibration(float(t), lapse) for t in _TEMPERATURES for lapse in _LAPSES]
    return min(
        every, key=lambda item: negative_log_likelihood(item.probability(difference), outcome)
    )


def probability(net: RewardNet, difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` P(A better) for differences of the shaping reward, `[P]`."""
    in_logits = difference * net.spec.spread / net.spec.scale
    return Calibration(net.spec.temperature, net.spec.lapse).probability(in_logits)


def predictions(net: RewardNet, side: Side) -> NDArray[np.float64]:
    """`[P]` P(A better) of every pair of a side."""
    pay = side.pay(PotentialFunction(net))
    return probability(net, np.array([pay[item.a] - pay[item.b] for item in side.preferences]))


def reliability(net: RewardNet, side: Side, *, seed: int) -> Reliability:
    """Confidence against accuracy on the pairs of a side."""
    if not side.decided:
        return Reliability()
    pay = side.pay(PotentialFunction(net))
    difference, outcomes = differences(pay, side.decided)
    likely = probability(net, difference)
    confidence, place = calibration_bins(likely)
    bins = []
    for at in np.unique(place).tolist():
        inside = np.flatnonzero(place == at)
        own = side.with_pairs([side.decided[one] for one in inside.tolist()])
        expected = float(confidence[inside].mean())
        bins.append(Bin(expected, accuracy_on(pay, own, seed=seed)))
    return Reliability(
        accuracy_on(pay, side, seed=seed), expected_calibration_error(likely, outcomes), tuple(bins)
    )
