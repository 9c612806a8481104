"""What the page says of a score beyond its mean: who decided it, and where the player stood."""

import pytest

from rlaif.contracts.judging.quest import QuestPosition, QuestProgress, Source
from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord
from rlaif.hud.read_model.segments.detail import score_detail
from rlaif.testing.data.judging.scores import score_record


def decided(**sources: Source) -> ScoreRecord:
    """A score whose criteria come from these sources."""
    criteria = {
        name: CriterionScore(
            value=1, votes=(2,), agreement=1, judge="j", source=source
        )
        for name, source in sources.items()
    }  # fmt: skip
    return score_record(criteria=criteria)


def test_a_score_says_which_share_judges_decided_and_which_the_ram():
    detail = score_detail(decided(progress="votes", novelty="computed", efficiency="computed"))
    assert detail.shares == pytest.approx({"votes": 0.4 / 0.6, "computed": 0.2 / 0.6, "human": 0})


def test_undecided_outcomes_are_in_no_share():
    assert score_detail(decided(dialog="computed")).shares == {
        "votes": 0.0,
        "computed": 1.0,
        "human": 0.0,
    }
    assert score_detail(decided()).shares == {}


def test_the_quest_is_shown_as_the_judges_have_it():
    quest = QuestProgress(
        start=QuestPosition(objective=2, distance=10), end=QuestPosition(objective=3, distance=20),
        objectives=18, votes=3, agreement=1, judge="state",
    )  # fmt: skip
    shown = score_detail(score_record(quest=quest)).quest
    assert shown is not None
    assert (shown.start, shown.end, shown.objectives) == (quest.start, quest.end, 18)
    assert shown.rise == pytest.approx(1 - 0.9 / 2)
