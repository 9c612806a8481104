"""Aggregation of votes: levels of a criterion, and positions on the quest.

A vote on the quest gives, for the start and the end of a segment, the next objective of the guide
and the distance to it. The pair of objectives needs a majority; distances are averaged, because
they are rarely exact.
"""

import math
from collections import Counter
from collections.abc import Hashable, Sequence
from dataclasses import dataclass
from enum import StrEnum
from statistics import fmean, variance
from typing import Literal, get_args

from rlaif.contracts.judging.quest import FARTHEST, QuestPosition, QuestProgress, level_of_rise
from rlaif.contracts.judging.scores import CriterionScore

RAM = "ram"
"""Name of the judge in computed scores."""

DISTANCES = tuple(range(FARTHEST + 1))
"""Allowed distances, in half screens."""

_SOFT_RISE = 0.2
"""Rise at which the soft label saturates: about four half screens, or a quarter of an
objective."""


class NoVote(StrEnum):
    """Reason why a ballot has no level; the most frequent one is that of the abstention."""

    ROUTE_REFUSED = "route_refused"
    ROUTE_BLIND = "route_blind"
    ROUTE_UNREADABLE = "route_unreadable"
    ROUTE_DOWN = "route_down"
    REQUEST_FAILED = "request_failed"
    INVALID = "invalid_answers"
    CUT_OFF = "answers_cut_off"
    OVER_BUDGET = "prompt_too_long"
    DISTRUSTED = "canaries_failed"
    SPLIT = "split_votes"
    INSUFFICIENT = "insufficient_evidence"


Computed = Literal["novelty", "efficiency", "absence"]
"""Values that may be computed instead of judged.

`novelty` and `efficiency` are whole criteria. `absence` decides dialog and puzzle without any.
"""

COMPUTED: tuple[Computed, ...] = get_args(Computed)

Ballot = int | NoVote
"""One vote on one criterion: a level from 0 to 2, or the reason for none."""


def tally(ballots: Sequence[Ballot], *, judge: str) -> CriterionScore | NoVote:
    """Aggregate the ballots of one criterion, one for each requested vote.

    The score is half the majority level, with the mean as soft label. There is none if fewer than
    two ballots have a level (one, if only one is cast), or if no level has more than half of the
    valid votes (`split_votes`). The most frequent reason is returned; on a tie, a technical one.
    """
    levels = [ballot for ballot in ballots if not isinstance(ballot, NoVote)]
    if reason := too_few_votes(ballots):
        return reason
    level, times = Counter(levels).most_common(1)[0]
    if 2 * times <= len(levels):
        return NoVote.SPLIT
    return CriterionScore(
        value=level / 2,
        votes=tuple(levels),
        agreement=times / len(levels),
        judge=judge,
        soft=fmean(levels) / 2,
    )


def too_few_votes(ballots: Sequence[Hashable]) -> NoVote | None:
    """The most frequent reason if fewer than two ballots are votes; None if there are enough."""
    reasons = Counter(ballot for ballot in ballots if isinstance(ballot, NoVote))
    if len(ballots) - reasons.total() >= max(1, min(2, len(ballots))):
        return None
    return max(NoVote, key=lambda reason: reasons[reason])


def certain(level: int) -> CriterionScore:
    """The score of a criterion decided by RAM."""
    value = level / 2
    return CriterionScore(
        value=value, votes=(level,), agreement=1.0, judge=RAM, source="computed", soft=value
    )


@dataclass(frozen=True)
class QuestVote:
    """Positions at the start and the end of a segment in one vote."""

    start: QuestPosition
    end: QuestPosition

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
        start=QuestPosition(objective=start, distance=fmean(v.start.distance for v in major)),
        end=QuestPosition(objective=end, distance=fmean(v.end.distance for v in major)),
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
