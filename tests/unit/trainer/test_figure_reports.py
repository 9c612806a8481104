"""Training figures have one format in telemetry, REST and progress.json."""

from datetime import UTC, datetime
from typing import Any

from rlaif.contracts.telemetry.readings import TrainingProgress
from rlaif.contracts.telemetry.run import RunFigures
from rlaif.trainer.run_folder.protocol import MESSAGES, IterationDone, Started
from rlaif.trainer.run_folder.record import RunRecord
from rlaif.trainer.service.api import _view
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.store import progress
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)
FIGURES = RunFigures(
    episodes=3, steps_per_second=2000.0, frames_per_second=70_000.0, trained_seconds=7200.0,
    seconds_left=60.0,
    episode_return_mean=1.5, shaped_return_mean=0.5, episode_length_mean=100.0, rooms_mean=4.0,
    milestone_fraction=0.25, milestones_mean=2.0, milestones=["sword"], potential_mean=0.1,
    segments_captured=8, segments_skipped=2, reward_model_share=0.4,
    paid_share=0.3, paid_advantage_share=0.1,
)  # fmt: skip
DONE = IterationDone(
    **FIGURES.figures(),
    iteration=12, env_steps=1536, reward_parts={}, learner={"entropy": 1.0}, samples_left_out=5,
)  # fmt: skip
UNTIL_NOW = {
    "at", "run_id", "status", "iteration", "env_steps", "episodes", "steps_per_second",
    "episode_return_mean", "shaped_return_mean", "episode_length_mean", "rooms_mean",
    "milestones_mean", "potential_mean", "segments_captured", "segments_skipped",
    "reward_model_version", "reward_model_loaded_at_step", "reward_model_refused",
    "reward_model_refusal", "trouble",
}  # fmt: skip
"""Fields of a reading before all figures were in it; readers of then look for these."""


def state(*messages: Any) -> RunState:
    folded = RunState(run_id="r-1")
    for message in messages:
        folded = folded.after(MESSAGES.validate_json(message.line()))
    return folded


def view(of: RunState) -> dict[str, Any]:
    record = RunRecord(run_id="r-1", created_at=NOW, attempts=1, settings="{}")
    return _view(record, of).model_dump()


def pipeline(of: RunState) -> dict[str, Any]:
    return progress(of, TrainerSettings(), [])


def test_a_failed_build_of_demonstrations_is_an_issue_until_the_next_one_begins() -> None:
    failed = DONE.model_copy(update={"not_built": "exit code 2"})
    issue = state(failed).learning_issue
    assert issue is not None
    assert "exit code 2" in issue
    assert state(failed, DONE).learning_issue is None


def test_every_figure_of_an_iteration_is_in_every_report() -> None:
    after = state(DONE)
    for reported in (after.progress(NOW).model_dump(), view(after), pipeline(after)):
        assert {name: reported[name] for name in RunFigures.model_fields} == FIGURES.figures()
        assert (reported["iteration"], reported["env_steps"]) == (12, 1536)
    assert view(after)["trained_hours"] == pipeline(after)["trained_hours"] == 2.0


def test_before_the_first_iteration_figures_are_not_known() -> None:
    begun = state(Started(env_steps=640, iteration=5, restored_from=None))
    assert {view(begun)[name] for name in RunFigures.model_fields} == {None}
    assert view(begun)["trained_hours"] is None
    reported = pipeline(begun)
    assert reported["episodes"] is None
    assert reported["milestones"] == []
    assert (reported["iteration"], reported["env_steps"]) == (5, 640)


def test_a_reading_keeps_the_shape_that_its_readers_know() -> None:
    begun = state(Started(env_steps=640, iteration=5, restored_from=None)).progress(NOW)
    reported = begun.model_dump()
    assert reported.keys() >= UNTIL_NOW
    assert [reported[count] for count in ("episodes", "segments_captured", "segments_skipped")] == [
        0
    ] * 3
    old = {name: reported[name] for name in UNTIL_NOW}
    assert TrainingProgress.model_validate(old) == begun


def test_a_figure_that_is_no_number_is_unknown_and_ends_nothing() -> None:
    broken = DONE.model_copy(update={"potential_mean": float("nan")})
    assert state(broken).progress(NOW).potential_mean is None
    made = IterationDone(**(DONE.model_dump() | {"seconds_left": float("inf")}))
    assert state(made).progress(NOW).seconds_left is None
