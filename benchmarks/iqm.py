"""Interquartile means with bootstrap intervals, for figures of a few seeds.

Agarwal et al. 2021, "Deep Reinforcement Learning at the Edge of the Statistical Precipice"
(arXiv:2108.13264): with few runs a mean follows its outlier and a median wastes most of them.
"""

from collections.abc import Callable, Sequence
from operator import sub, truediv
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.trainer.evaluation.result import iqm

RESAMPLES = 10_000

Float64 = npt.NDArray[np.float64]


class Interval(NamedTuple):
    """A figure with its interval over seeds and episodes."""

    value: float
    low: float
    high: float


def interval(
    seeds: Sequence[Sequence[float]],
    figure: Callable[[Float64], float] = iqm,
    *,
    resamples: int = RESAMPLES,
) -> Interval:
    """Return the figure of the seeds' means with its 95 % percentile bootstrap interval.

    Both sources of variance are resampled: seeds with replacement, and the episodes of each drawn
    seed with replacement. With fewer than about 5 seeds such intervals are too narrow.

    Args:
        seeds: The episodes' scores of each seed, at least one each.
        figure: Maps the seeds' means, `[S] float64`, to one number.
        resamples: Number of bootstrap resamples.
    """
    scores = [np.asarray(each, dtype=np.float64) for each in seeds]
    rng = np.random.default_rng(0)  # equal figures give equal intervals
    drawn = np.empty(resamples)
    for n in range(resamples):
        chosen = rng.integers(len(scores), size=len(scores))
        drawn[n] = figure(
            np.array([rng.choice(scores[each], len(scores[each])).mean() for each in chosen])
        )
    low, high = np.quantile(drawn, [0.025, 0.975])
    value = figure(np.array([each.mean() for each in scores]))
    return Interval(value, float(low), float(high))


def paired_ratio(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES
) -> Interval:
    """Interquartile mean of `first` over that of `second`, with its bootstrap interval of 95 %.

    Both have one value per seed or world, in the same order; pairs are resampled together.
    """
    return _paired(first, second, truediv, resamples)


def paired_difference(
    first: Sequence[float], second: Sequence[float], *, resamples: int = RESAMPLES
) -> Interval:
    """As `paired_ratio`, for the difference of the interquartile means."""
    return _paired(first, second, sub, resamples)


def _paired(
    first: Sequence[float],
    second: Sequence[float],
    compare: Callable[[float, float], float],
    resamples: int,
) -> Interval:
    pairs = np.array([first, second], dtype=np.float64)
    rng = np.random.default_rng(0)
    drawn = [
        compare(*map(iqm, pairs[:, rng.integers(pairs.shape[1], size=pairs.shape[1])]))
        for _ in range(resamples)
    ]
    low, high = np.quantile(drawn, [0.025, 0.975])
    return Interval(compare(*map(iqm, pairs)), float(low), float(high))
