"""Aggregation of ballots to one score per criterion, or an abstention with its reason."""

from collections import Counter
from collections.abc import Hashable, Sequence
from enum import StrEnum
from statistics import fmean
from typing import Literal, get_args

from rlaif.contracts.scores import CriterionScore


class NoVote(StrEnum):
    """Why a ballot has no level; the most frequent one becomes the reason of the abstention."""

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
"""Name of the judge in computed scores."""

Computed = Literal["novelty", "efficiency", "absence"]
"""What may be computed instead of being judged.

`novelty` and `efficiency` are whole criteria. `absence` decides dialog and puzzle if there is none.
"""

COMPUTED: tuple[Computed, ...] = get_args(Computed)

Ballot = int | NoVote
"""One vote on one criterion: a level from 0 to 2, or why there is none."""


def tally(ballots: Sequence[Ballot], *, judge: str) -> CriterionScore | NoVote:
    """Aggregate the ballots of one criterion, one for each requested vote.

    The score is half the majority level, with the mean as soft label. There is none if fewer than
    two ballots have a level (one, if only one is cast), or if no level has more than half of the
    valid votes (`split_votes`). The most frequent reason counts; on a tie, a technical one.
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
    """The most frequent reason if fewer than two ballots are votes; None for enough votes."""
    reasons = Counter(ballot for ballot in ballots if isinstance(ballot, NoVote))
    if len(ballots) - reasons.total() >= max(1, min(2, len(ballots))):
        return None
    return max(NoVote, key=lambda reason: reasons[reason])


def settled(ballots: Sequence[Hashable], votes: int) -> bool:
    """Whether two ballots agree, so that adaptive voting may stop before `votes` ballots.

    They agree on a level, the gist of a vote, or `insufficient_evidence`; lost votes do not count.
    """
    heard = Counter(b for b in ballots if not isinstance(b, NoVote) or b is NoVote.INSUFFICIENT)
    return len(ballots) >= votes or any(times >= 2 for times in heard.values())


def certain(
    level: int, *, judge: str = RAM, source: Literal["computed", "human"] = "computed"
) -> CriterionScore:
    """The score of a criterion that the RAM or a person decides."""
    value = level / 2
    return CriterionScore(
        value=value, votes=(level,), agreement=1.0, judge=judge, source=source, soft=value
    )
