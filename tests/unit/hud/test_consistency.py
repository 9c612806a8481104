"""Whatever comes in, in whatever order: no two numbers of one snapshot contradict each other."""

import json
import random
from datetime import datetime, timedelta
from typing import Any

import pytest

from rlaif.contracts.catalog import envelop
from rlaif.contracts.events import RunLoaded
from rlaif.contracts.judging.scores import RUBRIC_WEIGHTS, CriterionScore, rubric_mean
from rlaif.contracts.telemetry.readings import Telemetry
from rlaif.hud.read_model.projections import HudState
from rlaif.testing.data.events import (
    NOON,
    reward_model_published,
    reward_model_rejected,
    run_loaded,
    segment_captured,
    segment_exported,
    segment_scored,
)
from rlaif.testing.data.judging.scores import score_record
from rlaif.testing.data.readings import (
    judge_call_ended,
    reward_model_status,
    training_progress,
)
from rlaif.testing.page.figures import contradictions, documents_of, impossible, shows


class World:
    """A random pipeline; its messages arrive in any order within a stream's lag."""

    def __init__(self, seed: int) -> None:
        self.random = random.Random(seed)
        self.state = HudState(epoch="e", started_at=NOON)
        self.state.streams_opened()
        self.seconds = 0
        self.step = 0
        self.activation = 0
        self.version = 0
        self.loads: list[RunLoaded] = []
        self.records = {f"segment-{n}": self.record(f"segment-{n}") for n in range(40)}

    @property
    def now(self) -> datetime:
        return NOON + timedelta(seconds=self.seconds)

    def record(self, segment_id: str) -> Any:
        values = {name: self.random.choice((0, 0.5, 1, None)) for name in RUBRIC_WEIGHTS}
        criteria = {
            name: CriterionScore(value=value, votes=(1,), agreement=1, judge="state")
            for name, value in values.items()
            if value is not None
        }
        mean = rubric_mean({n: score.value for n, score in criteria.items()}, RUBRIC_WEIGHTS)
        return score_record(segment_id=segment_id, criteria=criteria, weighted=mean)

    def happen(self) -> None:
        self.seconds += 1
        self.random.choice(
            (self.event, self.event, self.event, self.read, self.progress, self.model, self.call)
        )()

    def event(self) -> None:
        segment_id, record = self.random.choice(list(self.records.items()))
        data = self.random.choice(
            (
                segment_captured(segment_id),
                segment_exported(segment_id),
                segment_scored(segment_id, weighted=record.weighted),
            )
        )
        self.state.apply_event(envelop(data, source="t", time=self.now))

    def read(self) -> None:
        for unread in self.state.segments.unread(25)[:3]:
            if self.random.random() < 0.1:
                self.state.segments.score_read(unread, None, problem="it is gone")
            elif self.random.random() < 0.1:
                self.state.segments.score_delayed(unread, "the store is away")
            else:
                self.state.apply_score(unread, self.records[unread.segment_id])

    def progress(self) -> None:
        self.step += 100
        used = self.loads[-1] if self.loads else None
        self.tell(
            training_progress(
                env_steps=self.step,
                reward_model_version=used.version if used else None,
                reward_model_loaded_at_step=used.env_step if used else None,
            )
        )

    def model(self) -> None:
        self.activation += 1
        newest = self.version + 1
        version = self.random.choice((newest, self.random.randint(1, newest)))
        self.version = max(self.version, version)
        data = reward_model_published(version).model_copy(update={"activation": self.activation})
        self.state.apply_event(envelop(data, source="t", time=self.now))
        rejected = reward_model_rejected(f"candidate-{self.activation}")
        self.state.apply_event(envelop(rejected, source="t", time=self.now))
        if self.random.random() < 0.5:
            load = run_loaded(version, self.step).model_copy(update={"at": self.now})
            self.loads.append(load)
            self.state.apply_event(envelop(load, source="t", time=self.now))
        if self.random.random() < 0.7:
            self.tell(
                reward_model_status(
                    champion_version=version,
                    activation=self.activation,
                    pinned=self.random.random() < 0.5,
                )
            )

    def call(self) -> None:
        outcome = self.random.choice(("ok", "timeout", "invalid"))
        judge = self.random.choice(("state", "vision"))
        self.tell(judge_call_ended(outcome, at=self.now, judge=judge))

    def tell(self, reading: Telemetry) -> None:
        self.state.apply_reading(reading, self.now)


@pytest.mark.parametrize("seed", range(10))
def test_no_snapshot_contradicts_itself(seed: int) -> None:
    world = World(seed)
    for _ in range(100):
        for _ in range(3):
            world.happen()
        state = json.loads(world.state.snapshot(world.now).model_dump_json())
        assert impossible(state) == [], f"after {world.seconds} s"


def test_a_stream_that_comes_first_does_not_run_ahead_of_the_loop() -> None:
    world = World(0)
    for number in range(5):
        data = segment_scored(f"segment-{number}")
        world.state.apply_event(envelop(data, source="t", time=NOON))
    loop = world.state.snapshot(NOON).loop
    assert (loop.captured, loop.exported, loop.scored) == (5, 5, 5)
    world.state.apply_event(envelop(segment_captured("segment-0"), source="t", time=NOON))
    loop = world.state.snapshot(NOON).loop
    assert (loop.captured, loop.exported, loop.scored) == (5, 5, 5), "it was counted already"
    assert "Captured segment" in world.state.snapshot(NOON).events[-1].text


@pytest.mark.parametrize(
    ("text", "value", "right"),
    [
        ("225.79K", 225_792, True),
        ("225.79K", 225_800, False),
        ("+1.69", 1.6949, True),
        ("\N{MINUS SIGN}1.19", -1.192, True),
        ("\N{MINUS SIGN}1.19", 1.192, False),
        ("88.9 %", 0.8888, True),
        ("100 %", 0.98, False),
        ("490 ms", 0.4904, True),
        ("1.3 s", 1.26, True),
        ("v8", 8, True),
        ("2,787", 2787, True),
        ("—", None, True),
        ("—", 0, False),
        ("0", None, False),
    ],
)
def test_a_text_shows_a_value_as_exactly_as_it_can(text: str, value: Any, right: bool) -> None:
    assert shows(text, value) is right


def test_a_number_that_is_another_one_is_found() -> None:
    state = {"loop": {"scored": 166}, "segments": [{"segment_id": "s-1", "weighted": None}]}
    assert contradictions([("loop.scored", "166"), ("segments.s-1.weighted", "—")], state) == []
    assert len(contradictions([("loop.scored", "165")], state)) == 1
    assert len(contradictions([("segments.s-1.weighted", "0.00")], state)) == 1
    assert len(contradictions([("loop.missing", "1")], state)) == 1


def test_a_number_of_another_document_is_held_against_that_document() -> None:
    path = "/api/v1/reward-models?limit=100"
    documents = {path: {"items": [{"manifest": {"labels": 60}}]}}
    right = (f"{path}#items.0.manifest.labels", "60")
    assert documents_of([right, ("loop.captured", "3")]) == {path}
    assert contradictions([right], {}, documents=documents) == []
    for wrong in ((right[0], "61"), (f"{path}#items.0.manifest.label", "60")):
        assert contradictions([wrong], {"items": []}, documents=documents) != []
    assert contradictions([right], {"items": [{"manifest": {"labels": 60}}]}) != []
