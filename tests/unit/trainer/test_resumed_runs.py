"""Which run a trainer resumes by itself: of its game, and of its kind."""

from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import pytest

from rlaif.trainer.run_folder.record import RunRecord, begin_attempt, continues
from rlaif.trainer.settings import TrainerSettings

OWN = "seedling-vale"


def of(
    game: str | None = OWN, mode: str = "pipeline", overrides: dict[str, Any] | None = None
) -> RunRecord:
    return RunRecord(
        run_id="r1", created_at=datetime(2026, 3, 1, tzinfo=UTC), attempts=0, settings="{}",
        game=game, mode=mode, overrides=overrides or {},
    )  # fmt: skip


PIPELINE = TrainerSettings(mode="pipeline")
QUEST = TrainerSettings.model_validate({"mode": "quest"})


@pytest.mark.parametrize(
    ("settings", "record", "is_resumed"),
    [
        (PIPELINE, of(), True),
        (PIPELINE, of(mode="continuous"), True),
        (PIPELINE, of(game=None), True),  # of 0.1.0
        (PIPELINE, of(game="world-7-60"), False),
        (PIPELINE, of(game="world-7-60", overrides={"rom_path": "world.gbc"}), True),
        (PIPELINE, of(game="worlds 1-4", overrides={"worlds": "1-4"}), True),
        (PIPELINE, of(mode="evaluation"), False),
        (PIPELINE, of(mode="quest"), False),  # make train-cartridge
        (PIPELINE, of(mode="quest", overrides={"mode": "quest"}), True),  # POST /api/v1/runs
        (QUEST, of(mode="quest"), True),
        (QUEST, of(), False),
    ],
)
def test_a_run_of_the_same_game_and_kind_is_resumed(
    settings: TrainerSettings, record: RunRecord, is_resumed: bool
) -> None:
    assert continues(record, settings) is is_resumed


def test_a_run_whose_rom_cannot_be_read_is_resumed_so_that_it_is_reported(tmp_path: Path) -> None:
    settings = TrainerSettings.model_validate({"rom_path": tmp_path / "missing.gbc"})
    assert continues(of(), settings)


def test_the_game_of_a_run_is_recorded(tmp_path: Path) -> None:
    settings = TrainerSettings(data_dir=tmp_path)
    record = RunRecord.read(begin_attempt(tmp_path, "r1", settings, datetime.now(UTC)))
    assert record.game == OWN
    assert continues(record, settings)
