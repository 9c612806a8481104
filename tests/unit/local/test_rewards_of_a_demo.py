"""Rewards of a demo: chosen by the user, those of its newest run, or the default."""

from datetime import UTC, datetime, timedelta
from pathlib import Path

import pytest

from rlaif.local.rewards import (
    REWARDS,
    OtherGameError,
    check_game,
    default_rewards,
    pipeline_runs,
)
from rlaif.trainer.run_folder.record import begin_attempt
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 11, 1, tzinfo=UTC)


def run(folder: Path, run_id: str, preset: str, *, mode: str = "pipeline", hours: int = 0) -> None:
    settings = TrainerSettings.model_validate({"mode": mode, "reward_preset": preset})
    begin_attempt(folder, run_id, settings, NOW + timedelta(hours=hours))


def test_a_new_demo_learns_from_the_judges(tmp_path):
    assert default_rewards(pipeline_runs(tmp_path), None, None, None) == "judges"
    assert REWARDS["judges"]["TRAINER_REWARD_PRESET"] == "novelty"


@pytest.mark.parametrize(("preset", "name"), [("novelty", "judges"), ("default", "game")])
def test_a_demo_keeps_the_rewards_of_its_newest_run(tmp_path, preset, name):
    run(tmp_path, "old", "novelty" if name == "game" else "default")
    run(tmp_path, "new", preset, hours=1)
    run(tmp_path, "trained-by-train-cartridge", "seed", mode="quest", hours=2)
    assert default_rewards(pipeline_runs(tmp_path), None, None, None) == name
    assert default_rewards(pipeline_runs(tmp_path), "control", None, None) == name
    assert default_rewards(pipeline_runs(tmp_path), "old", None, None) != name


def test_the_mock_llm_does_not_judge_a_game_that_it_does_not_know(tmp_path):
    rom = tmp_path / "world.gbc"
    assert default_rewards(pipeline_runs(tmp_path), None, rom, None) == "game"
    assert (
        default_rewards(pipeline_runs(tmp_path), None, rom, "http://127.0.0.1:8000/v1") == "judges"
    )
    (tmp_path / "world.json").touch()  # a generated world
    assert default_rewards(pipeline_runs(tmp_path), None, rom, None) == "judges"


def test_a_demo_of_another_game_needs_a_data_directory_of_its_own(tmp_path):
    check_game(tmp_path, pipeline_runs(tmp_path), "world-7-30")
    run(tmp_path, "r-1", "novelty")
    check_game(tmp_path, pipeline_runs(tmp_path), "seedling-vale")
    with pytest.raises(OtherGameError):
        check_game(tmp_path, pipeline_runs(tmp_path), "world-7-30")
