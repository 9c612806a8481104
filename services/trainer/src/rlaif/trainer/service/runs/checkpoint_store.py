"""Checkpoints in the models store: copied there, pruned there, brought back from there.

    checkpoints/{run_id}/iteration_N-A/{file}   A is the attempt that saved it
    checkpoints/{run_id}/iteration_N-A/manifest.json   written last: the checkpoint counts from then
    checkpoints/epoch_N/manifest.json           of the run that ended epoch N last, for people

An attempt has folders of its own, so that what a killed one left half-copied is never mixed with
what the next one saves under the same iteration.
"""

import logging
import shutil
from collections.abc import Collection
from pathlib import Path

from pydantic import ValidationError

from rlaif.files.whole import write_whole
from rlaif.storage import keys, sealed
from rlaif.storage.ports import ObjectCorruptError, ObjectNotFoundError, ObjectStore
from rlaif.trainer.evaluation import result
from rlaif.trainer.run_folder import checkpoints, exploration_file
from rlaif.trainer.run_folder.checkpoints import CheckpointError, Manifest
from rlaif.trainer.run_folder.exploration_file import EXPLORATION_DIR
from rlaif.trainer.run_folder.record import record_path

log = logging.getLogger(__name__)

_ATTEMPTS_A_MACHINE = 1000
"""A restored run counts its attempts from the next multiple of this: the machine that was lost may
have made more of them than the checkpoint knows, and their ids must not come again."""


def upload(store: ObjectStore, checkpoint: Path) -> bool:
    """Copy a checkpoint, the manifest last; False when it was there already.

    Raises:
        CheckpointError: It was pruned meanwhile, or is damaged.
        StorageError: The store did not take it; trying again resumes where it stopped.
    """
    manifest = checkpoints.verify(checkpoint)
    folder = _folder(manifest)
    if store.head(keys.run_checkpoint(manifest.run_id, folder, checkpoints.MANIFEST)) is not None:
        return False
    for name in manifest.files:
        try:
            data = (checkpoint / name).read_bytes()
        except FileNotFoundError as error:
            raise CheckpointError(f"{checkpoint} was pruned while it was copied") from error
        store.put_once(keys.run_checkpoint(manifest.run_id, folder, name), data)
    return store.put_once(
        keys.run_checkpoint(manifest.run_id, folder, checkpoints.MANIFEST),
        manifest.model_dump_json(indent=1).encode(),
        content_type="application/json",
    )


def stored(store: ObjectStore, run_id: str) -> list[str]:
    """Folders of the whole checkpoints of a run, the oldest first."""
    prefix = keys.run_checkpoints(run_id)
    found = [
        info.key[len(prefix) :].partition("/")[0]
        for info in store.list(prefix)
        if info.key.endswith(f"/{checkpoints.MANIFEST}")
    ]
    return sorted(found, key=_age)


def prune(
    store: ObjectStore, run_id: str, *, keep: int, protected: Collection[int] = ()
) -> list[str]:
    """Delete all but the newest `keep` and those of `protected` iterations; gives their folders.

    The manifest goes first: what is half deleted does not count.
    """
    gone = [folder for folder in stored(store, run_id)[:-keep] if _age(folder)[0] not in protected]
    for folder in gone:
        manifest = keys.run_checkpoint(run_id, folder, checkpoints.MANIFEST)
        store.delete_many([manifest])
        prefix = keys.run_checkpoint(run_id, folder, "")
        store.delete_many([info.key for info in store.list(prefix)])
    return gone


def restore_run(
    store: ObjectStore, data_dir: Path, run_id: str, iteration: str = ""
) -> Path | None:
    """Bring the newest usable checkpoint of a run back, with its record, archive and coverage.

    With `iteration`, the name of a checkpoint's folder, that one. A run that is in `data_dir`
    keeps its own record and archive. None when the store has no such checkpoint.

    Raises:
        CheckpointError: There are some, and none is whole.
        StorageError: The store was not reached.
    """
    wrong: list[str] = []
    found = [
        folder
        for folder in stored(store, run_id)
        if not iteration or folder.partition("-")[0] == iteration
    ]
    for folder in reversed(found):
        try:
            return _fetch(store, data_dir, run_id, folder)
        except CheckpointError as error:
            wrong.append(str(error))
            log.warning("a stored checkpoint cannot be used", extra={"reason": str(error)})
    if wrong:
        raise CheckpointError(f"no checkpoint of run {run_id} can be used: {'; '.join(wrong)}")
    return None


def _fetch(store: ObjectStore, data_dir: Path, run_id: str, folder: str) -> Path:
    key = keys.run_checkpoint(run_id, folder, checkpoints.MANIFEST)
    try:
        manifest = Manifest.model_validate_json(store.get(key))
    except ValidationError as error:
        raise CheckpointError(f"{key} cannot be read: {error}") from error
    record = record_path(data_dir, run_id)
    run = record.parent
    target = run / "checkpoints" / checkpoints.folder_name(manifest.counters.iteration)
    partial = target.with_name(f".partial_{target.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, entry in manifest.files.items():
        if Path(name).name != name:
            raise CheckpointError(f"{key} names the file {name!r}, which is no file's name")
        file = keys.run_checkpoint(run_id, folder, name)
        try:
            data = sealed.read(store, file, entry.sha256, cap=entry.bytes)
        except (ObjectCorruptError, ObjectNotFoundError) as error:
            raise CheckpointError(f"{key} is damaged: {error}") from error
        (partial / name).write_bytes(data)
    (partial / checkpoints.MANIFEST).write_text(manifest.model_dump_json(indent=1))
    checkpoints.verify(partial)
    is_known = record.exists()
    if not is_known:
        try:
            exploration_file.unpack(
                (partial / checkpoints.EXPLORATION).read_bytes(), run / EXPLORATION_DIR
            )
        except exploration_file.ExplorationFileError as error:
            raise CheckpointError(f"{key}: {error}") from error
    partial.rename(target)
    if not is_known:
        _fetch_evaluations(store, run, run_id)
        attempts = (manifest.record.attempts // _ATTEMPTS_A_MACHINE + 1) * _ATTEMPTS_A_MACHINE
        # Last: a run without its record is not known, and is fetched again.
        manifest.record.model_copy(update={"attempts": attempts - 1}).write(record)
    return target


def _fetch_evaluations(store: ObjectStore, run: Path, run_id: str) -> None:
    """What the run evaluated decides which of its checkpoints is the best one and is kept."""
    for info in store.list(keys.evaluations(run_id)):
        write_whole(run / result.FOLDER / Path(info.key).name, store.get(info.key))


def _folder(manifest: Manifest) -> str:
    return f"{checkpoints.folder_name(manifest.counters.iteration)}-{manifest.attempt}"


def _age(folder: str) -> tuple[int, int]:
    """(iteration, attempt) in a folder's name."""
    iteration, _, attempt = folder.removeprefix("iteration_").partition("-")
    try:
        return int(iteration), int(attempt)
    except ValueError:
        return -1, -1
