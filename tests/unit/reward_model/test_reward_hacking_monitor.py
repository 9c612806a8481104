"""An alarm is raised when the potential rises and RAM progress is flat or judges' scores fall."""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.reward_models import GamingReason
from rlaif.contracts.telemetry.readings import TrainingProgress
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def monitor_of(iterations=20, episodes=5):
    return RewardHackingMonitor(window_iterations=iterations, window_episodes=episodes)


def progress(iteration, model_return, milestones, **changes):
    return TrainingProgress(
        **{
            "at": NOW,
            "run_id": "run-1",
            "status": "training",
            "iteration": iteration,
            "env_steps": 100 * iteration,
            "episodes": iteration,
            "potential_mean": model_return,
            "milestones_mean": milestones,
            "reward_model_version": 3,
        }
        | changes
    )


def alarms(returns, milestones, judged=(), **changes):
    monitor = monitor_of()
    found = [
        monitor.observe(progress(index, float(up), float(true), **changes), judged)
        for index, (up, true) in enumerate(zip(returns, milestones, strict=True))
    ]
    return [alarm for alarm in found if alarm]


NOISE = np.random.default_rng(0).normal(0, 0.01, 30)
RISING, FLAT = np.linspace(0, 0.6, 30) + NOISE, np.full(30, 2.0) + NOISE


def test_a_return_that_rises_over_a_game_that_stands_still_is_an_alarm():
    (first, *_) = alarms(RISING, FLAT)
    assert (first.version, first.run_id, first.iteration) == (3, "run-1", 19)
    assert 0.3 < first.rise < 0.5
    assert first.reasons == (GamingReason.RAM_PROGRESS_FLAT,)


@pytest.mark.parametrize(
    ("returns", "milestones"),
    [(RISING, np.linspace(2, 4, 30)), (FLAT, FLAT), (RISING[::-1], FLAT), (NOISE * 30, FLAT)],
    ids=["the game gets on too", "nothing rises", "the return falls", "only noise"],
)
def test_otherwise_it_is_quiet(returns, milestones):
    assert alarms(returns, milestones) == []


def test_returns_of_two_versions_are_not_compared():
    monitor = monitor_of()
    for index in range(30):
        version = 1 if index < 15 else 2
        # Within a version nothing rises; between them the scale changes.
        assert (
            monitor.observe(progress(index, float(version), 2.0, reward_model_version=version))
            is None
        )


def test_a_rise_under_every_version_adds_up_however_they_are_scaled():
    monitor = monitor_of()
    barked = [
        monitor.observe(
            progress(i, float(NOISE[i]) + 0.03 * (i % 6), 2.0, reward_model_version=1 + i // 6)
        )
        for i in range(30)
    ]
    assert any(barked)


def test_a_return_that_wanders_does_not_rise():
    """Iterations share running episodes: neighbours are alike, and noise looks like a trend."""
    alarms = 0
    for seed in range(50):
        noise = np.random.default_rng(seed).normal(size=120)
        wandering = np.zeros(120)
        for i in range(1, 120):
            wandering[i] = 0.9 * wandering[i - 1] + 0.1 * noise[i]
        monitor = monitor_of(100, 20)
        alarms += any(
            monitor.observe(progress(i, float(wandering[i]), 2.0, reward_model_version=1 + i // 40))
            for i in range(120)
        )
    assert alarms <= 2


def test_a_repeated_reading_counts_once():
    monitor = monitor_of()
    for _ in range(50):
        monitor.observe(progress(1, 0.5, 2.0))
    assert monitor.iterations == 1


@pytest.mark.parametrize(
    "missing",
    [
        {"reward_model_version": None},
        {"potential_mean": None},
        {"milestones_mean": None},
    ],
)
def test_readings_that_say_too_little_say_nothing(missing):
    assert alarms(RISING, FLAT, **missing) == []


@pytest.mark.parametrize("shown", ["rooms_mean", "episode_return_mean"])
def test_a_game_that_gets_on_in_any_way_is_not_gamed(shown):
    monitor = monitor_of()
    for index, up in enumerate(RISING):
        monitor.observe(progress(index, float(up), 0.0, **{shown: 1.0 + 0.1 * index}))
    assert monitor.alarms == 0


def test_it_waits_until_episodes_have_ended_that_can_show_something():
    """Means of the last 100 episodes stand still while episodes of 30,000 steps are played."""
    monitor = monitor_of()
    for index in range(60):
        ended = progress(index, index * 0.05, 0.0, episodes=index // 10)
        assert monitor.observe(ended) is None
    late = [monitor.observe(progress(index, index * 0.05, 0.0)) for index in range(60, 64)]
    assert any(late)


def test_shaping_and_rooms_stand_in_for_a_trainer_that_tells_no_more():
    monitor = monitor_of()
    for index, up in enumerate(RISING):
        told = progress(index, None, None, shaped_return_mean=float(up), rooms_mean=3.0)
        monitor.observe(told)
    assert monitor.alarms == 1


def judged_episodes(make, before, after, *, run_id="run-1", each=60):
    """One segment per episode over the steps of the window."""
    (template, *_) = make(episodes=1, each=1, signal=True)
    steps = np.linspace(0, 2900, each)
    return [
        replace(
            template,
            run_id=run_id,
            episode_id=f"episode-{at}",
            env_step=int(step),
            values={"progress": before if step < 1000 else after},
            weights={"progress": 1.0},
        )
        for at, step in enumerate(steps)
    ]


RISING_GAME = np.linspace(2, 4, 30)


def test_scores_of_the_judges_that_fall_are_a_reason_although_the_game_gets_on(labels):
    (first, *_) = alarms(RISING, RISING_GAME, judged_episodes(labels, 0.8, 0.3, each=90))
    assert first.reasons == (GamingReason.JUDGES_SCORES_FALL,)


@pytest.mark.parametrize(
    "judged",
    [
        {"before": 0.3, "after": 0.8},
        {"before": 0.5, "after": 0.5},
        {"before": 0.8, "after": 0.3, "run_id": "another"},
        {"before": 0.8, "after": 0.3, "each": 20},
    ],
    ids=["they rise", "they stay", "of another run", "too few"],
)
def test_other_scores_raise_no_alarm(judged, labels):
    judged.setdefault("each", 90)
    assert alarms(RISING, RISING_GAME, judged_episodes(labels, **judged)) == []
