"""Decides which judges are asked, and counts their votes.

A judge has at most two frozen prompts per game: all of its criteria, or only those that are never
wholly computed. So the prefix cache of its server keeps two prefixes, not one for each segment.
"""

import hashlib
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from rlaif.contracts.judging.quest import QuestProgress
from rlaif.contracts.judging.scores import PROGRESS, CriterionScore
from rlaif.judge.panel.schema import Verdict
from rlaif.judge.rubric.judges import Judge, without
from rlaif.judge.rubric.votes import (
    Ballot,
    NoVote,
    QuestVote,
    progress_score,
    settled,
    tally,
    tally_quest,
)

COMPUTED_WHOLLY = frozenset({"novelty", "efficiency"})
"""Criteria that are computed for every segment with complete states."""

Vote = Verdict | NoVote
Results = Mapping[str, CriterionScore | NoVote]


@dataclass(frozen=True)
class Poll:
    """Result of the votes of one judge; `quest` explains its progress."""

    criteria: Results
    quest: QuestProgress | None = None


def judges_needed(
    judges: tuple[Judge, ...], decided: Mapping[str, int | NoVote], *, audit: bool
) -> tuple[Judge, ...]:
    """The judges that are asked, each with one of its two sets of criteria.

    An `audit` also asks the judges of a decided level for all of their criteria, to measure their
    accuracy. A criterion that does not apply to the segment cannot be audited.
    """
    computed = COMPUTED_WHOLLY & decided.keys()
    asked = []
    for judge in judges:
        names = {criterion.name for criterion in judge.criteria}
        core = without(judge, computed)
        if audit and any(type(decided.get(name)) is int for name in names):
            asked.append(judge)
        elif core and any(criterion.name not in decided for criterion in core.criteria):
            # Either all computed criteria are decided, or the whole judge is asked.
            asked.append(core if names & COMPUTED_WHOLLY <= computed else judge)
    return tuple(asked)


def in_share(purpose: str, segment_id: str, share: float) -> bool:
    """Whether a segment is in the share selected for a purpose; deterministic by id."""
    digest = hashlib.sha256(f"{purpose}:{segment_id}".encode()).digest()
    return int.from_bytes(digest[:4]) < share * 2**32


def count(judge: Judge, votes: Sequence[Vote]) -> Poll:
    """Count all requested votes of a briefed judge."""
    rated = {c.name: tally(_ballots(votes, c.name), judge=judge.name) for c in judge.rated}
    if not judge.tells_quest:
        return Poll(rated)
    ballots = _quest_ballots(votes)
    quest = tally_quest(ballots, judge=judge.name, objectives=judge.objectives)
    if isinstance(quest, NoVote):
        return Poll({PROGRESS: quest, **rated})
    return Poll({PROGRESS: progress_score(quest, ballots), **rated}, quest)


def enough(judge: Judge, votes: Sequence[Vote], limit: int) -> bool:
    """Whether adaptive voting may stop: two votes agree on everything that is asked."""
    cast: list[Sequence[Hashable]] = [_ballots(votes, each.name) for each in judge.rated]
    if judge.tells_quest:
        ballots = _quest_ballots(votes)
        cast.append([b.gist if isinstance(b, QuestVote) else b for b in ballots])
    return all(settled(ballots, limit) for ballots in cast)


def _ballots(votes: Sequence[Vote], criterion: str) -> list[Ballot]:
    levels = [vote if isinstance(vote, NoVote) else vote.levels[criterion] for vote in votes]
    return [NoVote.INSUFFICIENT if level is None else level for level in levels]


def _quest_ballots(votes: Sequence[Vote]) -> list[QuestVote | NoVote]:
    return [
        vote if isinstance(vote, NoVote) else vote.quest or NoVote.INSUFFICIENT for vote in votes
    ]
