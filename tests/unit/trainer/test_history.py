"""What a run went through, kept beside its record and told to the page."""

import asyncio
import json
from datetime import UTC, datetime, timedelta
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
from rlaif.trainer.service.runs.history import MOST_LOADS, HistoryLog

NOW = datetime(2026, 1, 2, tzinfo=UTC)


def iteration(step: int) -> IterationDone:
    return IterationDone(
        iteration=1, env_steps=step, episodes=1, steps_per_second=1.0, episode_return_mean=1.0,
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
    log.note(RewardModelLoaded(version=1, env_step=500), NOW)
    assert loads(HistoryLog("run", tmp_path)) == loads(log) == [(1, 500)]


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
    assert loads(HistoryLog("run", tmp_path)) == loads(log), (
        "nor does a second restart bring it back"
    )


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


def test_a_damaged_file_costs_what_was_in_it_and_nothing_else(tmp_path: Path) -> None:
    (tmp_path / "history.json").write_text("[" * 10_000)
    log = HistoryLog("run", tmp_path)
    log.note(RewardModelLoaded(version=1, env_step=100), NOW)
    assert loads(HistoryLog("run", tmp_path)) == [(1, 100)]


def test_a_file_of_an_older_release_keeps_its_loads(tmp_path: Path) -> None:
    """It has a curve of the return, too; the past is told by events since then."""
    log = HistoryLog("run", tmp_path)
    log.note(RewardModelLoaded(version=1, env_step=100), NOW)
    file = tmp_path / "history.json"
    curve = {"most": 300, "kept": [[50, 1.0]], "newest": [50, 1.0], "stride": 1, "added": 1}
    file.write_text(json.dumps(json.loads(file.read_text()) | {"episode_return": curve}))
    assert loads(HistoryLog("run", tmp_path)) == [(1, 100)]


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
