"""Accuracy of a potential on preferences, with intervals over episodes, and its calibration.

Neither pairs nor segments are independent: pairs share segments, and the segments of an episode
share start, policy and judge. The Bayesian bootstrap (Rubin 1981) therefore reweights whole
episodes; a pair counts by the weights of both of its episodes.

Calibration gives P(A better) from the difference of two segments:

    P = (1 - lapse) sigmoid(difference / temperature) + lapse / 2

`lapse` is the share of labels that seem to be random; without it, one wrong label among certain
ones would require a temperature that makes all predictions underconfident. Both are fitted on
episodes that the predicting network never saw, and measured on the held-out side.
"""

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.reward_model_rest import MeasuredAccuracy
from rlaif.reward_model.labels.preferences import Preference
from rlaif.reward_model.learning.fit.sides import BOOTSTRAP_STREAM, Side
from rlaif.reward_model.learning.settings import CONFIDENCE
from rlaif.reward_net.potential import PotentialFunction
from rlaif.reward_net.weights import Weighted

_ECE_BINS = 10
_RESAMPLES = 1000
_MAX_EPISODE_SIZE = 3.0
_MIN_EPISODES = 4
"""Fewer episodes give the widest possible interval."""


_TEMPERATURES = np.geomspace(0.002, 20.0, 81)
_LAPSES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


NOT_MEASURED = MeasuredAccuracy(value=None, low=None, high=None, pairs=0)


@dataclass(frozen=True)
class Gain:
    """Difference of two accuracies on the same pairs, in [-1, 1], with its one-sided ends."""

    value: float
    low: float
    high: float


