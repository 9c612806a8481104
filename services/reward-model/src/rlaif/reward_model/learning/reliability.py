"""How often a network is right where it is how sure: the bins of its calibration error."""

from dataclasses import dataclass

import numpy as np

from rlaif.reward_model.learning.evaluation import (
    NOT_MEASURED,
    Accuracy,
    calibration_bins,
    expected_calibration_error,
)
from rlaif.reward_model.learning.exam import probability
from rlaif.reward_model.learning.settings import CandidateSettings
from rlaif.reward_model.learning.split_halves import Side, accuracy_on, side_statistics
from rlaif.reward_net.network import RewardNet
from rlaif.reward_net.potential import PotentialFunction


@dataclass(frozen=True)
class Bin:
    """Pairs of which a network is about as sure.

    Attributes:
        expected: Mean probability of the side that it takes for better.
        right: How often that side is; as all accuracies, by episodes.
    """

    expected: float
    right: Accuracy


@dataclass(frozen=True)
class Reliability:
    """A network on the decided pairs of one side.

    Attributes:
        error: Expected calibration error; None without pairs.
        bins: Those with pairs, the least sure first.
    """

    accuracy: Accuracy = NOT_MEASURED
    error: float | None = None
    bins: tuple[Bin, ...] = ()


def reliability(net: RewardNet, side: Side, settings: CandidateSettings) -> Reliability:
    """Measure how sure a network is of the pairs of a side, and how often it is right."""
    statistics = side_statistics(PotentialFunction(net), side, settings)
    decided = [item for item in side.preferences if item.decided]
    if not decided:
        return Reliability()
    likely = probability(net, np.array([statistics[i.a] - statistics[i.b] for i in decided]))
    outcomes = np.array([float(item.margin > 0) for item in decided])
    confidence, place = calibration_bins(likely)
    bins = []
    for at in np.unique(place).tolist():
        inside = np.flatnonzero(place == at)
        pairs = Side(side.name, side.segments, [decided[one] for one in inside.tolist()])
        expected = float(confidence[inside].mean())
        bins.append(Bin(expected, accuracy_on(statistics, pairs, settings)))
    return Reliability(
        accuracy_on(statistics, side, settings),
        expected_calibration_error(likely, outcomes),
        tuple(bins),
    )
