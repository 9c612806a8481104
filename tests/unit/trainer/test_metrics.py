"""What the trainer shows of its run to Prometheus."""

import pytest

from rlaif.contracts.telemetry.curriculum import CurriculumSegment
from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.run_folder.protocol import (
    EvaluationFailed,
    EvaluationStarted,
    IterationDone,
    PartFigures,
    SearchReport,
)
from rlaif.trainer.run_folder.search_report import curriculum_report
from rlaif.trainer.service.metrics import TrainerMetrics
from rlaif.trainer.service.runs.manager import RunManager
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings


@pytest.fixture
def metrics() -> ServiceMetrics:
    return ServiceMetrics("trainer")


def done(**figures) -> IterationDone:
    basics = {"iteration": 1, "env_steps": 10, "episodes": 1, "steps_per_second": 5.0}
    counts = {"segments_captured": 0, "segments_skipped": 0}
    return IterationDone(**basics, **counts, reward_parts={}, learner={}, **figures)


def test_figures_of_play_are_shown_by_what_pays(metrics) -> None:
    shown = metrics.registry.get_sample_value
    TrainerMetrics(metrics).iterated(
        done(rooms_mean=7.5, episode_return_mean=3.0, shaped_return_mean=0.5, potential_mean=0.25),
        reward_model_version=2,
    )
    assert shown("rlaif_trainer_rooms_per_episode") == 7.5
    assert shown("rlaif_trainer_episode_return", {"part": "game"}) == 3.0
    assert shown("rlaif_trainer_episode_return", {"part": "shaping"}) == 0.5
    assert shown("rlaif_trainer_potential_mean") == 0.25


def test_a_part_without_statistics_and_a_withdrawn_model_are_not_shown(metrics) -> None:
    shown, read = TrainerMetrics(metrics), metrics.registry.get_sample_value
    part = PartFigures(sum=1.0, mean=0.5, std=0.0, share=None, advantage_share=None)
    shown.iterated(done(reward_statistics={"game": part, "shaping": part}), reward_model_version=2)
    assert read("rlaif_trainer_reward_model_version") == 2
    assert read("rlaif_trainer_reward_share", {"part": "game"}) is None, "unknown"
    shown.iterated(done(reward_statistics={"game": part}), reward_model_version=None)
    assert read("rlaif_trainer_reward_model_version") == 0
    assert read("rlaif_trainer_reward_mean", {"part": "game"}) == 0.5
    assert read("rlaif_trainer_reward_mean", {"part": "shaping"}) is None


def test_another_run_has_none_of_the_figures_of_the_last_one(metrics) -> None:
    shown, read = TrainerMetrics(metrics), metrics.registry.get_sample_value
    figures = {"milestone_fraction": 0.5, "shaped_return_mean": 1.0, "selected_by": {"uniform": 3}}
    shown.iterated(done(**figures), reward_model_version=2)
    shown.forget_run()
    assert read("rlaif_trainer_milestone_fraction") == read("rlaif_trainer_env_steps") == 0
    assert read("rlaif_trainer_reward_model_version") == 0
    assert read("rlaif_trainer_episode_return", {"part": "shaping"}) is None
    assert read("rlaif_trainer_segments_selected", {"by": "uniform"}) is None


def test_a_search_shows_what_it_found_and_that_it_is_over(metrics) -> None:
    shown, read = TrainerMetrics(metrics), metrics.registry.get_sample_value
    reported = SearchReport(
        running=True, frames=5_000_000, seconds=120.0, found_seconds=90.0, workers=2, nodes=800,
        level=6.5, marks=14,
    )  # fmt: skip
    shown.searched(reported)
    assert read("rlaif_trainer_search_running") == 1
    assert read("rlaif_trainer_search_frames") == 5_000_000
    assert read("rlaif_trainer_search_level") == 6.5
    assert read("rlaif_trainer_search_seconds") - read("rlaif_trainer_search_found_seconds") == 30
    shown.searched(reported.model_copy(update={"running": False, "workers": 0}))
    assert read("rlaif_trainer_search_running") == 0
    assert read("rlaif_trainer_search_marks") == 14


def test_a_curriculum_shows_its_frontiers_and_keeps_a_mean_that_is_not_known(metrics) -> None:
    shown, read = TrainerMetrics(metrics), metrics.registry.get_sample_value
    segments = [
        CurriculumSegment(
            demonstration=0, from_mark=None, to_mark="m", frontier=at, success=success, tries=5
        )
        for at, success in ((0.0, 1.0), (0.8, None), (0.4, 0.5))
    ]
    for each in (segments, []):
        shown.curriculum(curriculum_report("backward", each, power_on_share=0.02, demonstrations=2))
        assert read("rlaif_trainer_curriculum_frontier_mean") == pytest.approx(0.4)
        assert read("rlaif_trainer_curriculum_success_mean") == 0.75
        assert read("rlaif_trainer_curriculum_segments", {"state": "mastered"}) == bool(each)


async def test_an_evaluation_is_shown_until_it_ends_or_its_process_does(metrics, tmp_path) -> None:
    def evaluating() -> float | None:
        return metrics.registry.get_sample_value("rlaif_trainer_evaluation_in_progress")

    settings = TrainerSettings(data_dir=tmp_path)
    runs = RunManager(settings, metrics)
    assert evaluating() == 0
    runs._current = current = RunSupervisor(settings, "r")
    during = current.state.after(EvaluationStarted())
    for after in (during.after(EvaluationFailed(epoch=1, reason="x")), during.of_attempt(1)):
        current.state = during
        assert evaluating() == 1
        current.state = after
        assert evaluating() == 0
