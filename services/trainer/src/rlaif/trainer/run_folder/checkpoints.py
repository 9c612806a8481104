"""Checkpoints on local disk: their content, completeness and pruning.

    manifest.json               written last: counters, and size and SHA-256 of every other file
    policy.safetensors          the policy network and its critic
    learner.npz                 optimizer, random generators, reward state, statistics
    runner-{index}.npz          the environments of a runner, in mid-episode
    reward_model.safetensors    the live reward model, if any
    tree.sqlite                 the run's search, if it explores

`.npz` files are `npz_tree`s; nothing in a checkpoint is pickled. The search in the run's directory
only grows, so a resumed run uses it: later discoveries remain valid. The copy in the checkpoint is
for machines without that directory.

    runs/{run_id}/epochs/epoch_N.json   manifest at the end of an epoch, kept when files are pruned
"""

import hashlib
import shutil
from collections.abc import Collection
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rlaif.contracts.model import Id, Sha256
from rlaif.files.whole import to_disk, write_whole
from rlaif.trainer.run_folder.quest_record import FILE, QuestRecord, QuestRecordError
from rlaif.trainer.run_folder.record import RunRecord

MANIFEST = "manifest.json"
POLICY = "policy.safetensors"
LEARNER = "learner.npz"
REWARD_MODEL = "reward_model.safetensors"
SEARCH = "tree.sqlite"
EPOCHS = "epochs"

_PARTIAL = ".partial_"


class CheckpointError(Exception):
    """The checkpoint does not exist or cannot be used."""


class Counters(BaseModel):
    """The run's counters at a checkpoint."""

    model_config = ConfigDict(frozen=True)

    iteration: int = 0
    env_steps: int = 0
    trained_seconds: float = Field(default=0.0, description="Wall-clock time in the training loop.")
    episodes: int = 0
    segments_captured: int = 0
    segments_skipped: int = 0


class FileEntry(BaseModel):
    """A file of a checkpoint."""

    bytes: int
    sha256: Sha256


class RewardModelEntry(BaseModel):
    """The live reward model; its file is in the checkpoint."""

    version: int
    sha256: Sha256


class Manifest(BaseModel):
    """Content of `manifest.json`."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    run_id: Id
    attempt: int
    created_at: AwareDatetime
    counters: Counters
    hidden: int = Field(description="Units of each policy layer.")
    policy: Literal["mlp", "cnn", "decisions"] = "mlp"
    share_layers: bool = True  # whether the critic shares the policy's layers
    normalize_values: bool = False  # whether the critic learns normalized values
    rom_sha256: Sha256
    layouts: dict[str, str] = Field(default_factory=dict)
    """Interfaces that a policy-only checkpoint depends on."""
    reward_model: RewardModelEntry | None = None
    files: dict[str, FileEntry] = Field(default_factory=dict)
    record: RunRecord = Field(description="The run's record, for restoring the run elsewhere.")


class CheckpointInfo(BaseModel):
    """A complete checkpoint."""

    id: str
    run_id: str
    iteration: int
    env_steps: int
    created_at: AwareDatetime
    bytes: int
    reward_model_version: int | None
    path: str


def folder_name(iteration: int) -> str:
    """Name of a checkpoint's folder; sorts by age."""
    return f"iteration_{iteration:08d}"


def begin(directory: Path, iteration: int) -> Path:
    """Create an empty directory to save into, before `commit`."""
    drop_partial(directory)
    partial = directory / f"{_PARTIAL}{iteration:08d}"
    partial.mkdir(parents=True)
    return partial


