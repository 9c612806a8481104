"""The report on a run that can be resumed."""

from datetime import UTC, datetime
from pathlib import Path

from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.checkpoints import saved_run
from rlaif.trainer.run_folder.quest_record import QuestRecord
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt
from rlaif.trainer.settings import TrainerSettings

NOW = datetime(2026, 3, 1, tzinfo=UTC)


def begin(data_dir: Path, run_id: str, *, mode: str = "continuous") -> RunRecord:
    settings = TrainerSettings.model_validate({"data_dir": data_dir, "mode": mode})
    return RunRecord.read(begin_attempt(data_dir, run_id, settings, NOW))


def save(data_dir: Path, record: RunRecord, iteration: int) -> None:
    manifest = checkpoints.Manifest(
        run_id=record.run_id, attempt=0, created_at=NOW, hidden=8, rom_sha256="ab" * 32,
        record=record,
        counters=checkpoints.Counters(iteration=iteration, env_steps=1000 * iteration),
    )  # fmt: skip
    folder = data_dir / "runs" / record.run_id / "checkpoints"
    checkpoints.commit(checkpoints.begin(folder, iteration), manifest)


def test_the_newest_checkpoint_counts(tmp_path: Path):
    record = begin(tmp_path, "r-1")
    assert "r-1: nothing is saved" in saved_run(tmp_path, "r-1").words
    for iteration in (7, 12):
        save(tmp_path, record, iteration)
    found = saved_run(tmp_path, "r-1")
    assert found.env_steps == 12_000
    assert "r-1: iteration 12 is saved, 12,000 steps" in found.words


def test_a_search_that_was_cut_is_reported(tmp_path: Path):
    begin(tmp_path, "r-1", mode="quest")
    QuestRecord(search_seconds=90).write(tmp_path / "runs" / "r-1")
    assert "1.5 minutes of search are saved" in saved_run(tmp_path, "r-1").words
