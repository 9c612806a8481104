import json
import math
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from rlaif.contracts.judging.quest import FARTHEST, QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import CriterionScore
from rlaif.contracts.planning.model_answers import whole_number
from rlaif.guides.guides import guide_of, guided_games
from rlaif.judge.panel import prompts
from rlaif.judge.panel.panel import count
from rlaif.judge.panel.schema import InvalidAnswerError, Verdict, answer_schema, read_answer
from rlaif.judge.rubric.judges import INSUFFICIENT, JUDGES, Judge, briefed
from rlaif.judge.rubric.votes import NoVote, QuestVote, progress_score, tally_quest

STATE, PUZZLE, VISION = JUDGES
GAME = "seedling-vale"
BRIEFED = briefed(STATE, GAME)
N = len(guide_of(GAME).objectives)
KEYS = ["objective_start", "distance_start", "objective_end", "distance_end"]
GOOD: dict[str, Any] = {
    "rationale": "From Seedling to the door of Fern's House.",
    "objective_start": 1,
    "distance_start": 3,
    "objective_end": 1,
    "distance_end": 1,
    "dialog": INSUFFICIENT,
    "efficiency": 2,
}


def _vote(start: tuple[int, float], end: tuple[int, float]) -> QuestVote:
    return QuestVote(
        QuestPosition(objective=start[0], distance=start[1]),
        QuestPosition(objective=end[0], distance=end[1]),
    )


def _tally(*ballots: QuestVote | NoVote) -> QuestProgress | NoVote:
    return tally_quest(ballots, judge="state", objectives=N)


# Who is asked


def test_a_judge_of_a_game_with_a_guide_reads_it_behind_the_rules() -> None:
    for judge in JUDGES:
        text = prompts.system_prompt(briefed(judge, GAME))
        rules, guide = text.index(judge.guide), text.index(guide_of(GAME).text)
        assert rules < guide < text.index("\nRubric\n") < text.index("\nSchema of the answer\n")


def test_only_the_state_judge_is_asked_for_the_quest_and_only_with_a_guide() -> None:
    assert [judge.name for judge in JUDGES if briefed(judge, GAME).tells_quest] == ["state"]
    assert not STATE.tells_quest
    assert "progress" in answer_schema(STATE)["properties"]


def test_a_judge_whose_own_guide_lists_objectives_keeps_it() -> None:
    own = Judge("own", "m", "/m", STATE.criteria, guide="1. Win.", asks_quest=True, objectives=1)
    assert briefed(own, GAME) == own
    assert answer_schema(own)["properties"]["objective_end"] == {"enum": [1, INSUFFICIENT]}


@pytest.mark.parametrize("game", guided_games())
def test_the_frozen_part_names_as_many_objectives_as_the_guide_has(game: str) -> None:
    judge = briefed(STATE, game)
    numbers = len(guide_of(game).objectives)
    assert f"1 to {numbers}: " in prompts.system_prompt(judge)
    enum = answer_schema(judge)["properties"]["objective_start"]["enum"]
    assert enum == [*range(1, numbers + 1), INSUFFICIENT]


# The answer


def test_the_schema_asks_where_the_player_stood_before_it_asks_for_levels() -> None:
    schema = answer_schema(BRIEFED)
    assert list(schema["properties"]) == ["rationale", *KEYS, "dialog", "efficiency"]
    assert schema["required"] == list(schema["properties"])
    assert schema["properties"]["distance_end"]["enum"] == [*range(21), INSUFFICIENT]


_scalars = st.none() | st.booleans() | st.integers(-3, 30) | st.floats() | st.text(max_size=25)
_odd = st.recursive(_scalars, lambda inner: st.lists(inner, max_size=2), max_leaves=4)
_reported = {name: _odd | st.just(INSUFFICIENT) for name in GOOD if name != "rationale"}


@settings(max_examples=300, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.fixed_dictionaries(_reported, optional={"progress": st.integers(0, 2)}))
def test_what_is_read_is_what_was_said_and_nothing_else(reported: dict[str, Any]) -> None:
    answer = {"rationale": "", **reported}
    try:
        verdict = read_answer(BRIEFED, json.dumps(answer))
    except InvalidAnswerError:
        return
    assert set(answer) >= set(GOOD)
    for key in (*KEYS, "dialog", "efficiency"):
        assert type(whole_number(answer[key])) is int or answer[key] == INSUFFICIENT
    known = all(answer[key] != INSUFFICIENT for key in KEYS)
    assert (verdict.quest is not None) == known
    if verdict.quest is not None:
        start, end = verdict.quest.start, verdict.quest.end
        assert [start.objective, start.distance, end.objective, end.distance] == [
            answer[key] for key in KEYS
        ]
        assert 1 <= start.objective <= N
        assert 0 <= end.distance <= FARTHEST


