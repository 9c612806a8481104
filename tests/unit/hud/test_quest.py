"""What a search found and how far a curriculum came: readings in, sections of the snapshot out."""

from typing import Any

from rlaif.contracts.telemetry.readings import (
    AssistanceStatus,
    CurriculumProgress,
    MapPosition,
    PaidStep,
    PaidSteps,
    RewardBreakdown,
    SearchProgress,
    WatchedPay,
)
from rlaif.testing.data.events import NOON
from rlaif.testing.data.readings import training_progress
from rlaif.testing.page.broadcasts import broadcast_of

NODE = {"node": 3, "parent": None, "frames": 9, "seconds": 1.0, "level": 1.0, "marks": ["sword"]}


def search(**values: Any) -> SearchProgress:
    basics = {
        "at": NOON, "run_id": "run-1", "running": True, "frames": 100, "seconds": 2.0,
        "workers": 2, "nodes": 4, "level": 1.0, "marks": 1, "tree": [NODE],
    }  # fmt: skip
    return SearchProgress.model_validate({**basics, **values})


def curriculum(**values: Any) -> CurriculumProgress:
    basics = {
        "at": NOON, "run_id": "run-1", "phase": "backward", "power_on_share": 0.02,
        "demonstrations": 5, "all_segments": 60, "mastered": 12, "tries": 900,
        "frontier_mean": 0.6, "success_mean": 0.5,
    }  # fmt: skip
    return CurriculumProgress.model_validate({**basics, **values})


def test_another_run_begins_without_them(state):
    state.apply_reading(training_progress(run_id="run-1"), NOON)
    state.apply_reading(search(), NOON)
    state.apply_reading(curriculum(), NOON)
    state.apply_reading(training_progress(run_id="run-2"), NOON)
    shown = state.snapshot(NOON)
    assert (shown.search, shown.curriculum) == (None, None)
    state.apply_reading(search(run_id="run-2"), NOON)
    assert state.snapshot(NOON).search.run_id == "run-2"


def test_a_run_that_searches_does_not_show_figures_of_the_run_before_it(state):
    step = PaidStep(number=1, env_step=9, reward=1.0)
    state.apply_reading(training_progress(run_id="run-1"), NOON)
    for reading in (
        RewardBreakdown(at=NOON, run_id="run-1", env_step=9, parts={}, total=0.0),
        AssistanceStatus(at=NOON, run_id="run-1", env_steps=9),
        MapPosition(at=NOON, env="env-0", group=0, room=1, x=1, y=2, rooms_visited=1),
        WatchedPay(at=NOON, env="env-0", env_step=9, bin_seconds=0.5),
        PaidSteps(at=NOON, env="env-0", steps=(step,)),
    ):
        state.apply_reading(reading, NOON)
    names = ("reward", "assistance", "map", "pay")
    assert all(getattr(state.snapshot(NOON), name) for name in names)
    state.apply_reading(training_progress(run_id="run-2"), NOON)
    assert not any(getattr(state.snapshot(NOON), name) for name in names)
    assert state.trainer.steps.view(None).kept == 0


def test_an_impossible_reading_is_counted_and_changes_nothing(state):
    outcomes: list[tuple[str, str]] = []
    broadcast = broadcast_of(state, outcomes=outcomes)
    good = search().model_dump_json()
    for payload in (good, good.replace('"sword"', '"<b>\\u0000"'), good[:-9], "[]", ""):
        broadcast.telemetry("telemetry.search", payload.encode())
    broadcast.telemetry("telemetry.curriculum", curriculum().model_dump_json().encode())
    found = [outcome for _, outcome in outcomes]
    assert found == ["used", "invalid", "invalid", "invalid", "invalid", "used"]
    assert state.snapshot(NOON).search.tree[0].marks == ("sword",)
