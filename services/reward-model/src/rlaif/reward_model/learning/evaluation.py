"""Measures a potential on preferences: how often it ranks a pair as the judges did, how sure.

Pairs share segments, so the number of pairs says little; uncertainty is taken over segments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.labels.preferences import Preference

Potential = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""`[B, inputs]` float32 in, `[B]` float32 out."""

_ECE_BINS = 10
_RESAMPLES = 1000


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


def segment_statistics(
    potential: Potential, rows: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float64]:
    """`[N]`: the compared number of each segment; rows `[N, R, inputs]`, weights `[R]`."""
    count, kept, inputs = rows.shape
    values = potential(rows.reshape(count * kept, inputs)).reshape(count, kept)
    statistics: NDArray[np.float64] = values.astype(np.float64) @ weights.astype(np.float64)
    return statistics


def measure(
    statistics: NDArray[np.float64],
    preferences: Sequence[Preference],
    *,
    confidence: float,
    rng: np.random.Generator,
) -> Accuracy:
    """Accuracy of `[N]` statistics on the decided pairs, with a bootstrap interval.

    `confidence` is one-sided: the share of resamples above `low`, and below `high`.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return NOT_MEASURED
    correct = _correct(statistics, decided)
    resampled = _resampled_means(correct, _ends(decided), rng)
    low, high = np.quantile(resampled, [1.0 - confidence, confidence])
    return Accuracy(float(correct.mean()), float(low), float(high), len(decided))


def highest_gain(
    statistics: NDArray[np.float64],
    others: NDArray[np.float64],
    preferences: Sequence[Preference],
    *,
    confidence: float,
    rng: np.random.Generator,
) -> float | None:
    """How much more accurate `statistics` may be than `others`, both `[N]`, on the same pairs.

    The upper end of the one-sided bootstrap interval of the difference, in [-1, 1]: below 0 the
    first are surely worse. None without decided pairs.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return None
    gains = _correct(statistics, decided) - _correct(others, decided)
    resampled = _resampled_means(gains, _ends(decided), rng)
    return float(np.quantile(resampled, confidence))


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
    first = probabilities >= 0.5
    confidence = np.where(first, probabilities, 1.0 - probabilities)
    right = np.where(first, outcomes, 1.0 - outcomes)
    place = np.minimum(((confidence - 0.5) * 2 * _ECE_BINS).astype(np.int64), _ECE_BINS - 1)
    gap = np.bincount(place, confidence - right, _ECE_BINS)
    return float(np.abs(gap).sum() / len(probabilities))


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


def _ends(decided: Sequence[Preference]) -> NDArray[np.int64]:
    """`[P, 2]` int64: the segments of each pair, numbered from 0 without gaps."""
    ends = np.array([(item.a, item.b) for item in decided], np.int64)
    _, numbered = np.unique(ends, return_inverse=True)
    return numbered.reshape(ends.shape)


def _resampled_means(
    correct: NDArray[np.float64], ends: NDArray[np.int64], rng: np.random.Generator
) -> NDArray[np.float64]:
    """`[_RESAMPLES]` means over the pairs, segments drawn with replacement.

    A pair counts as often as both of its segments were drawn together.
    """
    segments = int(ends.max()) + 1
    drawn = rng.multinomial(segments, np.full(segments, 1.0 / segments), size=_RESAMPLES)
    weights = (drawn[:, ends[:, 0]] * drawn[:, ends[:, 1]]).astype(np.float64)
    total = weights.sum(axis=1)
    # A resample without any pair says nothing for the network, and counts against it.
    means: NDArray[np.float64] = np.zeros_like(total)
    np.divide(weights @ correct, total, out=means, where=total > 0)
    return means