# The tally


def test_distances_are_means_over_the_votes_that_agree_on_the_objectives() -> None:
    quest = _tally(_vote((3, 4), (3, 2)), _vote((3, 6), (3, 2)), _vote((4, 0), (4, 20)))
    assert isinstance(quest, QuestProgress)
    assert (quest.start, quest.end) == (
        QuestPosition(objective=3, distance=5),
        QuestPosition(objective=3, distance=2),
    )
    assert quest.votes == 3
    assert quest.agreement == pytest.approx(2 / 3)
    assert quest.rise == pytest.approx(3 * 0.9 / 20)
    # Rises of two and of four half screens: the variance of their mean is one half screen squared.
    assert quest.doubt == pytest.approx((0.9 / 20) ** 2)
    assert (quest.judge, quest.source, quest.objectives) == ("state", "votes", N)


def test_votes_that_agree_leave_no_doubt_and_neither_does_a_single_one() -> None:
    for ballots in ([_vote((3, 4), (3, 2))] * 3, [_vote((3, 4), (3, 2))]):
        quest = _tally(*ballots)
        assert isinstance(quest, QuestProgress)
        assert quest.doubt == 0.0


@pytest.mark.parametrize(
    ("ballots", "reason"),
    [
        ([_vote((1, 1), (1, 0)), _vote((2, 1), (2, 0)), _vote((3, 1), (3, 0))], NoVote.SPLIT),
        ([_vote((1, 1), (1, 0)), _vote((1, 1), (2, 0))], NoVote.SPLIT),
        ([_vote((1, 1), (1, 0)), NoVote.INSUFFICIENT, NoVote.INSUFFICIENT], NoVote.INSUFFICIENT),
        ([_vote((1, 1), (1, 0)), NoVote.INVALID, NoVote.INVALID], NoVote.INVALID),
        ([NoVote.INVALID], NoVote.INVALID),
    ],
)
def test_without_a_majority_or_with_too_few_votes_nothing_is_said_of_the_quest(
    ballots: list[QuestVote | NoVote], reason: NoVote
) -> None:
    assert _tally(*ballots) is reason


_votes = st.builds(
    _vote,
    st.tuples(st.integers(1, 3), st.integers(0, 20)),
    st.tuples(st.integers(1, 3), st.integers(0, 20)),
)


@given(st.lists(_votes | st.sampled_from(list(NoVote)), min_size=1, max_size=7))
def test_the_order_of_the_votes_says_nothing_and_the_rise_lies_among_theirs(
    ballots: list[QuestVote | NoVote],
) -> None:
    quest = _tally(*ballots)
    again = _tally(*reversed(ballots))
    if isinstance(quest, NoVote):
        assert again is quest
        return
    assert isinstance(again, QuestProgress)
    assert again.rise == pytest.approx(quest.rise)
    rises = [vote.rise for vote in ballots if isinstance(vote, QuestVote)]
    assert min(rises) - 1e-9 <= quest.rise <= max(rises) + 1e-9
    score = progress_score(quest, ballots)
    assert len(score.votes) == len(rises)
    assert 0 <= (score.soft or 0.0) <= 1


@pytest.mark.parametrize(
    ("end", "value"), [((1, 10), 0.5), ((1, 8), 1.0), ((1, 12), 0.0), ((2, 15), 1.0)]
)
def test_the_score_of_progress_has_the_level_and_the_strength_of_the_rise(
    end: tuple[int, int], value: float
) -> None:
    ballots = [_vote((1, 10), end)] * 3
    quest = _tally(*ballots)
    assert isinstance(quest, QuestProgress)
    score = progress_score(quest, ballots)
    assert (score.value, score.votes, score.agreement) == (value, (round(2 * value),) * 3, 1.0)
    assert score.soft == pytest.approx(0.5 + 0.5 * math.tanh(quest.rise / 0.2))
    assert score.source == "votes"


# One judge's votes together


def _verdict(quest: QuestVote | None, dialog: int | None = None) -> Verdict:
    levels = {"progress": quest.level if quest else None, "dialog": dialog, "efficiency": 1}
    return Verdict("because", levels, quest)


def test_a_poll_has_the_quest_and_every_criterion_of_the_judge() -> None:
    near = _vote((1, 3), (1, 1))
    poll = count(BRIEFED, [_verdict(near, 2), _verdict(near, 2), NoVote.INVALID])
    assert list(poll.criteria) == ["progress", "dialog", "efficiency"]
    assert poll.quest is not None
    assert (poll.quest.votes, poll.quest.agreement) == (2, 1.0)
    progress = poll.criteria["progress"]
    assert isinstance(progress, CriterionScore)
    assert (progress.value, progress.votes) == (1.0, (2, 2))
