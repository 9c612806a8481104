"""Label values of a score: the rise on the quest, texts and puzzles."""

from typing import Any

import pytest

from rlaif.contracts.judging.quest import QuestPosition, QuestProgress, Source
from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord
from rlaif.reward_model.labels.worth import WORTH_WEIGHTS, Worth, value_of_rise, worth_of


def score(*, quest=None, abstentions=None, **criteria) -> ScoreRecord:
    """The part of a score that is read."""
    fields: dict[str, Any] = {
        "criteria": criteria, "abstentions": abstentions or {}, "quest": quest
    }  # fmt: skip
    return ScoreRecord.model_construct(**fields)


def said(value: float, source: Source = "votes") -> CriterionScore:
    return CriterionScore(
        value=value, votes=(round(2 * value),), agreement=1.0, judge="state", source=source
    )


def progress(start: float, end: float) -> QuestProgress:
    """From so many half screens before the third objective to so many."""
    return QuestProgress(
        start=QuestPosition(objective=3, distance=start),
        end=QuestPosition(objective=3, distance=end),
        objectives=18,
        votes=3,
        agreement=1.0,
        judge="state",
    )


def test_a_rise_is_worth_more_than_a_half_and_a_fall_as_much_less():
    assert value_of_rise(0.0) == 0.5
    assert value_of_rise(0.2) == pytest.approx(1.0 - value_of_rise(-0.2))
    values = [value_of_rise(rise / 10) for rise in range(-20, 21)]
    assert values == sorted(values)


def test_the_quest_decides_the_value_of_progress_and_where_the_segment_was():
    found = worth_of(score(quest=progress(8, 4), progress=said(0.0)))
    assert found.values["progress"] == pytest.approx(value_of_rise(4 * 0.045))
    assert found.positions == pytest.approx((2.54, 2.72))


def test_what_the_ram_computed_is_not_learned():
    found = worth_of(
        score(
            progress=said(1.0, "computed"),
            dialog=said(1.0),
            novelty=said(1.0),
            efficiency=said(1.0, "computed"),
        )
    )
    assert found.values == {"dialog": 1.0}


def test_no_text_and_no_puzzle_are_neither_gain_nor_loss_and_an_outage_is_unknown():
    absent = {"dialog": "insufficient_evidence", "puzzle": "route_down"}
    found = worth_of(score(quest=progress(8, 8), progress=said(0.5), abstentions=absent))
    assert found.values == {"progress": 0.5, "dialog": 0.5}


def test_a_persons_word_on_progress_takes_the_place_of_the_quest():
    found = worth_of(score(quest=progress(8, 4), progress=said(0.0, "human")))
    assert found == Worth({"progress": 0.0}, {"progress": 0.0}, None)


def test_the_weights_sum_to_one_and_a_text_alone_is_a_tie():
    assert sum(WORTH_WEIGHTS.values()) == pytest.approx(1.0)
    assert 0.5 * WORTH_WEIGHTS["dialog"] < 0.05
