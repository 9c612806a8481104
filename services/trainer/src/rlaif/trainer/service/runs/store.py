"""Copies of runs in the models store: checkpoints, evaluations, progress; and restoring from them.

    checkpoints/{run_id}/iteration_N-A/{file}            A is the attempt that saved it
    checkpoints/{run_id}/iteration_N-A/manifest.json     written last, makes it complete
    checkpoints/{run_id}/attempts/A.json                 a machine counts attempts from A
    checkpoints/epoch_N/manifest.json                    of the run that ended epoch N last
    evaluations/{run_id}/{evaluation_id}.json
    pipeline/progress.json

Each attempt has its own folders, so that an incomplete copy of a killed attempt is not mixed with
files of the next one under the same iteration. Training never waits for the store: while it is
unavailable, everything stays on disk and is copied later.
"""

import asyncio
import json
import logging
import shutil
import threading
from collections.abc import Callable, Collection
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import BaseModel, ValidationError

from rlaif.contracts.telemetry.run import RunFigures
from rlaif.files.whole import write_whole
from rlaif.storage import keys, sealed
from rlaif.storage.bounds import CHECKPOINT_FILE
from rlaif.storage.ports import (
    ObjectCorruptError,
    ObjectNotFoundError,
    ObjectStore,
    StorageError,
)
from rlaif.trainer.evaluation import result
from rlaif.trainer.evaluation.result import Evaluation
from rlaif.trainer.run_folder import checkpoints, disk
from rlaif.trainer.run_folder.checkpoints import CheckpointError, Manifest
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER
from rlaif.trainer.run_folder.record import RunRecord, list_runs, record_path
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings

logger = logging.getLogger(__name__)

_PAUSE_SECONDS = 5.0

_ATTEMPTS_PER_MACHINE = 1000
"""A machine counts its attempts at a run from a multiple of this: a lost machine may have made
more attempts than its last checkpoint records, and their ids must not be reused."""


def upload(store: ObjectStore, checkpoint: Path) -> bool:
    """Copy a checkpoint, the manifest last; returns False if it exists already.

    Raises:
        CheckpointError: It was pruned meanwhile, or is damaged.
        StorageError: The store is unavailable; a retry resumes.
    """
    manifest = checkpoints.verify(checkpoint)
    folder = f"{checkpoints.folder_name(manifest.counters.iteration)}-{manifest.attempt}"
    last = keys.run_checkpoint(manifest.run_id, folder, checkpoints.MANIFEST)
    if store.head(last) is not None:
        return False
    for name in manifest.files:
        try:
            data = (checkpoint / name).read_bytes()
        except FileNotFoundError as error:
            raise CheckpointError(f"{checkpoint} was pruned while it was copied") from error
        sealed.put(store, keys.run_checkpoint(manifest.run_id, folder, name), data)
    return _put_json(store, last, manifest)


def stored(store: ObjectStore, run_id: str) -> list[str]:
    """Folders of the complete checkpoints of a run, the oldest first."""
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
    """Delete all but the newest `keep` and those of `protected` iterations; returns their folders.

    The manifest is deleted first, which makes the checkpoint incomplete.
    """
    gone = [folder for folder in stored(store, run_id)[:-keep] if _age(folder)[0] not in protected]
    for folder in gone:
        store.delete_many([keys.run_checkpoint(run_id, folder, checkpoints.MANIFEST)])
        rest = store.list(keys.run_checkpoint(run_id, folder, ""))
        store.delete_many([info.key for info in rest])
    return gone


def restore_run(
    store: ObjectStore, data_dir: Path, run_id: str, iteration: str = ""
) -> Path | None:
    """Restore the newest usable checkpoint of a run, with its record and search.

    `iteration` names a checkpoint's folder instead. A run in `data_dir` keeps its record and
    search. None when the store contains no such checkpoint.

    Raises:
        CheckpointError: All of them are damaged.
        StorageError: The store is unavailable.
    """
    wrong: list[str] = []
    for folder in reversed(stored(store, run_id)):
        if iteration and folder.partition("-")[0] != iteration:
            continue
        try:
            return _fetch(store, data_dir, run_id, folder)
        except CheckpointError as error:
            wrong.append(str(error))
            logger.warning("a stored checkpoint cannot be used", extra={"reason": str(error)})
    if wrong:
        raise CheckpointError(f"no checkpoint of run {run_id} can be used: {'; '.join(wrong)}")
    return None


