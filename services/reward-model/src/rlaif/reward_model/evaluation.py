"""Measures a potential on preferences: how often it ranks a pair as the judges did.

Pairs share segments, so the number of pairs says little; uncertainty is taken over segments.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.preferences import Preference

Potential = Callable[[NDArray[np.float32]], NDArray[np.float32]]
"""`[B, inputs]` float32 in, `[B]` float32 out."""

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


def segment_statistics(
    potential: Potential, rows: NDArray[np.float32], weights: NDArray[np.float32]
) -> NDArray[np.float64]:
    """The compared number of each segment under a potential.

    Args:
        potential: The potential.
        rows: `[N, R, inputs]` float32.
        weights: `[R]` float32.

    Returns:
        `[N]` float64.
    """
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
    """Accuracy on the decided pairs, with a bootstrap interval.

    Args:
        statistics: `[N]` float64, the compared number of each segment.
        preferences: Pairs; indices point into `statistics`.
        confidence: One-sided: the share of resamples above `low`, and below `high`.
        rng: Draws the resamples.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return Accuracy(None, None, None, 0)
    correct = _correct(statistics, decided)
    resampled = _resampled_means(correct, _ends(decided), rng)
    low, high = np.quantile(resampled, [1.0 - confidence, confidence])
    return Accuracy(float(correct.mean()), float(low), float(high), len(decided))


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
