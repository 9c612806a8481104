"""From the votes of one judge to what it says of a segment: its criteria, and the quest."""

from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass

from rlaif.contracts.quest import QuestProgress
from rlaif.contracts.scores import CriterionScore
from rlaif.judge.panel.schema import Verdict
from rlaif.judge.rubric.judges import PROGRESS, Judge
from rlaif.judge.rubric.quest import QuestVote, progress_score, tally_quest
from rlaif.judge.rubric.votes import Ballot, NoVote, settled, tally

Vote = Verdict | NoVote
"""What came of one vote that was asked for."""


@dataclass(frozen=True)
class Poll:
    """What the votes of a judge came to; `quest` stands behind its progress."""

    criteria: Mapping[str, CriterionScore | NoVote]
    quest: QuestProgress | None = None


def count(judge: Judge, votes: Sequence[Vote]) -> Poll:
    """Count the votes of a briefed judge, all that were asked for."""
    rated = {
        criterion.name: tally(_ballots(votes, criterion.name), judge=judge.name)
        for criterion in judge.rated
    }
    if not judge.tells_quest:
        return Poll(rated)
    ballots = _quest_ballots(votes)
    quest = tally_quest(ballots, judge=judge.name, objectives=judge.objectives)
    if isinstance(quest, NoVote):
        return Poll({PROGRESS.name: quest, **rated})
    return Poll({PROGRESS.name: progress_score(quest, ballots), **rated}, quest)


def enough(judge: Judge, votes: Sequence[Vote], most: int) -> bool:
    """Whether an adaptive vote may stop: two votes agree on everything that is asked."""
    cast: list[Sequence[Hashable]] = [_ballots(votes, each.name) for each in judge.rated]
    if judge.tells_quest:
        ballots = _quest_ballots(votes)
        cast.append([b.gist if isinstance(b, QuestVote) else b for b in ballots])
    return all(settled(ballots, most) for ballots in cast)


def _ballots(votes: Sequence[Vote], criterion: str) -> list[Ballot]:
    ballots: list[Ballot] = []
    for vote in votes:
        level = vote if isinstance(vote, NoVote) else vote.levels[criterion]
        ballots.append(NoVote.INSUFFICIENT if level is None else level)
    return ballots


def _quest_ballots(votes: Sequence[Vote]) -> list[QuestVote | NoVote]:
    return [
        vote if isinstance(vote, NoVote) else vote.quest or NoVote.INSUFFICIENT for vote in votes
    ]
