"""Measures a potential on preferences: how often it ranks a pair as the judges did, how sure.

Pairs share segments, and the segments of one episode are alike: one start, one policy, one mood of
the judge. So neither says how sure a figure is. Whole episodes are drawn again, and a pair counts
by the draws of both of its episodes.
"""

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.preferences import Preference

Potential = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""`[B, inputs]` float32 in, `[B]` float32 out."""

_ECE_BINS = 10
_RESAMPLES = 1000
_MOST_OF_AN_EPISODE = 3.0

_LEAST_EPISODES = 4
"""Episodes below which nothing is sure."""


@dataclass(frozen=True)
class Accuracy:
    """How often decided pairs are ranked as the judges did.

    Attributes:
        value: Share in [0, 1]; equal answers count one half. None without decided pairs.
        low: Lower end of the one-sided interval; None without decided pairs.
        high: Upper end of the one-sided interval; None without decided pairs.
        pairs: Decided pairs.
    """

    value: float | None
    low: float | None
    high: float | None
    pairs: int


NOT_MEASURED = Accuracy(None, None, None, 0)


@dataclass(frozen=True)
class Gain:
    """A difference of two accuracies on the same pairs, in [-1, 1], with its one-sided ends."""

    value: float
    low: float
    high: float


def measure(
    statistics: NDArray[np.float64],
    preferences: Sequence[Preference],
    episodes: NDArray[np.int64],
    *,
    confidence: float,
    rng: np.random.Generator,
) -> Accuracy:
    """Accuracy of `[N]` statistics on the decided pairs, with a bootstrap interval.

    `episodes`, `[N]`, is the number of each segment's episode. `confidence` is one-sided: the share
    of resamples above `low`, and below `high`.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return NOT_MEASURED
    correct = _correct(statistics, decided)
    found = _interval(correct, decided, episodes, confidence, rng, possible=(0.0, 1.0))
    return Accuracy(found.value, found.low, found.high, len(decided))


def measure_gain(
    statistics: NDArray[np.float64],
    others: NDArray[np.float64],
    preferences: Sequence[Preference],
    episodes: NDArray[np.int64],
    *,
    confidence: float,
    rng: np.random.Generator,
) -> Gain | None:
    """How much more accurate `statistics` are than `others`, both `[N]`, on the same pairs.

    With the one-sided bootstrap interval of the difference: `low` above 0 means surely better,
    `high` below 0 surely worse. None without decided pairs.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return None
    gains = _correct(statistics, decided) - _correct(others, decided)
    return _interval(gains, decided, episodes, confidence, rng, possible=(-1.0, 1.0))


def differences(
    statistics: NDArray[np.float64], preferences: Sequence[Preference]
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """(difference of the statistic, 1 where A is better else 0) of each decided pair, `[P]` each.

    Statistics that are NaN give NaN differences.
    """
    decided = [item for item in preferences if item.decided]
    found = np.array([statistics[item.a] - statistics[item.b] for item in decided], np.float64)
    wanted = np.array([float(item.margin > 0) for item in decided], np.float64)
    return found, wanted


def expected_calibration_error(
    probabilities: NDArray[np.float64], outcomes: NDArray[np.float64]
) -> float:
    """Mean distance between how sure the predictions are and how often they are right.

    A pair is looked at from the side that is predicted to be better, because which of the two is
    called A means nothing: confidences lie in [0.5, 1], in bins of equal width that count by their
    pairs. Outcomes are 1 where A is better, else 0; there is at least one.
    """
    confidence, place = calibration_bins(probabilities)
    right = np.where(probabilities >= 0.5, outcomes, 1.0 - outcomes)
    gap = np.bincount(place, confidence - right, _ECE_BINS)
    return float(np.abs(gap).sum() / len(probabilities))


def calibration_bins(
    probabilities: NDArray[np.float64],
) -> tuple[NDArray[np.float64], NDArray[np.int64]]:
    """(probability of the side taken for better, number of its bin), `[P]` each."""
    confidence = np.maximum(probabilities, 1.0 - probabilities)
    place = np.minimum(((confidence - 0.5) * 2 * _ECE_BINS).astype(np.int64), _ECE_BINS - 1)
    return confidence, place


def negative_log_likelihood(
    probabilities: NDArray[np.float64], outcomes: NDArray[np.float64]
) -> float:
    """Nats a pair; ln 2 when every prediction is 0.5."""
    chosen = np.where(outcomes > 0.5, probabilities, 1.0 - probabilities)
    return float(-np.log(np.clip(chosen, 1e-12, 1.0)).mean())


def rank_correlation(first: NDArray[np.float32], second: NDArray[np.float32]) -> float | None:
    """Spearman's correlation of two `[N]` arrays; None when one of them is constant."""
    if len(first) < 2:
        return None
    one, other = _ranks(first), _ranks(second)
    if one.std() == 0 or other.std() == 0:
        return None
    return float(np.clip(np.corrcoef(one, other)[0, 1], -1.0, 1.0))


