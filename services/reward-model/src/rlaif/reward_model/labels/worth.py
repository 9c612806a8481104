"""What a segment is worth: a score in, the values that are learned out.

Learned is what judges alone can say: how far the player came on the quest, whether a text helped,
whether a puzzle gave way. What the game's RAM counts by itself (novelty, efficiency) is part of the
seeds' rubric and of the score, and is not learned: the trainer pays for it directly, and a label
that a counter could give is no feedback of a judge.

Progress outweighs the rest, because it is what a potential can pay: its rise. A text or a puzzle
alone differs by 0.04, which is a tie; it turns what is nearly one.
"""

import math
from collections.abc import Mapping
from dataclasses import dataclass, field
from statistics import variance
from typing import Protocol

from rlaif.contracts.quest import QuestProgress
from rlaif.contracts.scores import CriterionScore

WORTH_WEIGHTS: dict[str, float] = {"progress": 0.84, "dialog": 0.08, "puzzle": 0.08}
"""Criterion → its weight in the worth; they sum to 1."""

_FULL_RISE = 0.3
"""Rise in objectives whose value is 0.88; one half screen, 0.045, is 0.57 and none is 0.5."""

_NEUTRAL = 0.5
_ABSENT = "insufficient_evidence"
"""Why a criterion has no score when there was no text, or no puzzle: nothing gained or lost."""


class Judged(Protocol):
    """The part of a score that is read."""

    @property
    def criteria(self) -> Mapping[str, CriterionScore]:
        """Criterion → what was said."""
        ...

    @property
    def abstentions(self) -> Mapping[str, str]:
        """Criterion → why nothing was said."""
        ...

    @property
    def quest(self) -> QuestProgress | None:
        """Where the segment started and ended."""
        ...


@dataclass(frozen=True)
class Worth:
    """What is learned of one segment.

    Attributes:
        values: Criterion → value in [0, 1]; 0.5 is neither gain nor loss. Missing is unknown.
        doubts: Criterion → variance of the value.
        positions: Where the judges put start and end on the quest; None where they did not.
    """

    values: dict[str, float]
    doubts: dict[str, float] = field(default_factory=dict)
    positions: tuple[float, float] | None = None


def worth_of(score: Judged) -> Worth:
    """The worth of a segment by what judges, or a person, said of it; never by what was computed.

    Without a quest answer (a person's word, a game without a guide) the level of progress counts.
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
    spoke = judged.get("progress")
    if quest is None or spoke is None or spoke.source == "human":
        return Worth(values, doubts)
    values["progress"] = value_of_rise(quest.rise)
    # By the slope of the value where it is steepest: no less than the true variance.
    doubts["progress"] = quest.doubt * (0.5 / _FULL_RISE) ** 2
    return Worth(values, doubts, (quest.start.position, quest.end.position))


def value_of_rise(rise: float) -> float:
    """The value in [0, 1] of a rise in objectives; 0.5 for none."""
    return 0.5 + 0.5 * math.tanh(rise / _FULL_RISE)


def _soft(score: CriterionScore) -> float:
    """The mean vote; the majority where the score has none."""
    return score.value if score.soft is None else score.soft


def _doubt(score: CriterionScore) -> float:
    """Variance of the mean vote, in units of the value; votes are twice the value."""
    votes = score.votes
    return variance(votes) / len(votes) / 4.0 if len(votes) > 1 else 0.0
