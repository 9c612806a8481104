"""Opinions of judges, the panel and the RAM about a pair."""

from dataclasses import replace

import pytest

from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.reviews import PANEL, RAM, SIDE_BY_SIDE
from rlaif.contracts.judging.scores import ScoreRecord
from rlaif.reward_model.review.service import opinions_of_judges, opinions_of_labels
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scored_segments import play, write_scored


def records(store: ObjectStore, criteria) -> list[ScoreRecord]:
    """Scores of two segments; each is criterion → (judge, source, value)."""
    found = []
    for segment, reported in zip(play(episodes=2, each=1, signal=True), criteria, strict=True):
        key = write_scored(store, segment).score_key
        record = ScoreRecord.model_validate_json(store.get(key))
        scores = {
            name: record.criteria[name].model_copy(
                update={"judge": judge, "source": source, "value": value, "soft": value}
            )
            for name, (judge, source, value) in reported.items()
        }
        found.append(record.model_copy(update={"criteria": scores}))
    return found


def said(opinions):
    return {item.rater: item.says for item in opinions}


def test_each_judge_has_an_opinion_of_what_it_judged_in_both(file_store: ObjectStore):
    a, b = records(
        file_store,
        [
            {"progress": ("state", "votes", 1.0), "dialog": ("state", "votes", 0.0),
             "puzzle": ("puzzle", "votes", 0.5), "novelty": ("ram", "computed", 1.0)},
            {"progress": ("state", "votes", 0.5), "dialog": ("state", "votes", 0.5),
             "novelty": ("vision", "votes", 0.0)},
        ],
    )  # fmt: skip
    found = opinions_of_judges(a, b)
    # 0.4 * 0.5 - 0.2 * 0.5, of 0.6: progress counts twice as much as a dialog.
    assert found[1].margin == pytest.approx(1 / 6)
    assert said(found) == {"puzzle": None, "state": "a", "vision": None}
    assert said(opinions_of_judges(b, a))["state"] == "b"


def test_on_a_quest_the_judge_is_held_to_how_far_it_saw_the_player_come(file_store: ObjectStore):
    a, b = records(file_store, [{"progress": ("state", "votes", 1.0)}] * 2)
    start = QuestPosition(objective=1, distance=10)
    stood, came = (
        QuestProgress(start=start, end=QuestPosition(objective=1, distance=left), objectives=9,
                      votes=3, agreement=1.0, judge="state")
        for left in (10, 2)
    )  # fmt: skip
    a, b = a.model_copy(update={"quest": stood}), b.model_copy(update={"quest": came})
    assert said(opinions_of_judges(a, b)) == {"state": "b"}


def test_all_judges_together_the_one_who_saw_both_and_the_ram_have_an_opinion(labels):
    a, b = labels(episodes=2, each=1, signal=True)
    a = replace(a, values=dict.fromkeys(a.values, 0.5), ram={"progress": 0})
    b = replace(b, values=dict.fromkeys(b.values, 0.5), ram={"progress": 2})
    assert said(opinions_of_labels(a, b)) == {PANEL: "equal", RAM: "b"}
    shown = replace(a, preferred={b.segment_id: 1.0}), replace(b, preferred={a.segment_id: 0.0})
    assert said(opinions_of_labels(*shown))[SIDE_BY_SIDE] == "a"
    assert said(opinions_of_labels(*shown[::-1]))[SIDE_BY_SIDE] == "b"
    # What people said of the pair before is not what the judges say.
    reported = zip(shown, shown[::-1], (-2.0, 2.0), strict=True)
    voted = [replace(one, voted={other.segment_id: lean}) for one, other, lean in reported]
    assert opinions_of_labels(voted[0], voted[1]) == opinions_of_labels(*shown)
