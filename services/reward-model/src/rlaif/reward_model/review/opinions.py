"""Opinions of the raters about a pair: each judge, all judges, the RAM counters.

A judge scored each segment alone; its opinion is the difference of its scores over the criteria
that it judged in both.
"""

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from rlaif.contracts.judging.reviews import PANEL, RAM, SIDE_BY_SIDE, Lean, Opinion
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, ScoreRecord
from rlaif.reward_model.labels.labels import LabelledSegment
from rlaif.reward_model.labels.preferences import (
    COUNTERS_TIE_BAND,
    TIE_BAND,
    PairTable,
    counters_margin,
)
from rlaif.reward_model.labels.worth import value_of_rise

_ROUNDING = 1e-9


def opinions_of_judges(a: ScoreRecord, b: ScoreRecord) -> list[Opinion]:
    """One opinion per judge that voted on either segment, by name."""
    of_a, of_b = _voted_values(a), _voted_values(b)
    return [
        _opinion(judge, of_a.get(judge, {}), of_b.get(judge, {}))
        for judge in sorted(of_a.keys() | of_b.keys())
    ]


def opinions_of_labels(a: LabelledSegment, b: LabelledSegment) -> list[Opinion]:
    """Opinions of all judges together, of side-by-side comparisons, and of the RAM counters."""
    table = PairTable([replace(item, voted={}) for item in (a, b)])
    margin = float(table.compare(np.array([0]), np.array([1])).margin[0])
    known = bool(np.isfinite(margin))
    found = [
        Opinion(
            rater=PANEL,
            says=lean(margin, TIE_BAND) if known else None,
            margin=margin if known else None,
        )
    ]
    share = a.preferred.get(b.segment_id)
    if share is not None:
        shown = 2.0 * share - 1.0
        found.append(Opinion(rater=SIDE_BY_SIDE, says=lean(shown, 0.5), margin=shown))
    counted = counters_margin(a, b)
    if counted is not None:
        found.append(Opinion(rater=RAM, says=lean(counted, COUNTERS_TIE_BAND), margin=counted))
    return found


def lean(margin: float, tie_band: float) -> Lean:
    """The better segment by a margin; equal inside the tie band."""
    if abs(margin) < tie_band - _ROUNDING:
        return "equal"
    return "a" if margin > 0 else "b"


def _opinion(judge: str, a: Mapping[str, float], b: Mapping[str, float]) -> Opinion:
    common = sorted(a.keys() & b.keys())
    total = sum(RUBRIC_WEIGHTS[name] for name in common)
    if total <= 0:
        return Opinion(rater=judge, says=None)
    margin = sum(RUBRIC_WEIGHTS[name] * (a[name] - b[name]) for name in common) / total
    return Opinion(rater=judge, says=lean(margin, TIE_BAND), margin=margin)


def _voted_values(record: ScoreRecord) -> dict[str, dict[str, float]]:
    """Judge → criterion → value in [0, 1], of criteria decided by votes of language models."""
    found: dict[str, dict[str, float]] = {}
    for name, score in record.criteria.items():
        if score.source != "votes" or name not in RUBRIC_WEIGHTS:
            continue
        value = score.value if score.soft is None else score.soft
        if name == "progress" and record.quest is not None:
            value = value_of_rise(record.quest.rise)
        found.setdefault(score.judge, {})[name] = value
    return found
