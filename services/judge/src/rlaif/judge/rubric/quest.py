"""Votes on where the player stands on the quest, and what they come to.

A vote says for the start and for the end of a segment which numbered objective of the guide is next
and how far it is. What is counted is both objectives; the distances are averaged, because nobody
counts half screens without being off by one.
"""

import math
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from statistics import fmean, variance

from rlaif.contracts.quest import FARTHEST, QuestProgress, Standing, level_of_rise
from rlaif.contracts.scores import CriterionScore
from rlaif.judge.rubric.votes import NoVote, too_few_votes

DISTANCES = tuple(range(FARTHEST + 1))
"""What a judge may answer for a distance, in half screens."""

_SOFT_RISE = 0.2
"""Rise at which the soft label is near its end: about four half screens, or a quarter of an
objective."""


@dataclass(frozen=True)
class QuestVote:
    """Where one vote has the player at the start and at the end of a segment."""

    start: Standing
    end: Standing

    @property
    def objectives(self) -> tuple[int, int]:
        """Numbers of the objectives at the start and at the end."""
        return self.start.objective, self.end.objective

    @property
    def rise(self) -> float:
        """How far the player came, in objectives."""
        return self.end.position - self.start.position

    @property
    def level(self) -> int:
        """The rubric's level of the rise."""
        return level_of_rise(self.rise)

    @property
    def gist(self) -> tuple[int, int, int]:
        """What two votes must have in common to agree: objectives, and closer or away."""
        return *self.objectives, self.level


def tally_quest(
    ballots: Sequence[QuestVote | NoVote], *, judge: str, objectives: int
) -> QuestProgress | NoVote:
    """Aggregate the ballots on one segment, one for each vote that was asked for.

    `objectives` is how many the guide has. There is no progress when too few ballots are votes, as
    for any criterion, or when no pair of objectives (at the start, at the end) has more than half
    of them (`split_votes`). Distances are means over the votes of the majority; the doubt is the
    variance of their mean rise, 0 for a single vote, which tells nothing of it.
    """
    votes = [ballot for ballot in ballots if isinstance(ballot, QuestVote)]
    if reason := too_few_votes(ballots):
        return reason
    (start, end), times = Counter(vote.objectives for vote in votes).most_common(1)[0]
    if 2 * times <= len(votes):
        return NoVote.SPLIT
    major = [vote for vote in votes if vote.objectives == (start, end)]
    return QuestProgress(
        start=Standing(objective=start, distance=fmean(v.start.distance for v in major)),
        end=Standing(objective=end, distance=fmean(v.end.distance for v in major)),
        objectives=objectives,
        votes=len(votes),
        agreement=times / len(votes),
        doubt=variance(vote.rise for vote in major) / times if times > 1 else 0.0,
        judge=judge,
    )


def progress_score(quest: QuestProgress, ballots: Sequence[QuestVote | NoVote]) -> CriterionScore:
    """The rubric's progress of a quest: the level of its rise, and how strong the rise is."""
    levels = tuple(ballot.level for ballot in ballots if isinstance(ballot, QuestVote))
    level = level_of_rise(quest.rise)
    return CriterionScore(
        value=level / 2,
        votes=levels,
        agreement=levels.count(level) / len(levels),
        judge=quest.judge,
        soft=0.5 + 0.5 * math.tanh(quest.rise / _SOFT_RISE),
    )