@dataclass(frozen=True)
class Calibration:
    """Temperature and lapse; neutral by default."""

    temperature: float = 1.0
    lapse: float = 0.0

    def probability(self, difference: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(A better) for differences in logits, `[P]` both."""
        bounded = np.clip(difference / self.temperature, -30.0, 30.0)
        confident: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-bounded))
        return (1.0 - self.lapse) * confident + 0.5 * self.lapse


def accuracy_on(
    statistics: NDArray[np.float64], side: Side, *, seed: int, confidence: float = CONFIDENCE
) -> MeasuredAccuracy:
    """Accuracy of `[N]` statistics on the decided pairs; equal statistics count one half."""
    if not side.decided:
        return NOT_MEASURED
    correct = _correct(statistics, side.decided)
    found = _interval(correct, side, confidence, seed, possible=(0.0, 1.0))
    return MeasuredAccuracy(
        value=found.value, low=found.low, high=found.high, pairs=len(side.decided)
    )


def gain_on(
    statistics: NDArray[np.float64],
    others: NDArray[np.float64],
    side: Side,
    *,
    seed: int,
    confidence: float = CONFIDENCE,
) -> Gain | None:
    """Accuracy of `statistics` minus that of `others`, both `[N]`; None without decided pairs."""
    if not side.decided:
        return None
    gains = _correct(statistics, side.decided) - _correct(others, side.decided)
    return _interval(gains, side, confidence, seed, possible=(-1.0, 1.0))


def differences(
    statistics: NDArray[np.float64], decided: Sequence[Preference]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(difference of the statistic, 1 where A is better else 0) of each decided pair, `[P]`."""
    found = np.array([statistics[item.a] - statistics[item.b] for item in decided], np.float64)
    wanted = np.array([float(item.margin > 0) for item in decided], np.float64)
    return found, wanted


def calibrate(difference: NDArray[np.float64], outcome: NDArray[np.float64]) -> Calibration:
    """The most likely calibration for `[P]` logits and outcomes, on a grid; neutral without any."""
    if not len(difference):
        return Calibration()
    every = [Calibration(float(t), lapse) for t in _TEMPERATURES for lapse in _LAPSES]
    return min(
        every, key=lambda item: negative_log_likelihood(item.probability(difference), outcome)
    )


def probability(net: Weighted, difference: NDArray[np.float64]) -> NDArray[np.float64]:
    """`[P]` P(A better) for differences of the shaping reward, `[P]`."""
    in_logits = difference * net.spec.spread / net.spec.scale
    return Calibration(net.spec.temperature, net.spec.lapse).probability(in_logits)


def predictions(net: Weighted, side: Side) -> NDArray[np.float64]:
    """`[P]` P(A better) of every pair of a side."""
    pay = side.pay(PotentialFunction(net))
    return probability(net, np.array([pay[item.a] - pay[item.b] for item in side.preferences]))


def expected_calibration_error(
    probabilities: NDArray[np.float64], outcomes: NDArray[np.float64]
) -> float:
    """Mean distance between confidence and accuracy, in ten bins weighted by pairs.

    The order within a pair is arbitrary, so confidence is that of the predicted winner, in
    [0.5, 1]. Outcomes are 1 where A is better, else 0; there is at least one.
    """
    confidence, place = calibration_bins(probabilities)
    right = np.where(probabilities >= 0.5, outcomes, 1.0 - outcomes)
    gap = np.bincount(place, confidence - right, _ECE_BINS)
    return float(np.abs(gap).sum() / len(probabilities))


def calibration_bins(
    probabilities: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(probability of the predicted winner, index of its bin), `[P]` each."""
    confidence = np.maximum(probabilities, 1.0 - probabilities)
    place = np.minimum(((confidence - 0.5) * 2 * _ECE_BINS).astype(np.int64), _ECE_BINS - 1)
    return confidence, place


def negative_log_likelihood(
    probabilities: NDArray[np.float64], outcomes: NDArray[np.float64]
) -> float:
    """Nats per pair; ln 2 if every prediction is 0.5."""
    chosen = np.where(outcomes > 0.5, probabilities, 1.0 - probabilities)
    return float(-np.log(np.clip(chosen, 1e-12, 1.0)).mean())


def even_weights(episodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """`[N]`: weight of each segment, in (0, 1].

    A very long episode counts as at most three of median length; it would dominate otherwise.
    """
    _, numbered, sizes = np.unique(episodes, return_inverse=True, return_counts=True)
    most = _MAX_EPISODE_SIZE * float(np.median(sizes))
    weights: NDArray[np.float64] = np.minimum(1.0, most / sizes)[numbered]
    return weights


def _correct(statistics: NDArray[np.float64], decided: Sequence[Preference]) -> NDArray[np.float64]:
    difference = np.array([statistics[item.a] - statistics[item.b] for item in decided])
    wanted = np.array([item.margin for item in decided])
    correct: NDArray[np.float64] = (np.sign(difference * wanted) + 1.0) / 2.0
    return correct


def _interval(
    values: NDArray[np.float64],
    side: Side,
    confidence: float,
    seed: int,
    *,
    possible: tuple[float, float],
) -> Gain:
    """Mean of `[P]` values of the decided pairs and its interval over episodes."""
    ends = np.array([(item.a, item.b) for item in side.decided], np.int64)
    episodes = side.episode_numbers
    weight = even_weights(episodes)[ends].prod(axis=1)
    value = float(values @ weight / weight.sum())
    count = len(np.unique(episodes[ends]))
    lowest, highest = possible
    if count < _MIN_EPISODES:
        return Gain(value, lowest, highest)
    # Every call draws the same resamples.
    rng = np.random.default_rng([seed, BOOTSTRAP_STREAM])
    resampled = _resampled_means(values, weight, episodes[ends], rng)
    ends_of_interval = np.quantile(resampled, [1.0 - confidence, confidence])
    # Small-sample correction: a bootstrap knows neither n - 1 nor Student's tails.
    low, high = value + (ends_of_interval - value) * math.sqrt(count / (count - 2))
    return Gain(value, max(lowest, float(low)), min(highest, float(high)))


def _resampled_means(
    values: NDArray[np.float64],
    weight: NDArray[np.float64],
    ends: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """`[_RESAMPLES]` weighted means over pairs whose episodes are `ends`, `[P, 2]`.

    Pairs are summed by their episodes first, so the time does not grow with their number.
    """
    _, numbered = np.unique(ends, return_inverse=True)
    one, other = numbered.reshape(ends.shape).T
    count = int(numbered.max()) + 1
    drawn = rng.exponential(size=(_RESAMPLES, count))
    flat = one * count + other

    def summed(of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        table = np.bincount(flat, of_pairs, count * count).reshape(count, count)
        inside = np.diag(table).copy()
        np.fill_diagonal(table, 0.0)
        between: NDArray[np.float64] = ((drawn @ table) * drawn).sum(axis=1) + drawn @ inside
        return between

    means: NDArray[np.float64] = summed(values * weight) / summed(weight)
    return means