def _ranks(values: NDArray[np.float32]) -> NDArray[np.float64]:
    """Ranks; equal values share the mean of theirs."""
    _, place, counts = np.unique(values, return_inverse=True, return_counts=True)
    last = np.cumsum(counts)
    ranks: NDArray[np.float64] = (last - (counts - 1) / 2.0)[place]
    return ranks


def _correct(statistics: NDArray[np.float64], decided: Sequence[Preference]) -> NDArray[np.float64]:
    difference = np.array([statistics[item.a] - statistics[item.b] for item in decided])
    wanted = np.array([item.margin for item in decided])
    correct: NDArray[np.float64] = (np.sign(difference * wanted) + 1.0) / 2.0
    return correct


def _interval(
    values: NDArray[np.float64],
    decided: Sequence[Preference],
    episodes: NDArray[np.int64],
    confidence: float,
    rng: np.random.Generator,
    *,
    possible: tuple[float, float],
) -> Gain:
    """Mean of `[P]` values of pairs in the `possible` range, and its interval over episodes."""
    ends = np.array([(item.a, item.b) for item in decided], np.int64)
    weight = even_weights(episodes)[ends].prod(axis=1)
    value = float(values @ weight / weight.sum())
    count = len(np.unique(episodes[ends]))
    lowest, highest = possible
    if count < _LEAST_EPISODES:
        return Gain(value, lowest, highest)
    resampled = _resampled_means(values, weight, episodes[ends], rng)
    ends_of_interval = np.quantile(resampled, [1.0 - confidence, confidence])
    # A bootstrap of few is too narrow: it knows neither n - 1 nor Student's tails.
    low, high = value + (ends_of_interval - value) * math.sqrt(count / (count - 2))
    return Gain(value, max(lowest, float(low)), min(highest, float(high)))


def even_weights(episodes: NDArray[np.int64]) -> NDArray[np.float64]:
    """`[N]`: how much a segment counts, in (0, 1], by the `[N]` numbers of their episodes.

    An episode counts as at most `_MOST_OF_AN_EPISODE` usual ones: one that is stuffed with
    segments, an agent that never dies, would otherwise be the whole measurement.
    """
    _, numbered, sizes = np.unique(episodes, return_inverse=True, return_counts=True)
    most = _MOST_OF_AN_EPISODE * float(np.median(sizes))
    weights: NDArray[np.float64] = np.minimum(1.0, most / sizes)[numbered]
    return weights


def _resampled_means(
    values: NDArray[np.float64],
    weight: NDArray[np.float64],
    ends: NDArray[np.int64],
    rng: np.random.Generator,
) -> NDArray[np.float64]:
    """`[_RESAMPLES]` weighted means over pairs whose episodes are `ends`, `[P, 2]`.

    Bayesian bootstrap (Rubin 1981): every episode has a weight from the exponential distribution,
    so that no resample is empty, however few episodes there are. A pair of two episodes counts by
    the product, a pair inside one by its weight. Pairs are summed by their episodes first, so the
    time does not grow with their number.
    """
    _, numbered = np.unique(ends, return_inverse=True)
    one, other = numbered.reshape(ends.shape).T
    count = int(numbered.max()) + 1
    drawn = rng.exponential(size=(_RESAMPLES, count))
    flat = one * count + other

    def summed(of_pairs: NDArray[np.float64]) -> NDArray[np.float64]:
        """`[_RESAMPLES]` weighted sums."""
        table = np.bincount(flat, of_pairs, count * count).reshape(count, count)
        inside = np.diag(table).copy()
        np.fill_diagonal(table, 0.0)
        between: NDArray[np.float64] = ((drawn @ table) * drawn).sum(axis=1) + drawn @ inside
        return between

    means: NDArray[np.float64] = summed(values * weight) / summed(weight)
    return means
