"""Share of the decided pairs whose order only judges decide.

The game's RAM gives levels per criterion (`LabelledSegment.ram`), weighted here as in the rubric.
Where it ranks one segment clearly above the other and the judges agree, a counter would have been
enough. Where it is undecided, unknown or contradicts, only the judges decide.
"""

from collections.abc import Sequence
from itertools import chain

import numpy as np

from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import Preference

COUNTERS_TIE_BAND = 0.05
"""Difference of the RAM's rubric means below which it is a tie; half of the lowest weight."""

_ROUNDING = 1e-9

Pairs = tuple[Sequence[LabelledSegment], Sequence[Preference]]
"""Segments, and decided pairs of their indices."""


def judged_share(*sides: Pairs) -> float | None:
    """Share in [0, 1] of the decided pairs that the RAM's counters do not order; None without."""
    judged = [_judged(segments, pairs) for segments, pairs in sides]
    every = list(chain.from_iterable(judged))
    return float(np.mean(every)) if every else None


def counters_margin(a: LabelledSegment, b: LabelledSegment) -> float | None:
    """RAM's rubric mean of A minus that of B, in [-1, 1], over the criteria known in both.

    None without such a criterion.
    """
    common = [name for name in RUBRIC_WEIGHTS if name in a.ram and name in b.ram]
    if not common:
        return None
    total = sum(RUBRIC_WEIGHTS[name] for name in common)
    # Levels 0, 1, 2 are the values 0, 0.5, 1.
    return sum(RUBRIC_WEIGHTS[name] * (a.ram[name] - b.ram[name]) / 2 for name in common) / total


def _judged(segments: Sequence[LabelledSegment], decided: Sequence[Preference]) -> list[bool]:
    found = []
    for item in decided:
        counted = counters_margin(segments[item.a], segments[item.b])
        clear = counted is not None and abs(counted) >= COUNTERS_TIE_BAND - _ROUNDING
        found.append(not (clear and counted is not None and (counted > 0) == (item.margin > 0)))
    return found
