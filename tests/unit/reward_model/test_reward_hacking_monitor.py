"""An alarm is raised when the potential rises and RAM progress is flat or judges' scores fall.

All of it comes from the stored history of the live run.
"""

from dataclasses import replace
from datetime import UTC, datetime

import numpy as np
import pytest

from rlaif.contracts.events import ChampionChanged
from rlaif.contracts.model import MAX_COUNT
from rlaif.contracts.reward_models import Champion, GamingReason
from rlaif.contracts.run_points import EndedEpisodes
from rlaif.reward_model.champions.reward_hacking_monitor import RewardHackingMonitor
from rlaif.testing.data.events import run_iterated, run_started

NOW = datetime(2026, 1, 2, tzinfo=UTC)
STEP = 100
NOISE = np.random.default_rng(0).normal(0, 0.01, 30)
RISING, FLAT = np.linspace(0, 0.6, 30) + NOISE, np.full(30, 2.0) + NOISE
RISING_GAME = np.linspace(2, 4, 30)


def monitor_of(iterations=20, episodes=5, activation=1):
    monitor = RewardHackingMonitor(window_iterations=iterations, window_episodes=episodes)
    monitor.changed(change(activation))
    return monitor


def change(activation):
    return ChampionChanged(version=3, activation=activation, why="gate", changed_at=NOW)


def champion(version=3, activation=1):
    return Champion(
        version=version, activation=activation, manifest_key="m", model_key="k",
        model_sha256="a" * 64,
    )  # fmt: skip


def episodes(figure, count=1, **columns):
    """Episodes whose figures are all this one, unless `columns` says otherwise."""
    values = {
        "began": (0,), "gained": (None,), "rooms": (3,), "returns": (figure,), "shaped": (0.0,),
        "lengths": (10,), "died": (None,),
    } | columns  # fmt: skip
    return EndedEpisodes(count=count, **{name: row * count for name, row in values.items()})


def point(index, potential, game, **changes):
    made = run_iterated(STEP * index, STEP * (index + 1))
    values = {
        "potential_mean": potential,
        "reward_model_version": 3,
        "episodes": episodes(float(game)),
    }
    return made.model_copy(update=values | changes)


def fed(monitor, points, *, live=None, judged=()):
    """The alarms that these points raise."""
    live = live or champion()
    found = [monitor.iterated(each, live, judged) for each in points]
    return [alarm for alarm in found if alarm]


def points(potentials, game, **changes):
    return [
        point(index, float(up), true, **changes)
        for index, (up, true) in enumerate(zip(potentials, game, strict=True))
    ]


def alarms(potentials, game, judged=(), **changes):
    return fed(monitor_of(), points(potentials, game, **changes), judged=judged)


def test_a_potential_that_rises_over_a_game_that_stands_still_is_an_alarm():
    (first, *_) = alarms(RISING, FLAT)
    assert (first.version, first.run_id, first.env_step) == (3, "run-1", 20 * STEP)
    assert 0.3 < first.rise < 0.5
    assert first.reasons == (GamingReason.RAM_PROGRESS_FLAT,)


@pytest.mark.parametrize(
    ("potentials", "game"),
    [(RISING, RISING_GAME), (FLAT, FLAT), (RISING[::-1], FLAT), (NOISE * 30, FLAT)],
    ids=["the game gets on too", "nothing rises", "the potential falls", "only noise"],
)
def test_otherwise_it_is_quiet(potentials, game):
    assert alarms(potentials, game) == []


def test_potentials_of_two_versions_are_not_compared():
    """Within a version nothing rises; between them the scale changes."""
    monitor = monitor_of()
    for index in range(30):
        version = 1 if index < 15 else 2
        made = point(index, float(version), 2.0, reward_model_version=version)
        assert monitor.iterated(made, champion(version)) is None


