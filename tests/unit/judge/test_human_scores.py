from datetime import UTC, datetime

import pytest

from rlaif.contracts.events import SegmentScored
from rlaif.contracts.judging.quest import QuestPosition, QuestProgress
from rlaif.contracts.judging.scores import CriterionScore, ScoreRecord
from rlaif.judge.scoring.scores import NotJudgedError, Override, Scores
from rlaif.storage import keys
from rlaif.storage.ports import ObjectStore
from rlaif.testing.data.judging.scores import judge_call, score_record
from rlaif.testing.publisher import RecordingPublisher

NOW = datetime(2026, 1, 2, tzinfo=UTC)


class Bench:
    def __init__(self, store: ObjectStore) -> None:
        self.store = store
        self.publisher = RecordingPublisher()
        self.human = Scores(store, self.publisher, "jtest", now=lambda: NOW)
        base = score_record(
            segment_id="seg-1",
            judge_config="jtest",
            criteria={
                "progress": CriterionScore(value=0, votes=(0,) * 3, agreement=1, judge="state"),
                "efficiency": CriterionScore(value=1, votes=(2,), agreement=1, judge="ram"),
            },
            abstentions={"dialog": "insufficient_evidence", "puzzle": "split_votes"},
            weighted=0.2,
            calls=(judge_call(),),
        )
        store.put(keys.score("jtest", "seg-1"), base.model_dump_json().encode())

    async def override(self, **levels: int | None) -> ScoreRecord:
        return await self.human.override("seg-1", Override(levels, "ada", "saw it"))


@pytest.fixture
def bench(store: ObjectStore) -> Bench:
    return Bench(store)


async def test_an_override_is_another_score_object_and_the_judges_stays(bench: Bench) -> None:
    judged = bench.store.get(keys.score("jtest", "seg-1"))
    made = await bench.override(progress=2, efficiency=None)
    assert bench.store.get(keys.score("jtest", "seg-1")) == judged
    stored = ScoreRecord.model_validate_json(bench.store.get("scores/human-1/seg-1.json"))
    assert stored == made
    assert (made.provenance, made.author, made.note) == ("human", "ada", "saw it")
    assert made.criteria["progress"].source == "human"
    assert made.criteria["progress"].value == 1.0
    assert made.abstentions["efficiency"] == "human"
    assert made.abstentions["puzzle"] == "split_votes"
    # Progress alone is 0.4 of the rubric: less than half of it is judged.
    assert made.weighted is None
    assert made.calls == ()


async def test_a_persons_progress_takes_the_place_of_the_quest_and_other_levels_do_not(
    bench: Bench,
) -> None:
    key = keys.score("jtest", "seg-1")
    here = QuestPosition(objective=2, distance=4)
    quest = QuestProgress(
        start=here, end=here, objectives=18, votes=3, agreement=1.0, judge="state"
    )
    judged = ScoreRecord.model_validate_json(bench.store.get(key))
    bench.store.put(key, judged.model_copy(update={"quest": quest}).model_dump_json().encode())
    assert (await bench.override(dialog=2)).quest == quest
    made = await bench.override(progress=2)
    assert made.quest is None
    assert made.decided_by["human"] == pytest.approx(0.6 / 0.7)


async def test_an_override_is_told_as_an_event_of_its_own(bench: Bench) -> None:
    made = await bench.override(progress=2)
    (event,) = bench.publisher.published
    assert isinstance(event, SegmentScored)
    assert event.judge_config == "human-1"
    assert event.score_key == "scores/human-1/seg-1.json"
    assert event.weighted == made.weighted == pytest.approx(1.0)


async def test_a_second_word_adds_to_the_first_and_overwrites_nothing(bench: Bench) -> None:
    await bench.override(progress=2)
    first = bench.store.get("scores/human-1/seg-1.json")
    made = await bench.override(dialog=1)
    assert made.judge_config == "human-2"
    assert bench.store.get("scores/human-1/seg-1.json") == first
    assert made.criteria["progress"].value == 1.0
    assert made.criteria["dialog"].value == 0.5


async def test_a_segment_that_nobody_judged_cannot_be_overridden(bench: Bench) -> None:
    with pytest.raises(NotJudgedError):
        await bench.human.override("seg-9", Override({"progress": 2}, "ada"))
    assert bench.publisher.published == []
