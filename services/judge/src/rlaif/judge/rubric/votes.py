"""From ballots to one score a criterion, or to an abstention with its reason."""

from collections import Counter
from collections.abc import Hashable, Sequence
from enum import StrEnum
from statistics import fmean
from typing import Literal, get_args

from rlaif.contracts.scores import CriterionScore


class NoVote(StrEnum):
    """Why a ballot carries no level; the commonest one becomes the reason of an abstention."""

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


RAM = "ram"
"""Stands where a judge's name would, when nobody had to be asked."""

Computed = Literal["novelty", "efficiency", "absence"]
"""What may be computed in place of being asked.

`novelty` and `efficiency` are whole criteria. `absence` settles dialog and puzzle when there was
none.
"""

COMPUTED: tuple[Computed, ...] = get_args(Computed)

Ballot = int | NoVote
"""One vote on one criterion: a level 0 to 2, or why there is none."""


def tally(ballots: Sequence[Ballot], *, judge: str) -> CriterionScore | NoVote:
    """Aggregate the ballots of one criterion, one for each vote that was asked for.

    The score is half the majority level, with the mean as soft label and the agreement. There is
    none when fewer than two ballots carry a level (one, when only one is cast), or when no level
    has more than half of the valid votes (`split_votes`). The commonest reason wins, and a
    technical one wins a tie, because somebody should look at it.
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
    """The commonest reason why ballots are no votes, when fewer than two are; None for enough."""
    reasons = Counter(ballot for ballot in ballots if isinstance(ballot, NoVote))
    if len(ballots) - reasons.total() >= max(1, min(2, len(ballots))):
        return None
    return max(NoVote, key=lambda reason: reasons[reason])


def settled(ballots: Sequence[Hashable], votes: int) -> bool:
    """Whether two ballots agree, so that an adaptive vote may stop before `votes` ballots.

    Agreement is on a level, or the gist of a vote, or on `insufficient_evidence`; lost votes settle
    nothing.
    """
    heard = Counter(b for b in ballots if not isinstance(b, NoVote) or b is NoVote.INSUFFICIENT)
    return len(ballots) >= votes or any(times >= 2 for times in heard.values())


def certain(
    level: int, *, judge: str = RAM, source: Literal["computed", "human"] = "computed"
) -> CriterionScore:
    """The score of a criterion that one word settles: the RAM's, or a person's."""
    value = level / 2
    return CriterionScore(
        value=value, votes=(level,), agreement=1.0, judge=judge, source=source, soft=value
    )
