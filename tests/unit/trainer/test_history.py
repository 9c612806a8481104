"""What a run went through, kept beside its record and told to the page."""

import asyncio
from datetime import UTC, datetime, timedelta
from itertools import pairwise
from pathlib import Path
from typing import Any

from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import (
    CurriculumTold,
    IterationDone,
    RewardModelLoaded,
    RewardModelRefused,
    SearchTold,
    Started,
)
from rlaif.trainer.run_folder.telling import curriculum_figures
from rlaif.trainer.service.live import LiveView
from rlaif.trainer.service.runs.history import MOST_LOADS, MOST_POINTS, Curve, HistoryLog

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def iteration(step: int, mean: float | None = 1.0) -> IterationDone:
    return IterationDone(
        iteration=1, env_steps=step, episodes=1, steps_per_second=1.0, episode_return_mean=mean,
        shaped_return_mean=None, episode_length_mean=None, rooms_mean=None, segments_captured=0,
        segments_skipped=0, reward_parts={}, learner={},
    )  # fmt: skip


def started(step: int) -> Started:
    return Started(env_steps=step, iteration=0, restored_from=None)


def loads(log: HistoryLog) -> list[tuple[int, int]]:
    return [(load.version, load.env_step) for load in log.reading(NOW).loads]


def test_each_load_is_kept_also_of_a_version_that_comes_again(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    for version, step in ((1, 100), (2, 200), (1, 300)):
        log.note(RewardModelLoaded(version=version, env_step=step), NOW)
    assert loads(log) == [(1, 100), (2, 200), (1, 300)]


def test_a_restarted_trainer_has_the_history_of_its_run(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    for step in range(100, 600, 100):
        log.note(iteration(step, step / 100), NOW + timedelta(seconds=step))
    log.note(RewardModelLoaded(version=1, env_step=500), NOW)
    again = HistoryLog("run", tmp_path)
    assert again.reading(NOW) == log.reading(NOW)
    assert again.reading(NOW).episode_return[-1] == (500, 5.0)


def searched(frames: int, *, running: bool = True) -> SearchTold:
    return SearchTold(
        running=running, frames=frames, seconds=frames / 30_000, workers=2, nodes=9, level=2.5,
        marks=4,
    )  # fmt: skip


def test_what_a_search_found_is_there_after_a_restart(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    assert (log.search, log.curriculum) == (None, None)
    log.note(searched(1000), NOW)
    log.note(searched(2000), NOW + timedelta(seconds=1))
    assert HistoryLog("run", tmp_path).search == searched(1000), "it is not written every second"
    log.note(searched(3000, running=False), NOW + timedelta(seconds=2))
    assert HistoryLog("run", tmp_path).search == searched(3000, running=False)
    figures = curriculum_figures("backward", [], power_on_share=1.0, demonstrations=0)
    told = CurriculumTold(**dict(figures))
    log.note(told, NOW + timedelta(minutes=1))
    assert HistoryLog("run", tmp_path).curriculum == told


def test_a_run_that_goes_on_from_a_checkpoint_has_not_lived_what_came_after_it(
    tmp_path: Path,
) -> None:
    log = HistoryLog("run", tmp_path)
    log.note(started(0), NOW)
    for step in (100, 200, 300):
        log.note(iteration(step), NOW)
        log.note(RewardModelLoaded(version=step // 100, env_step=step), NOW)
    log.note(started(200), NOW)
    assert loads(log) == [(1, 100), (2, 200)]
    assert [step for step, _ in log.reading(NOW).episode_return] == [100, 200]
    log.note(iteration(250, 2.0), NOW)
    assert log.reading(NOW).episode_return[-1] == (250, 2.0)


def test_a_model_that_counts_again_after_a_broken_one_is_a_load(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    log.note(RewardModelLoaded(version=1, env_step=100), NOW)
    log.note(RewardModelLoaded(version=2, env_step=200), NOW)
    log.note(iteration(300), NOW)
    broken = RewardModelRefused(version=2, reason="not_finite: NaN", rolled_back=True, counts=1)
    log.note(broken, NOW)
    assert loads(log) == [(1, 100), (2, 200), (1, 300)]
    log.note(RewardModelRefused(version=3, reason="hash_mismatch"), NOW)
    assert len(loads(log)) == 3, "a file that did not load changes nothing"


def test_an_unknown_mean_leaves_no_point(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    log.note(iteration(100, None), NOW)
    assert log.reading(NOW).episode_return == ()


def test_a_damaged_file_costs_the_curve_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "history.json").write_text("[" * 10_000)
    log = HistoryLog("run", tmp_path)
    log.note(iteration(100), NOW)
    assert HistoryLog("run", tmp_path).reading(NOW).episode_return == ((100, 1.0),)


def test_a_disk_that_takes_nothing_costs_the_file_and_not_the_run(tmp_path: Path) -> None:
    directory = tmp_path / "run"
    directory.write_text("a file where the run's folder should be")
    log = HistoryLog("run", directory)
    log.note(RewardModelLoaded(version=1, env_step=1), NOW)
    assert loads(log) == [(1, 1)]
    directory.unlink()
    log.note(RewardModelLoaded(version=2, env_step=2), NOW)
    assert loads(HistoryLog("run", directory)) == [(1, 1), (2, 2)]


def test_a_long_run_costs_as_much_as_a_short_one(tmp_path: Path) -> None:
    log = HistoryLog("run", tmp_path)
    for step in range(1, 10_001):
        log.note(iteration(step), NOW)
        if step % 50 == 0:
            log.note(RewardModelLoaded(version=step, env_step=step), NOW)
    told = log.reading(NOW)
    assert len(told.loads) == MOST_LOADS
    assert told.loads[-1].version == 10_000
    assert len(told.episode_return) <= MOST_POINTS
    assert told.episode_return[-1][0] == 10_000
    assert len(told.model_dump_json()) < 32_000, "a reading must stay small"


class Sent:
    """Keeps what was sent."""

    def __init__(self) -> None:
        self.readings: list[Any] = []

    async def send(self, reading: Any) -> None:
        self.readings.append(reading)

    async def send_bytes(self, subject: str, payload: bytes) -> None:
        raise AssertionError(subject)


async def test_the_history_is_told_to_whoever_watches(tmp_path: Path) -> None:
    log, sent = HistoryLog("run", tmp_path), Sent()
    log.note(RewardModelLoaded(version=1, env_step=500), NOW)
    view = LiveView(sent, lambda: None, lambda: None, lambda: log.reading(NOW), lambda: [], fps=0)
    telling = asyncio.create_task(view.run())
    await eventually(lambda: log.reading(NOW) in sent.readings, "the history")
    telling.cancel()
    await asyncio.gather(telling, return_exceptions=True)


def test_a_curve_is_evenly_spaced() -> None:
    curve = Curve(most=50)
    for step in range(10_000):
        curve.add(step, 1.0)
    points = curve.points()
    assert len(points) <= 50
    assert points[0][0] < 400
    gaps = [later[0] - earlier[0] for earlier, later in pairwise(points[:-1])]
    assert max(gaps) <= 2 * min(gaps)


def test_a_point_before_the_newest_ones_takes_their_place() -> None:
    curve = Curve()
    for step in (10, 20, 30, 15):
        curve.add(step, float(step))
    assert curve.points() == [(10, 10.0), (15, 15.0)]