def claim_attempts(store: ObjectStore, run_id: str, least: int = 0) -> int:
    """Number of this machine's first attempt at a run; no other machine uses it.

    A machine may be lost before it saves anything, so only the claim is evidence of its attempts.

    Raises:
        StorageError: The store is unavailable.
    """
    claims = store.list(keys.run_attempts(run_id))
    last = max((int(Path(info.key).stem) for info in claims), default=least - 1)
    first = (max(last, least - 1) // _ATTEMPTS_PER_MACHINE + 1) * _ATTEMPTS_PER_MACHINE
    while not store.put_once(keys.run_attempts(run_id, first), b"{}"):
        first += _ATTEMPTS_PER_MACHINE  # claimed by another machine meanwhile
    return first


def _fetch(store: ObjectStore, data_dir: Path, run_id: str, folder: str) -> Path:
    key = keys.run_checkpoint(run_id, folder, checkpoints.MANIFEST)
    try:
        manifest = Manifest.model_validate_json(store.get(key))
    except (ValidationError, ObjectCorruptError) as error:
        raise CheckpointError(f"{key} cannot be read: {error}") from error
    record = record_path(data_dir, run_id)
    run = record.parent
    target = run / "checkpoints" / checkpoints.folder_name(manifest.counters.iteration)
    partial = target.with_name(f".partial_{target.name}")
    shutil.rmtree(partial, ignore_errors=True)
    partial.mkdir(parents=True)
    for name, entry in manifest.files.items():
        if Path(name).name != name:
            raise CheckpointError(f"{key} names the file {name!r}, which is not a file name")
        file = keys.run_checkpoint(run_id, folder, name)
        try:
            data = sealed.read(store, file, entry.sha256, CHECKPOINT_FILE)
        except (ObjectCorruptError, ObjectNotFoundError) as error:
            raise CheckpointError(f"{key} is damaged: {error}") from error
        (partial / name).write_bytes(data)
    (partial / checkpoints.MANIFEST).write_text(manifest.model_dump_json(indent=1))
    checkpoints.verify(partial)
    if record.exists():
        partial.rename(target)
        return target
    if (partial / checkpoints.SEARCH).exists():
        tree = run / SEARCH_FOLDER / checkpoints.SEARCH
        write_whole(tree, (partial / checkpoints.SEARCH).read_bytes())
    partial.rename(target)
    # Evaluations determine which checkpoint is the best one, which is not pruned.
    for info in store.list(keys.evaluations(run_id)):
        write_whole(run / result.FOLDER / Path(info.key).name, store.get(info.key))
    attempts = claim_attempts(store, run_id, manifest.record.attempts + 1)
    # The record comes last: a run without a record is unknown and is restored again.
    manifest.record.model_copy(update={"attempts": attempts - 1}).write(record)
    return target


def _put_json(store: ObjectStore, key: str, content: BaseModel) -> bool:
    text = content.model_dump_json(indent=1).encode()
    return store.put_once(key, text, content_type="application/json")


def _age(folder: str) -> tuple[int, int]:
    iteration, _, attempt = folder.removeprefix("iteration_").partition("-")
    try:
        return int(iteration), int(attempt)
    except ValueError:
        return -1, -1


class StoreMirror:
    """Copies the runs of this machine; `outage` has the reason while nothing can be copied."""

    def __init__(
        self,
        settings: TrainerSettings,
        store: ObjectStore,
        state: Callable[[], RunState | None],
    ) -> None:
        self._settings = settings
        self._data_dir = settings.data_dir.resolve()
        self._store = store
        self._state = state
        self._copied: set[Path] = set()
        self._written: dict[str, Any] | None = None
        self._one_at_a_time = threading.Lock()
        self.outage: str | None = None

    async def run(self) -> None:
        while True:
            try:
                await asyncio.to_thread(self.copy_new)
                self.outage = None
            except (StorageError, OSError) as error:
                self._note(error)
            except Exception as error:
                # A bug must not stop the copies, and must be visible.
                logger.exception("checkpoints were not copied")
                self._note(error)
            await asyncio.sleep(_PAUSE_SECONDS)

    async def copy_last(self) -> None:
        try:
            await asyncio.to_thread(self.copy_new)
        except (StorageError, OSError) as error:
            self._note(error)

    def _note(self, error: Exception) -> None:
        if self.outage is None:
            logger.warning("checkpoints stay on this disk", extra={"reason": str(error)})
        self.outage = disk.reason(error)

    def copy_new(self) -> None:
        """Copy all new files to the store; blocks, also while another copy is in progress."""
        # The thread of a cancelled `run` may still copy, and must not write outdated progress.
        with self._one_at_a_time:
            for record in list_runs(self._data_dir):
                directory = self._data_dir / "runs" / record.run_id
                self._copy_evaluations(record, directory)
                self._copy_checkpoints(record, directory)
                self._copy_epochs(directory)
            self._write_progress()

    def _write_progress(self) -> None:
        state = self._state()
        # A Ray job has the evaluations, and writes this itself.
        if state is None or self._settings.run_on == "ray-job":
            return
        directory = self._data_dir / "runs" / state.run_id
        found = result.read_all(directory)
        said = progress(state, self._settings, found)
        if said == self._written:
            return
        text = json.dumps({"updated_at": datetime.now(UTC).isoformat(), **said}, indent=1)
        write_whole(directory / "progress.json", text.encode())
        self._store.put(keys.PROGRESS, text.encode(), content_type="application/json")
        self._written = said

    def _copy_checkpoints(self, record: RunRecord, directory: Path) -> None:
        new = [p for p in checkpoints.whole(directory / "checkpoints") if p not in self._copied]
        if not new:
            return
        is_longer = False
        for path in new:
            try:
                is_longer |= upload(self._store, path)
            except CheckpointError as error:
                logger.warning("a checkpoint was not copied", extra={"reason": str(error)})
            self._copied.add(path)
        if not is_longer:  # such as a restored run that is only evaluated here
            return
        best = result.best(result.read_all(directory))
        prune(
            self._store,
            record.run_id,
            keep=self._settings.checkpoints_kept,
            protected={best.iteration} if best else (),
        )

    def _copy_epochs(self, directory: Path) -> None:
        """Write `epoch_N` manifests; the files of those checkpoints may be pruned already."""
        for epoch, path in checkpoints.epochs(directory):
            if path in self._copied:
                continue
            key = keys.checkpoint(epoch, checkpoints.MANIFEST)
            manifest = Manifest.model_validate_json(path.read_bytes())
            if self._ended_it_last(manifest, key):
                text = manifest.model_dump_json(indent=1).encode()
                self._store.put(key, text, content_type="application/json")
            self._copied.add(path)

    def _ended_it_last(self, manifest: Manifest, key: str) -> bool:
        """Whether no other run ended the epoch later, and this one was not written before."""
        try:
            shown = Manifest.model_validate_json(self._store.get(key))
        except (ObjectNotFoundError, ObjectCorruptError, ValidationError):
            return True
        return shown.run_id != manifest.run_id and shown.created_at < manifest.created_at

    def _copy_evaluations(self, record: RunRecord, directory: Path) -> None:
        for evaluation in result.read_all(directory):
            path = directory / result.FOLDER / f"{evaluation.evaluation_id}.json"
            if path in self._copied:
                continue
            key = keys.evaluation(record.run_id, evaluation.evaluation_id)
            _put_json(self._store, key, evaluation)
            self._copied.add(path)


def progress(state: RunState, settings: TrainerSettings, found: list[Evaluation]) -> dict[str, Any]:
    """Content of `pipeline/progress.json`; unknown values are null."""
    figures = RunFigures(**(state.last.figures() if state.last is not None else {}))
    seconds, best = figures.trained_seconds, result.best(found)
    return {
        "run_id": state.run_id,
        "status": state.status,
        "mode": settings.mode,
        "attempt": state.attempt,
        "epoch": state.env_steps // settings.epoch_steps,
        "epoch_steps": settings.epoch_steps,
        "iteration": state.iteration,
        "env_steps": state.env_steps,
        **figures.model_dump(mode="json"),
        "milestones": figures.milestones or [],
        "trained_hours": None if seconds is None else seconds / 3600,
        "run_hours": settings.run_hours,
        "reward_model_version": state.reward_model_version,
        "checkpoint_iteration": state.checkpoint,
        "evaluations": len(found),
        "last_evaluation": _short(found[-1]) if found else None,
        "best_evaluation": _short(best) if best else None,
        "failure": state.failure,
    }


def _short(evaluation: Evaluation) -> dict[str, Any]:
    return evaluation.model_dump(
        mode="json",
        include={
            "evaluation_id", "checkpoint", "epoch", "iteration", "env_steps", "fraction_mean",
            "return_mean", "length_mean", "milestones",
        },
    )  # fmt: skip
