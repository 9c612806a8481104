"""Checkpoints on local disk: where they are, which are whole, what RLlib's own do not hold."""

import json
import shutil
from dataclasses import asdict, dataclass
from pathlib import Path

from pydantic import BaseModel

_COUNTERS = "run_counters.json"
_KEEP = 2


@dataclass(frozen=True)
class Counters:
    """The run's counters at a checkpoint."""

    iteration: int = 0
    env_steps: int = 0
    episodes: int = 0
    segments_captured: int = 0
    segments_skipped: int = 0


class CheckpointInfo(BaseModel):
    """A whole checkpoint."""

    id: str
    run_id: str
    iteration: int
    env_steps: int
    path: str


def begin(directory: Path, iteration: int) -> Path:
    """An empty directory to save into; it becomes a checkpoint with `commit`."""
    for unfinished in directory.glob(".partial_*"):
        shutil.rmtree(unfinished)
    partial = directory / f".partial_{iteration:08d}"
    partial.mkdir(parents=True)
    return partial


def commit(partial: Path, counters: Counters) -> Path:
    """Make what was saved a checkpoint, by rename; older ones beyond the last two go."""
    (partial / _COUNTERS).write_text(json.dumps(asdict(counters)))
    final = partial.parent / f"iteration_{counters.iteration:08d}"
    shutil.rmtree(final, ignore_errors=True)
    partial.rename(final)
    for old in whole(final.parent)[:-_KEEP]:
        shutil.rmtree(old)
    return final


def whole(directory: Path) -> list[Path]:
    """Complete checkpoints, the oldest first."""
    return sorted(path for path in directory.glob("iteration_*") if (path / _COUNTERS).exists())


def read_counters(checkpoint: Path) -> Counters:
    """The counters of a checkpoint."""
    return Counters(**json.loads((checkpoint / _COUNTERS).read_text()))


def describe(run_directory: Path) -> list[CheckpointInfo]:
    """The checkpoints of a run, the oldest first."""
    run_id = run_directory.name
    return [
        CheckpointInfo(
            id=f"{run_id}/{path.name}",
            run_id=run_id,
            iteration=counters.iteration,
            env_steps=counters.env_steps,
            path=str(path),
        )
        for path in whole(run_directory / "checkpoints")
        for counters in [read_counters(path)]
    ]
