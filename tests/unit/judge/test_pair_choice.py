"""Which of the segments scored last are worth a comparison."""

from typing import Any

import pytest

from rlaif.contracts.judging.evidence import Evidence
from rlaif.contracts.judging.quest import QuestProgress, Standing
from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord
from rlaif.judge.pairs.choice import Scored, nearly_tie, newest_partner, ram_ties
from rlaif.testing.data.judging.scores import score_record


def _rising(half_screens: float, **changes: Any) -> ScoreRecord:
    """A segment in which the player came so much closer to the third objective."""
    quest = QuestProgress(
        start=Standing(objective=3, distance=10),
        end=Standing(objective=3, distance=10 - half_screens),
        objectives=18,
        votes=3,
        agreement=1.0,
        judge="state",
    )
    return score_record(**({"quest": quest} | changes))


def _judged(level: int) -> dict[str, CriterionScore]:
    return {"dialog": CriterionScore(value=level / 2, votes=(level,), agreement=1, judge="state")}


@pytest.mark.parametrize(("other", "near"), [(4, True), (5, True), (6, False), (-4, False)])
def test_the_worth_nearly_ties_when_the_rises_differ_by_half_a_screen_at_most(
    other: float, near: bool
) -> None:
    assert nearly_tie(_rising(4), _rising(other)) is near


def test_what_else_is_learned_must_tie_too() -> None:
    one = _rising(4, criteria=_judged(2))
    assert nearly_tie(one, _rising(4, criteria=_judged(2)))
    assert not nearly_tie(one, _rising(4, criteria=_judged(0)))
    # A criterion with a score in only one of them does not count.
    assert nearly_tie(one, _rising(4, criteria={}))


def test_without_a_rise_the_rubric_mean_says_what_nearly_ties() -> None:
    one = score_record(weighted=0.50)
    assert nearly_tie(one, score_record(weighted=0.54))
    assert not nearly_tie(one, score_record(weighted=0.60))
    assert not nearly_tie(one, _rising(0, weighted=0.50))


@pytest.mark.parametrize(
    ("one", "other", "ties"),
    [
        ({"novelty": 0}, {"novelty": 0}, True),
        ({"novelty": 0}, {"novelty": 1}, False),
        ({"novelty": 0}, {"novelty": 0, "puzzle": 2}, False),
        ({}, {}, False),
    ],
)
def test_the_ram_ties_what_it_puts_on_the_same_levels(one: Any, other: Any, ties: bool) -> None:
    assert ram_ties(score_record(truth=one), score_record(truth=other)) is ties


def test_a_difference_on_the_quest_is_no_tie_and_an_unknown_one_may_be() -> None:
    truth = {"novelty": 0}
    assert ram_ties(_rising(4, truth=truth), _rising(4, truth=truth))
    assert not ram_ties(_rising(4, truth=truth), _rising(0, truth=truth))
    assert ram_ties(_rising(4, truth=truth), score_record(truth=truth))


def test_the_newest_that_ties_is_the_partner_and_never_the_same_evidence() -> None:
    def scored(name: str, evidence: str) -> Scored:
        record = score_record(segment_id=name, evidence_sha256=evidence * 64)
        return Scored(Evidence(), record, "a" * 64)

    one = scored("seg-9", "9")
    others = [
        scored("seg-9", "7"),
        scored("seg-8", "9"),
        scored("seg-2", "2"),
        scored("seg-1", "1"),
    ]
    found = newest_partner(one, others, lambda a, b: True)
    assert found is not None
    assert found.segment_id == "seg-2"
    assert newest_partner(one, others, lambda a, b: False) is None
