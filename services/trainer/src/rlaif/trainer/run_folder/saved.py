"""What of a run can be resumed: its folder in, words for people out."""

from dataclasses import dataclass
from pathlib import Path

from rlaif.trainer.run_folder import checkpoints
from rlaif.trainer.run_folder.quest_record import FILE, QuestRecord, QuestRecordError
from rlaif.trainer.run_folder.record import list_runs


@dataclass(frozen=True)
class SavedRun:
    """What is saved of a run, in words and environment steps."""

    words: str
    env_steps: int


def newest_run(data_dir: Path) -> SavedRun | None:
    """The run that the next start resumes; None when there is none."""
    known = [record for record in list_runs(data_dir) if record.mode != "evaluation"]
    return saved_run(data_dir, known[0].run_id) if known else None


def saved_run(data_dir: Path, run_id: str) -> SavedRun:
    """What a run has on disk."""
    directory = data_dir / "runs" / run_id
    found = checkpoints.describe(directory)
    if found:
        newest = found[-1]
        words = f"iteration {newest.iteration} is saved, {newest.env_steps:,} steps"
    elif (directory / FILE).exists():
        words = _of_quest(directory)
    else:
        words = "nothing is saved, it had not finished an iteration"
    return SavedRun(f"run {run_id}: {words}", found[-1].env_steps if found else 0)


def _of_quest(directory: Path) -> str:
    try:
        record = QuestRecord.read(directory)
    except QuestRecordError as error:
        return str(error)
    return f"{record.search_seconds / 60:.1f} minutes of search are saved"
