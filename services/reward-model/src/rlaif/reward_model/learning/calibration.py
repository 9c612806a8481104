"""How sure a difference may make one: P(A better) from the difference of two segments.

    P = (1 - lapse) sigmoid(difference / temperature) + lapse / 2

`lapse` is the share of labels that seem to be chance: without it one wrong label among sure ones
would have to be paid for by a temperature that makes all predictions timid. Both are fitted on
pairs of episodes that the predicting network never saw, and not on the held-out side, on which the
result is measured.
"""

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from rlaif.reward_model.learning.evaluation import negative_log_likelihood

_TEMPERATURES = np.geomspace(0.002, 20.0, 81)
_LAPSES = (0.0, 0.02, 0.05, 0.1, 0.15, 0.2, 0.3, 0.4, 0.6, 0.8)


@dataclass(frozen=True)
class Calibration:
    """The two numbers; see the module."""

    temperature: float = 1.0
    lapse: float = 0.0

    def probability(self, difference: NDArray[np.float64]) -> NDArray[np.float64]:
        """P(A better) for differences in logits, `[P]` both."""
        bounded = np.clip(difference / self.temperature, -30.0, 30.0)
        sure: NDArray[np.float64] = 1.0 / (1.0 + np.exp(-bounded))
        return (1.0 - self.lapse) * sure + 0.5 * self.lapse


def calibrate(difference: NDArray[np.float64], outcome: NDArray[np.float64]) -> Calibration:
    """The most likely calibration for `[P]` logits and outcomes (1 where A is better), on a grid.

    The neutral one without pairs.
    """
    if not len(difference):
        return Calibration()
    every = [Calibration(float(t), lapse) for t in _TEMPERATURES for lapse in _LAPSES]
    return min(
        every, key=lambda item: negative_log_likelihood(item.probability(difference), outcome)
    )
