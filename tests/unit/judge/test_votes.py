import pytest
from hypothesis import given
from hypothesis import strategies as st

from rlaif.contracts.judging.scores import CriterionScore
from rlaif.judge.rubric.votes import Ballot, NoVote, tally

NOT_SEEN, INVALID, AWAY = NoVote.INSUFFICIENT, NoVote.INVALID, NoVote.REQUEST_FAILED
SPLIT = NoVote.SPLIT


@pytest.mark.parametrize(
    ("ballots", "value", "agreement"),
    [
        ([2, 2, 2], 1.0, 1.0),
        ([0, 0, 2], 0.0, 2 / 3),
        ([2, 2, INVALID], 1.0, 1.0),
        ([0], 0.0, 1.0),
    ],
)
def test_the_score_is_half_the_majority_of_the_valid_votes(
    ballots: list[Ballot], value: float, agreement: float
) -> None:
    score = tally(ballots, judge="state")
    assert isinstance(score, CriterionScore)
    assert score.value == value
    assert score.agreement == pytest.approx(agreement)


@pytest.mark.parametrize(
    ("ballots", "reason"),
    [
        ([2, NOT_SEEN, NOT_SEEN], NOT_SEEN),
        ([2, INVALID, INVALID], INVALID),
        ([2, INVALID, NOT_SEEN], INVALID),
        ([AWAY, AWAY, AWAY], AWAY),
        ([NOT_SEEN], NOT_SEEN),
        ([1, NOT_SEEN], NOT_SEEN),
        ([0, 1, 2], SPLIT),
        ([1, 2, NOT_SEEN], SPLIT),
        ([0, 0, 2, 2], SPLIT),
    ],
)
def test_too_few_valid_votes_or_no_majority_are_an_abstention_with_its_reason(
    ballots: list[Ballot], reason: NoVote
) -> None:
    assert tally(ballots, judge="state") is reason


@given(st.lists(st.sampled_from([0, 1, 2, *NoVote]), min_size=1, max_size=11))
def test_nothing_is_imputed(ballots: list[Ballot]) -> None:
    levels = [ballot for ballot in ballots if not isinstance(ballot, NoVote)]
    score = tally(ballots, judge="state")
    if isinstance(score, CriterionScore):
        assert score.votes == tuple(levels)
        assert 2 * levels.count(round(2 * score.value)) > len(levels)
        assert score.soft == pytest.approx(sum(levels) / len(levels) / 2)
    elif score is SPLIT and len(levels) >= min(2, len(ballots)):
        assert all(2 * levels.count(level) <= len(levels) for level in levels)
    else:
        assert len(levels) < min(2, len(ballots))
        assert score in ballots
