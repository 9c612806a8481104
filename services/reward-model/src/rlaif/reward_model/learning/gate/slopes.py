"""Slope of the reward on true progress, by stage of the quest.

Accuracies depend on the order of segments only: a model that ranks well may reward an objective
with a ninth of its worth. The slope is that of the least-squares line through 0 of the cross-fitted
reward over the rise of the judges' positions; 1 is the documented worth.
"""

from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from rlaif.contracts.judging.quest import SAME_PLACE
from rlaif.contracts.reward_models import Slope
from rlaif.reward_model.learning.fit.sides import BOOTSTRAP_STREAM
from rlaif.reward_model.learning.gate.folds import CrossFit
from rlaif.reward_model.learning.settings import CONFIDENCE

_STAGES = ("early", "middle", "late")
_RESAMPLES = 1000

Floats = NDArray[np.float64]


def slopes(folds: CrossFit, *, seed: int) -> tuple[Slope, ...]:
    """Slopes of segments that reach an objective, and of those that move towards or away from one.

    Stages are thirds of the range of the labels. Empty without positions.
    """
    unknown = (np.nan, np.nan)
    positions = np.array([item.positions or unknown for item in folds.side.segments])
    known = np.isfinite(positions).all(axis=1)
    if not known.any():
        return ()
    start, end = positions.T
    rise = end - start
    reached = known & (np.floor(end) > np.floor(start))
    walked = known & (np.floor(end) == np.floor(start)) & (np.abs(rise) >= SAME_PLACE)
    stage = np.minimum(3.0 * start // max(1e-9, float(end[known].max())), 2.0)

    def found() -> Iterator[Slope]:
        for number, name in enumerate(_STAGES):
            for kind, chosen in (("reached", reached), ("walked", walked)):
                at = np.flatnonzero(chosen & (stage == number))
                if len(at):
                    episodes = folds.side.episode_numbers[at]
                    fit = _through_zero(rise[at], folds.statistics[at], episodes, seed)
                    yield Slope(stage=name, kind=kind, value=fit[0], high=fit[1], segments=len(at))

    return tuple(found())


def _through_zero(
    rise: Floats, reward: Floats, episodes: NDArray[np.int64], seed: int
) -> tuple[float, float]:
    """The slope and the upper end of its interval by a Bayesian bootstrap over episodes."""
    _, own = np.unique(episodes, return_inverse=True)
    rng = np.random.default_rng([seed, BOOTSTRAP_STREAM])
    weights = rng.exponential(size=(_RESAMPLES, own.max() + 1))[:, own]
    drawn = (weights @ (rise * reward)) / (weights @ np.square(rise))
    value = float(rise @ reward / (rise @ rise))
    return value, max(value, float(np.quantile(drawn, CONFIDENCE)))
