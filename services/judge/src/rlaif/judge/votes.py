"""From ballots to one score a criterion, or to an abstention with its reason."""

from collections import Counter
from collections.abc import Sequence
from enum import StrEnum
from statistics import median

from rlaif.contracts.scores import CriterionScore


class NoVote(StrEnum):
    """Why a ballot carries no level; the commonest one becomes the reason of an abstention."""

    UNAVAILABLE = "unavailable"
    INVALID = "invalid_answers"
    INSUFFICIENT = "insufficient_evidence"


Ballot = int | NoVote
"""One vote on one criterion: a level 0 to 2, or why there is none."""


def least_valid(votes: int) -> int:
    """How many valid votes a score needs: two, or one when only one is cast."""
    return min(2, votes)


def tally(ballots: Sequence[Ballot], *, judge: str) -> CriterionScore | NoVote:
    """Aggregate the ballots of one criterion.

    Args:
        ballots: One for each vote that was asked for.
        judge: Name of the judge that voted.

    Returns:
        The score: half the median of the valid votes, in [0, 1]. Or the reason for none: fewer than
        `least_valid` of the ballots carry a level. The commonest reason wins, and a technical one
        wins a tie, because somebody should look at it.
    """
    levels = [ballot for ballot in ballots if not isinstance(ballot, NoVote)]
    if len(levels) < least_valid(len(ballots)) or not levels:
        reasons = Counter(ballot for ballot in ballots if isinstance(ballot, NoVote))
        return max(NoVote, key=lambda reason: reasons[reason])
    commonest = Counter(levels).most_common(1)[0][1]
    return CriterionScore(
        value=median(levels) / 2,
        votes=tuple(levels),
        agreement=commonest / len(levels),
        judge=judge,
    )
