"""Labels and pairs in, a share out: how much of what is learned only judges can say.

The game's RAM has an opinion of its own: its levels (`LabelledSegment.ram`), weighted as the seeds'
rubric weighs them. Where it puts one segment of a pair clearly above the other, and the judges
agree, a counter would have done, and the judges added nothing. Where it sees a tie, knows too
little or says the opposite, the pair is decided by judges alone.
"""

from collections.abc import Sequence

import numpy as np

from rlaif.contracts.scores import RUBRIC_WEIGHTS
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import Preference

COUNTERS_TIE_BAND = 0.05
"""Difference of the RAM's rubric means below which its counters see a tie; the least that one
criterion can differ by is half of the lowest weight, 0.05."""

_ROUNDING = 1e-9


def judged_share(
    segments: Sequence[LabelledSegment],
    preferences: Sequence[Preference],
    *,
    tie_band: float = COUNTERS_TIE_BAND,
) -> float | None:
    """Share of the decided pairs whose order does not follow from the RAM's counters alone.

    In [0, 1]; None without decided pairs. Indices of the pairs point into `segments`. Every decided
    pair counts once: weights are the fit's, and this says what the labels hold.
    """
    decided = [item for item in preferences if item.decided]
    if not decided:
        return None
    judged = [
        not _follows(counters_margin(segments[item.a], segments[item.b]), item.margin, tie_band)
        for item in decided
    ]
    return float(np.mean(judged))


def counters_margin(a: LabelledSegment, b: LabelledSegment) -> float | None:
    """RAM's rubric mean of A less that of B, in [-1, 1], over the criteria that it decides in both.

    None where there is no such criterion.
    """
    common = [name for name in RUBRIC_WEIGHTS if name in a.ram and name in b.ram]
    if not common:
        return None
    total = sum(RUBRIC_WEIGHTS[name] for name in common)
    # Levels 0, 1, 2 are the values 0, 0.5, 1.
    return sum(RUBRIC_WEIGHTS[name] * (a.ram[name] - b.ram[name]) / 2 for name in common) / total


def _follows(by_counters: float | None, by_judges: float, tie_band: float) -> bool:
    if by_counters is None or abs(by_counters) < tie_band - _ROUNDING:
        return False
    return (by_counters > 0) == (by_judges > 0)
