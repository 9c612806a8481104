"""What the canaries are; how they are asked is in test_canary_rounds.py."""

import json
from collections import Counter
from typing import Any

import pytest

from rlaif.contracts.judging.quest import QuestPosition
from rlaif.guides.guides import guide_of
from rlaif.judge.panel.schema import Verdict
from rlaif.judge.rubric.judges import JUDGES, Judge, briefed
from rlaif.judge.rubric.votes import QuestVote
from rlaif.judge.trust.canaries import Canary, canaries, in_turn, read_theme

GAME = "seedling-vale"
READY = tuple(briefed(judge, GAME) for judge in JUDGES)
STATE = READY[0]


def _known_levels() -> dict[str, Counter[int]]:
    found: dict[str, Counter[int]] = {}
    for judge in READY:
        for canary in canaries():
            for criterion, right in canary.known(judge).items():
                found.setdefault(criterion, Counter())[right[0]] += 1
    return found


def test_every_criterion_has_at_least_eight_with_low_and_high_levels() -> None:
    found = _known_levels()
    assert set(found) == {"progress", "dialog", "puzzle", "novelty", "efficiency"}
    for criterion, levels in found.items():
        assert levels.total() >= 8, criterion
        assert levels[0] >= 2, criterion
        assert levels[2] >= 2, criterion


def test_names_and_evidence_are_of_one_canary_each() -> None:
    assert len({canary.name for canary in canaries()}) == len(canaries())
    assert len({canary.evidence.sha256() for canary in canaries()}) == len(canaries())


def test_a_way_and_its_way_back_differ_in_nothing_but_the_order() -> None:
    by_name = {canary.name: canary for canary in canaries()}
    turned = {
        name: by_name[f"{name}, and back"] for name in by_name if f"{name}, and back" in by_name
    }
    assert len(turned) >= 6
    for name, back in turned.items():
        there = by_name[name]
        assert (there.evidence.start, there.evidence.end) == (
            back.evidence.end,
            back.evidence.start,
        )
        assert there.rise == 2
        assert back.rise == 0
        assert there.evidence.changes == back.evidence.changes


def test_objectives_are_numbers_of_the_guide() -> None:
    last = len(guide_of(GAME).objectives)
    for canary in canaries():
        assert canary.evidence.end.game == canary.evidence.start.game == GAME
        assert all(1 <= number <= last for number in canary.objectives or ())


def _says(objectives: tuple[int, int], distances: tuple[int, int], **levels: int | None) -> Verdict:
    start, end = (
        QuestPosition(objective=o, distance=d) for o, d in zip(objectives, distances, strict=True)
    )
    quest = QuestVote(start, end)
    return Verdict(
        "because", {"progress": quest.level, "dialog": None, "efficiency": None} | levels, quest
    )


def _canary(name: str) -> Canary:
    return next(canary for canary in canaries() if canary.name == name)


def test_progress_is_right_with_the_rise_and_the_objectives() -> None:
    canary = _canary("with 23 coins and no shield, from Mirror Pond to the door of the Nut Shop")
    assert canary.grade(STATE, _says((3, 3), (3, 1)))["progress"].right
    assert not canary.grade(STATE, _says((3, 3), (3, 3)))["progress"].right
    wrong_objective = canary.grade(STATE, _says((2, 2), (5, 3)))["progress"]
    assert (wrong_objective.given, wrong_objective.right) == (2, False)


def test_an_abstention_from_what_is_known_is_wrong() -> None:
    canary = _canary("Sorrel tells of the cracked wall")
    graded = canary.grade(STATE, _says((5, 5), (4, 4), dialog=None))
    assert (graded["dialog"].given, graded["dialog"].right) == (None, False)
    assert graded["progress"].right


def test_where_anchors_leave_a_choice_either_level_is_right() -> None:
    canary = _canary("the child says something of frogs")
    for level, right in ((0, True), (1, True), (2, False)):
        assert canary.grade(STATE, _says((9, 9), (3, 3), dialog=level))["dialog"].right is right


def test_a_judge_without_the_guide_is_not_held_to_the_quest() -> None:
    plain = JUDGES[0]
    known = _canary("stood still").known(plain)
    assert known == {"efficiency": (0,)}


@pytest.mark.parametrize("judge", READY, ids=lambda judge: judge.name)
def test_a_few_in_a_row_already_differ_in_what_is_known(judge: Judge) -> None:
    row = in_turn(judge, canaries())
    criteria = {c.name for c in judge.criteria} - {"efficiency"}
    for at in range(0, len(row) - 8, 4):
        for criterion in criteria:
            levels = {
                known[criterion][0]
                for canary in row[at : at + 8]
                if criterion in (known := canary.known(judge))
            }
            assert len(levels) > 1, (criterion, at)


def test_a_fact_that_no_judge_would_see_is_a_slip() -> None:
    theme: dict[str, Any] = {"theme": "t", "shared": {}, "canaries": [{"name": "a"}]}
    assert len(read_theme(theme)) == 1
    for slip in ({"start": {"spot": "Seedling"}}, {"movement": {"pixels": "many"}}):
        with pytest.raises(ValueError, match="is not evidence"):
            read_theme(theme | {"canaries": [{"name": "a"} | slip]})


def test_no_canary_contains_its_answer() -> None:
    for canary in canaries():
        text = json.dumps(canary.evidence.model_dump())
        assert canary.name not in text
        assert "canar" not in text.lower()