def drop_partial(directory: Path) -> None:
    """Remove directories that were not committed."""
    for unfinished in directory.glob(f"{_PARTIAL}*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def commit(partial: Path, manifest: Manifest) -> tuple[Path, Manifest]:
    """Turn a directory into a checkpoint: fsync, write the manifest, rename.

    Returns its path and manifest. If an `OSError` is raised, no checkpoint exists.
    """
    files = {path.name: _entry(path) for path in sorted(partial.iterdir())}
    for name in files:
        to_disk(partial / name)
    whole_manifest = manifest.model_copy(update={"files": files})
    path = partial / MANIFEST
    path.write_text(whole_manifest.model_dump_json(indent=1))
    to_disk(path)
    to_disk(partial)
    final = partial.parent / folder_name(manifest.counters.iteration)
    shutil.rmtree(final, ignore_errors=True)
    partial.rename(final)
    to_disk(final.parent)
    return final, whole_manifest


def prune(directory: Path, *, keep: int, protected: Collection[int] = ()) -> None:
    """Delete all but the newest `keep` checkpoints and those of `protected` iterations."""
    for old in whole(directory)[:-keep]:
        if _iteration(old) not in protected:
            shutil.rmtree(old)


def whole(directory: Path) -> list[Path]:
    """Complete checkpoints, oldest first."""
    return sorted(path for path in directory.glob("iteration_*") if (path / MANIFEST).exists())


def newest_usable(directory: Path) -> tuple[Path, list[str]] | None:
    """Return the newest intact checkpoint, and why each newer one was skipped.

    None if there is no checkpoint.

    Raises:
        CheckpointError: All of them are damaged.
    """
    passed: list[str] = []
    for path in reversed(whole(directory)):
        try:
            verify(path)
        except CheckpointError as error:
            passed.append(str(error))
            continue
        return path, passed
    if passed:
        raise CheckpointError(f"no checkpoint in {directory} can be used: {'; '.join(passed)}")
    return None


def read_manifest(checkpoint: Path) -> Manifest:
    """Return a checkpoint's manifest; raises `CheckpointError` if it is missing or damaged."""
    try:
        return Manifest.model_validate_json((checkpoint / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise CheckpointError(f"{checkpoint} is not a checkpoint: it has no {MANIFEST}") from None
    except (ValidationError, OSError) as error:
        raise CheckpointError(f"{checkpoint / MANIFEST} cannot be read: {error}") from error


def verify(checkpoint: Path) -> Manifest:
    """Read the manifest and compare every file with it; raises `CheckpointError`."""
    manifest = read_manifest(checkpoint)
    for name, entry in manifest.files.items():
        path = checkpoint / name
        if not path.exists():
            raise CheckpointError(f"{checkpoint} is damaged: {name} is missing")
        if _entry(path) != entry:
            raise CheckpointError(f"{checkpoint} is damaged: {name} does not match its manifest")
    return manifest


def is_on_disk(data_dir: Path, name: str) -> bool:
    """Whether a checkpoint with this name exists, possibly damaged."""
    run_id, _, folder = name.partition("/")
    saved = data_dir / "runs" / run_id / "checkpoints"
    named = (Path(name), saved / folder)
    return any((path / MANIFEST).exists() for path in named) or (not folder and bool(whole(saved)))


def find(data_dir: Path, name: str) -> Path:
    """Find a checkpoint by name: a run id (its newest), `RUN/iteration_N`, or a directory.

    Raises:
        CheckpointError: It does not exist or is damaged.
    """
    runs = data_dir / "runs"
    named = Path(name)
    if (named / MANIFEST).exists():
        found = named.resolve()
    elif (runs / name).is_dir() and "/" not in name:
        newest = newest_usable(runs / name / "checkpoints")
        if newest is None:
            raise CheckpointError(f"run {name} has no checkpoint yet")
        found = newest[0]
    else:
        run_id, _, folder = name.partition("/")
        found = runs / run_id / "checkpoints" / folder
        if not folder or not (found / MANIFEST).exists():
            others = sorted(runs.glob("*/checkpoints"))
            known = ", ".join(i.id for path in others for i in describe(path.parent)) or "none"
            raise CheckpointError(
                f"no checkpoint {name!r} was found, {runs} has: {known}; give a run's id, "
                "RUN/iteration_N or a directory, or another data directory"
            )
    verify(found)
    return found


def describe(run_directory: Path) -> list[CheckpointInfo]:
    """The checkpoints of a run, oldest first."""
    found = []
    for path in whole(run_directory / "checkpoints"):
        try:
            manifest = read_manifest(path)
        except CheckpointError:
            continue  # pruned meanwhile
        model = manifest.reward_model
        found.append(
            CheckpointInfo(
                id=f"{run_directory.name}/{path.name}",
                run_id=run_directory.name,
                iteration=manifest.counters.iteration,
                env_steps=manifest.counters.env_steps,
                created_at=manifest.created_at,
                bytes=sum(entry.bytes for entry in manifest.files.values()),
                reward_model_version=model.version if model else None,
                path=str(path),
            )
        )
    return found


def write_epoch(run_directory: Path, epoch: int, manifest: Manifest) -> None:
    """Store the manifest at the end of an epoch (from 0), unless there is one already."""
    path = run_directory / EPOCHS / f"epoch_{epoch:06d}.json"
    if not path.exists():
        write_whole(path, manifest.model_dump_json(indent=1).encode())


def epochs(run_directory: Path) -> list[tuple[int, Path]]:
    """Epoch and file of each stored manifest, oldest first."""
    found = sorted((run_directory / EPOCHS).glob("epoch_*.json"))
    return [(int(path.stem.removeprefix("epoch_")), path) for path in found]


def _iteration(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("_")[2])


def _entry(path: Path) -> FileEntry:
    data = path.read_bytes()
    return FileEntry(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())


@dataclass(frozen=True)
class SavedRun:
    """The saved progress of a run: a description, and its environment steps."""

    words: str
    env_steps: int


def saved_run(data_dir: Path, run_id: str) -> SavedRun:
    """Return the saved progress of a run."""
    directory = data_dir / "runs" / run_id
    found = describe(directory)
    words = "nothing is saved, no iteration was completed"
    if found:
        words = f"iteration {found[-1].iteration} is saved, {found[-1].env_steps:,} steps"
    elif (directory / FILE).exists():
        try:
            minutes = QuestRecord.read(directory).search_seconds / 60
            words = f"{minutes:.1f} minutes of search are saved"
        except QuestRecordError as error:
            words = str(error)
    return SavedRun(f"run {run_id}: {words}", found[-1].env_steps if found else 0)
