"""Votes on the player's position on the quest, and their aggregation.

A vote gives, for the start and the end of a segment, the next objective of the guide and the
distance to it. The pair of objectives needs a majority; distances are averaged, because they are
rarely exact.
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
"""Allowed distances, in half screens."""

_SOFT_RISE = 0.2
"""Rise at which the soft label saturates: about four half screens, or a quarter of an
objective."""


@dataclass(frozen=True)
class QuestVote:
    """Positions at the start and at the end of a segment, by one vote."""

    start: Standing
    end: Standing

    @property
    def objectives(self) -> tuple[int, int]:
        return self.start.objective, self.end.objective

    @property
    def rise(self) -> float:
        """Progress in objectives."""
        return self.end.position - self.start.position

    @property
    def level(self) -> int:
        return level_of_rise(self.rise)

    @property
    def gist(self) -> tuple[int, int, int]:
        """What two votes must have in common to agree: objectives and level."""
        return *self.objectives, self.level


def tally_quest(
    ballots: Sequence[QuestVote | NoVote], *, judge: str, objectives: int
) -> QuestProgress | NoVote:
    """Aggregate the ballots on one segment, one for each requested vote.

    `objectives` is their number in the guide. There is no result if too few ballots are votes, as
    for any criterion, or if no pair of objectives (start, end) has more than half of them
    (`split_votes`). Distances are means over the votes of the majority; `doubt` is the variance of
    their mean rise, 0 for a single vote.
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
    """The criterion progress: level of the rise, and a soft label by its size."""
    levels = tuple(ballot.level for ballot in ballots if isinstance(ballot, QuestVote))
    level = level_of_rise(quest.rise)
    return CriterionScore(
        value=level / 2,
        votes=levels,
        agreement=levels.count(level) / len(levels),
        judge=quest.judge,
        soft=0.5 + 0.5 * math.tanh(quest.rise / _SOFT_RISE),
    )
