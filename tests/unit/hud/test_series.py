from datetime import UTC, datetime

import pytest

from rlaif.contracts.telemetry import ModelLoad, RunHistory, TrainingProgress
from rlaif.hud.read_model.series import Series, thin, trailing_means

NOON = datetime(2026, 11, 20, 12, tzinfo=UTC)


def test_thinning_keeps_the_newest_point_and_few_others() -> None:
    points = [(step, float(step)) for step in range(1000)]
    kept = thin(points, 100)
    assert len(kept) <= 100
    assert kept[-1] == points[-1]
    assert kept == sorted(kept)


def test_a_short_curve_is_not_thinned() -> None:
    points = [(1, 1.0), (2, 2.0)]
    assert thin(points, 2) == points


def test_a_trailing_mean_starts_with_what_there_is() -> None:
    assert trailing_means([(1, 1.0), (2, 0.0), (3, 0.5)], 2) == [(1, 1.0), (2, 0.5), (3, 0.25)]


def progress(step: int, mean: float | None, **changes: object) -> TrainingProgress:
    values = {"run_id": "run", "status": "training", "iteration": 1, "episodes": 1}
    told = {"at": NOON, "env_steps": step, "episode_return_mean": mean}
    return TrainingProgress.model_validate({**values, **told, **changes})


def history(*points: tuple[int, float], run_id: str = "run", loads: object = ()) -> RunHistory:
    return RunHistory.model_validate(
        {"at": NOON, "run_id": run_id, "episode_return": points, "loads": loads}
    )


def load(version: int, step: int) -> ModelLoad:
    return ModelLoad(version=version, env_step=step, at=NOON)


def test_the_curve_is_the_trainers_history_and_its_newest_reading() -> None:
    series = Series()
    series.history(history((10, 1.0), (20, 2.0)))
    series.progress(progress(25, 2.5))
    assert series.view("run").episode_return == ((10, 1.0), (20, 2.0), (25, 2.5))


def test_the_newest_point_is_what_the_run_says_and_none_lies_after_it() -> None:
    series = Series()
    series.history(history((10, 1.0), (20, 2.0), (30, 3.0)))
    series.progress(progress(15, 1.5))  # it went on from a checkpoint
    assert series.view("run").episode_return == ((10, 1.0), (15, 1.5))


def test_a_new_run_starts_the_curves_again() -> None:
    series = Series()
    series.history(history((5, 1.0), loads=[load(3, 4)]))
    series.progress(progress(1, 2.0, run_id="run-2"))
    assert series.view("run-2").episode_return == ((1, 2.0),)
    assert series.view("run-2").versions == ()


def test_a_version_that_is_loaded_again_leaves_its_old_mark_where_it_was() -> None:
    series = Series()
    series.history(history((5, 1.0), loads=[load(1, 100), load(2, 200)]))
    series.progress(progress(300, 1.0, reward_model_version=1, reward_model_loaded_at_step=250))
    marks = [(mark.version, mark.step) for mark in series.view("run").versions]
    assert marks == [(1, 100), (2, 200), (1, 250)]
    series.history(history((5, 1.0), loads=[load(1, 100), load(2, 200), load(1, 250)]))
    assert len(series.view("run").versions) == 3, "one load that both tell of is one mark"


def test_scores_are_ordered_by_step_and_those_without_a_number_left_out() -> None:
    series = Series(score_window=1)
    for segment, step, weighted in (("b", 20, 0.4), ("a", 10, 0.2), ("c", 30, None)):
        series.scored(segment, "run", weighted)
        series.captured(segment, "run", step)
    assert series.view("run").score_mean == ((10, 0.2), (20, 0.4))


def test_a_score_whose_step_is_not_known_has_no_point() -> None:
    series = Series()
    series.scored("a", "run", 0.5)
    assert series.view("run").score_mean == ()


def test_the_scores_of_another_run_are_not_mixed_in() -> None:
    series = Series()
    series.captured("a", "run-1", 1)
    series.scored("a", "run-1", 0.5)
    assert series.view("run-2").score_mean == ()


@pytest.mark.parametrize("scored", [True, False])
def test_memory_is_bounded(scored: bool) -> None:
    series = Series(keep_scores=100)
    for number in range(5000):
        series.captured(f"s{number}", "run", number)
        if scored:
            series.scored(f"s{number}", "run", 0.5)
    assert len(series._scores) <= 200


def test_a_curve_that_grows_is_told_by_its_new_points() -> None:
    points = [(step, float(step)) for step in range(2000)]
    again = 0
    for count in range(300, 1999):
        before, after = thin(points[:count], 300), thin(points[: count + 1], 300)
        assert len(after) <= 301
        assert after[-1] == points[count]
        again += before[:-1] != after[: len(before) - 1]
    assert again == 3, "at 301, 601 and 1,201 points every second one goes"