def test_a_rise_under_every_version_adds_up_however_they_are_scaled():
    monitor = monitor_of()
    assert any(
        monitor.iterated(
            point(i, float(NOISE[i]) + 0.03 * (i % 6), 2.0, reward_model_version=1 + i // 6),
            champion(1 + i // 6),
        )
        for i in range(30)
    )


def test_a_potential_that_wanders_does_not_rise():
    """Iterations share running episodes: neighbours are alike, and noise looks like a trend."""
    alarms = 0
    for seed in range(50):
        noise = np.random.default_rng(seed).normal(size=120)
        wandering = np.zeros(120)
        for i in range(1, 120):
            wandering[i] = 0.9 * wandering[i - 1] + 0.1 * noise[i]
        monitor = monitor_of(100, 20)
        alarms += any(
            monitor.iterated(
                point(i, float(wandering[i]), 2.0, reward_model_version=1 + i // 40),
                champion(1 + i // 40),
            )
            for i in range(120)
        )
    assert alarms <= 2


def test_a_point_that_comes_twice_counts_once():
    monitor = monitor_of()
    made = points(RISING, FLAT)[:5]
    fed(monitor, [*made, *made, made[0]])
    assert monitor.iterations == 5


@pytest.mark.parametrize(
    "missing",
    [
        {"reward_model_version": None},
        {"potential_mean": None},
        {"episodes": EndedEpisodes(count=1, began=(), gained=(), rooms=(), returns=())},
    ],
    ids=["no model", "no potential", "no figures"],
)
def test_points_that_say_too_little_say_nothing(missing):
    assert alarms(RISING, FLAT, **missing) == []


@pytest.mark.parametrize("figure", ["gained", "rooms", "returns"])
def test_a_game_that_gets_on_in_any_way_is_not_gamed(figure):
    still = {"gained": (0,), "rooms": (3,), "returns": (0.0,)}
    made = [
        point(i, float(up), 0.0, episodes=episodes(0.0, **still | {figure: (10 + i,)}))
        for i, up in enumerate(RISING)
    ]
    assert fed(monitor_of(), made) == []


def test_it_waits_until_episodes_have_ended_that_can_show_something():
    """Nothing can be seen of the game while episodes of 30,000 steps are played."""
    monitor = monitor_of()
    none = EndedEpisodes()
    slow = [
        point(i, i * 0.05, 0.0, **({} if i % 10 == 0 else {"episodes": none})) for i in range(60)
    ]
    assert fed(monitor, slow) == []
    assert fed(monitor, [point(i, i * 0.05, 0.0) for i in range(60, 66)])


# What may not move it.


@pytest.mark.parametrize(
    ("live", "activation"),
    [(champion(version=2), 1), (champion(activation=7), 1), (champion(), None)],
    ids=["another version is live", "it was activated later", "unknown when it was activated"],
)
def test_what_came_before_the_champion_was_activated_raises_no_alarm(live, activation):
    """The history is read from its start after every restart of the service."""
    monitor = RewardHackingMonitor(window_iterations=20, window_episodes=5)
    if activation is not None:
        monitor.changed(change(activation))
    assert fed(monitor, points(RISING, FLAT), live=live) == []
    monitor.changed(change(live.activation))
    assert monitor.alarm is None


def test_an_alarm_is_raised_after_a_restart_if_the_champion_is_still_live():
    made = points(RISING, FLAT)
    assert fed(monitor_of(), made)
    assert fed(monitor_of(), made), "the same history, read again"


def test_no_point_of_another_run_or_attempt_clears_the_window():
    monitor = monitor_of()
    monitor.started(run_started(attempt=1))
    found = []
    for each in points(RISING, FLAT, attempt=1):
        for other in ({"run_id": "made-up"}, {"attempt": 0}, {"attempt": 9}):
            monitor.iterated(each.model_copy(update=other), champion())
        found += fed(monitor, [each])
    assert found


def test_a_made_up_run_that_never_started_raises_no_alarm():
    monitor = monitor_of()
    monitor.started(run_started())
    assert fed(monitor, points(RISING, FLAT, run_id="made-up")) == []


@pytest.mark.parametrize(
    "forged",
    [
        {"since_step": 0, "env_step": MAX_COUNT},
        {"since_step": 10 * STEP, "env_step": MAX_COUNT},
        {"potential_mean": 1e308},
        {"potential_mean": -1e308},
        {"episodes": episodes(1e308)},
        {"episodes": episodes(-1e308, 2, gained=(MAX_COUNT,), rooms=(MAX_COUNT,))},
    ],
)
def test_an_absurd_point_raises_nothing_and_silences_nothing(forged):
    monitor = monitor_of()
    monitor.started(run_started())
    made = points(RISING, FLAT)
    absurd = made[10].model_copy(update=forged)
    more = [point(i, 0.02 * i, 2.0) for i in range(30, 80)]
    assert fed(monitor, [*made[:10], absurd, *made[10:], *more])


def test_points_that_are_all_absurd_raise_no_error():
    huge = np.full(30, 1e308) * np.resize([1, -1], 30)
    assert alarms(huge, huge) == []


def test_a_resumed_run_continues_from_its_checkpoint():
    """What came after the checkpoint is void, and is played again."""
    monitor = monitor_of()
    monitor.started(run_started())
    fed(monitor, points(RISING, FLAT)[:18])
    monitor.started(run_started(10 * STEP, attempt=1))
    assert monitor.iterations == 10
    assert fed(monitor, points(RISING, FLAT, attempt=1)[10:])


def test_a_gap_begins_a_new_window():
    monitor = monitor_of()
    made = points(RISING, FLAT)
    fed(monitor, [*made[:15], made[17]])
    assert monitor.iterations == 1


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
