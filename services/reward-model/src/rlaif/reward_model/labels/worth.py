"""The label values of a segment, from its score.

Only criteria that need a judge are learned: progress on the quest, the use of a text, a solved
puzzle. What the game's RAM counts (novelty, efficiency) is part of the rubric and of the score but
not of the label: the trainer rewards it directly.

Progress has most of the weight because a potential can reward its rise. A text or a puzzle alone
differs by 0.04, which is a tie; it decides pairs that are nearly equal.
"""

import math
from dataclasses import dataclass, field
from statistics import variance

from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord

WORTH_WEIGHTS: dict[str, float] = {"progress": 0.84, "dialog": 0.08, "puzzle": 0.08}
"""Criterion → weight in the label value; they sum to 1."""

_FULL_RISE = 0.3
"""Rise in objectives with value 0.88; half a screen, 0.045, gives 0.57, no rise 0.5."""

_NEUTRAL = 0.5
_ABSENT = "insufficient_evidence"
"""Abstention reason of a criterion without a case (no text, no puzzle): neither gain nor loss."""


@dataclass(frozen=True)
class Worth:
    """Label values of one segment.

    Attributes:
        values: Criterion → value in [0, 1]; 0.5 is neither gain nor loss. Missing if unknown.
        doubts: Criterion → variance of the value.
        positions: Start and end on the quest; None if the judges gave none.
    """

    values: dict[str, float]
    doubts: dict[str, float] = field(default_factory=dict)
    positions: tuple[float, float] | None = None


def worth_of(score: ScoreRecord) -> Worth:
    """Values by judges or a person, never computed ones.

    Without a quest answer (a person's score, a game without a guide) the level of progress counts.
    """
    judged = {
        name: found
        for name, found in score.criteria.items()
        if name in WORTH_WEIGHTS and found.source != "computed"
    }
    values = {
        name: found.value if found.soft is None else found.soft for name, found in judged.items()
    }
    doubts = {name: _doubt(found) for name, found in judged.items()}
    for name in WORTH_WEIGHTS.keys() - {"progress"}:
        if score.abstentions.get(name) == _ABSENT:
            values[name], doubts[name] = _NEUTRAL, 0.0
    quest = score.quest
    progress = judged.get("progress")
    if quest is None or progress is None or progress.source == "human":
        return Worth(values, doubts)
    values["progress"] = value_of_rise(quest.rise)
    # Uses the steepest slope, so it is an upper bound.
    doubts["progress"] = quest.doubt * (0.5 / _FULL_RISE) ** 2
    return Worth(values, doubts, (quest.start.position, quest.end.position))


def value_of_rise(rise: float) -> float:
    """Value in [0, 1] of a rise in objectives; 0.5 for none."""
    return 0.5 + 0.5 * math.tanh(rise / _FULL_RISE)


def _doubt(score: CriterionScore) -> float:
    """Variance of the mean vote; votes are twice the value."""
    votes = score.votes
    return variance(votes) / len(votes) / 4.0 if len(votes) > 1 else 0.0
