"""Checkpoints on local disk: what is in one, which are whole, which are kept.

    manifest.json               written last: counters, and size and SHA-256 of every other file
    policy.safetensors          the policy network and its critic
    learner.npz                 optimizer, generators, reward state, running figures
    runner-{index}.npz          games of an environment runner, in the middle of their episodes
    reward_model.safetensors    the reward model that paid, when there was one
    exploration.tar             archive of states and coverage as they were

`.npz` files are `npz_tree`s; nothing in a checkpoint is pickled. Archive and coverage live in the
run's directory and only grow, so a resumed run uses those: what was found after the
checkpoint is still true. Their copy here is for a machine that has lost the directory.
"""

import hashlib
import shutil
from collections.abc import Collection
from pathlib import Path
from typing import Literal

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, ValidationError

from rlaif.contracts.ids import Id, Sha256
from rlaif.files.whole import to_disk
from rlaif.trainer.run_folder.record import RunRecord

MANIFEST = "manifest.json"
POLICY = "policy.safetensors"
LEARNER = "learner.npz"
REWARD_MODEL = "reward_model.safetensors"
EXPLORATION = "exploration.tar"

_PARTIAL = ".partial_"


class CheckpointError(Exception):
    """There is no such checkpoint, or it cannot be used; the message says which and why."""


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
    """The reward model that paid; its file is in the checkpoint."""

    version: int
    sha256: Sha256


class Manifest(BaseModel):
    """What a checkpoint says of itself."""

    model_config = ConfigDict(frozen=True)

    format: Literal[1] = 1
    run_id: Id
    attempt: int
    created_at: AwareDatetime
    counters: Counters
    hidden: int = Field(description="Units of each policy layer.")
    policy: Literal["mlp", "cnn", "decisions"] = "mlp"
    share_layers: bool = Field(
        default=True, description="Whether the critic goes on from the policy's layers."
    )
    normalize_values: bool = Field(
        default=False, description="Whether the critic learns values in their own deviations."
    )
    rom_sha256: Sha256
    layouts: dict[str, str] = Field(
        default_factory=dict, description="Interfaces that a policy-only checkpoint depends on."
    )
    reward_model: RewardModelEntry | None = None
    files: dict[str, FileEntry] = Field(default_factory=dict)
    record: RunRecord = Field(description="Of the run, so that it can be restored elsewhere.")


class CheckpointInfo(BaseModel):
    """A whole checkpoint."""

    id: str
    run_id: str
    iteration: int
    env_steps: int
    created_at: AwareDatetime
    bytes: int
    reward_model_version: int | None
    path: str


def folder_name(iteration: int) -> str:
    """Name of a checkpoint in its run; sorts by age."""
    return f"iteration_{iteration:08d}"


def begin(directory: Path, iteration: int) -> Path:
    """An empty directory to save into; it becomes a checkpoint with `commit`."""
    drop_partial(directory)
    partial = directory / f"{_PARTIAL}{iteration:08d}"
    partial.mkdir(parents=True)
    return partial


def drop_partial(directory: Path) -> None:
    """Remove what was not committed."""
    for unfinished in directory.glob(f"{_PARTIAL}*"):
        shutil.rmtree(unfinished, ignore_errors=True)


def commit(partial: Path, manifest: Manifest) -> tuple[Path, Manifest]:
    """Make what was saved a checkpoint: files to disk, manifest last, then the rename.

    Gives it and its manifest with the files. After an `OSError` there is no checkpoint.
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
    """Complete checkpoints, the oldest first."""
    return sorted(path for path in directory.glob("iteration_*") if (path / MANIFEST).exists())


def newest_usable(directory: Path) -> tuple[Path, list[str]] | None:
    """The newest checkpoint whose files are what its manifest says; None when there is none at all.

    With it comes why each newer one was passed over. If none of several can be used, that is a
    `CheckpointError`.
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
    """The manifest of a checkpoint; raises `CheckpointError` for none or a damaged one."""
    try:
        return Manifest.model_validate_json((checkpoint / MANIFEST).read_bytes())
    except FileNotFoundError:
        raise CheckpointError(f"{checkpoint} is no checkpoint: it has no {MANIFEST}") from None
    except (ValidationError, OSError) as error:
        raise CheckpointError(f"{checkpoint / MANIFEST} cannot be read: {error}") from error


def verify(checkpoint: Path) -> Manifest:
    """Read the manifest and compare every file with it; a difference is a `CheckpointError`."""
    manifest = read_manifest(checkpoint)
    for name, entry in manifest.files.items():
        path = checkpoint / name
        if not path.exists():
            raise CheckpointError(f"{checkpoint} is damaged: {name} is missing")
        if _entry(path) != entry:
            raise CheckpointError(f"{checkpoint} is damaged: {name} is not what was saved")
    return manifest


def is_on_disk(data_dir: Path, name: str) -> bool:
    """Whether `find` has something to look at under this name; it may be damaged."""
    run_id, _, folder = name.partition("/")
    saved = data_dir / "runs" / run_id / "checkpoints"
    return (
        (Path(name) / MANIFEST).exists()
        or (saved / folder / MANIFEST).exists()
        or (not folder and bool(whole(saved)))
    )


def find(data_dir: Path, name: str) -> Path:
    """The checkpoint that a person names: by a run's id its newest, `RUN/iteration_N`, a directory.

    Raises `CheckpointError` for none of this name or a damaged one.
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
            known = ", ".join(sorted(info.id for info in describe_all(data_dir))) or "none"
            raise CheckpointError(
                f"no checkpoint {name!r}, neither on this machine (which has: {known}) nor in the "
                "models store: give a run's id, RUN/iteration_N or a directory"
            )
    verify(found)
    return found


def describe(run_directory: Path) -> list[CheckpointInfo]:
    """The checkpoints of a run, the oldest first."""
    found = []
    for path in whole(run_directory / "checkpoints"):
        try:
            manifest = read_manifest(path)
        except CheckpointError:
            continue  # it was pruned between the two looks
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


def describe_all(data_dir: Path) -> list[CheckpointInfo]:
    """The checkpoints of all runs, by run and iteration."""
    runs = sorted((data_dir / "runs").glob("*/checkpoints"))
    return [info for path in runs for info in describe(path.parent)]


def _iteration(checkpoint: Path) -> int:
    return int(checkpoint.name.rpartition("_")[2])


def _entry(path: Path) -> FileEntry:
    data = path.read_bytes()
    return FileEntry(bytes=len(data), sha256=hashlib.sha256(data).hexdigest())
