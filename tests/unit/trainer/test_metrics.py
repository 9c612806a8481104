"""What the trainer shows of its run to Prometheus."""

import pytest

from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.run_folder.protocol import IterationDone
from rlaif.trainer.service.metrics import TrainerMetrics


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


def test_a_figure_that_is_not_known_keeps_the_last_one(metrics) -> None:
    shown = TrainerMetrics(metrics)
    shown.iterated(done(rooms_mean=7.5), reward_model_version=None)
    shown.iterated(done(), reward_model_version=None)
    assert metrics.registry.get_sample_value("rlaif_trainer_rooms_per_episode") == 7.5


def test_a_run_that_ends_is_no_longer_in_progress(metrics) -> None:
    runs = {"alive": True, "attempt": 3}
    TrainerMetrics(metrics).watch(lambda: bool(runs["alive"]), lambda: runs["attempt"])
    read = metrics.registry.get_sample_value
    assert read("rlaif_trainer_run_in_progress") == 1
    assert read("rlaif_trainer_run_attempt") == 3
    runs["alive"] = False
    assert read("rlaif_trainer_run_in_progress") == 0
