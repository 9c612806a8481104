"""Copies what runs leave on disk to the models store: checkpoints, evaluations, live progress.

Nothing waits for it: while the store is away, all of it stays on disk and is copied later.
"""

import asyncio
import json
import logging
import threading
from collections.abc import Callable
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlaif.contracts.run_figures import RunFigures
from rlaif.files.whole import write_whole
from rlaif.storage import keys
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectNotFoundError, ObjectStore, StorageError
from rlaif.trainer.evaluation import result
from rlaif.trainer.evaluation.result import Evaluation
from rlaif.trainer.run_folder import checkpoints, disk, epochs
from rlaif.trainer.run_folder.checkpoints import CheckpointError, Manifest
from rlaif.trainer.run_folder.record import RunRecord, list_runs
from rlaif.trainer.service.runs import checkpoint_store
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)

_PAUSE_SECONDS = 5.0


class StoreMirror:
    """Copies for as long as `run` runs; `outage` says why the store does not take anything."""

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
        self._told: dict[str, Any] | None = None
        self._one_at_a_time = threading.Lock()
        self.outage: str | None = None

    @classmethod
    def of(cls, settings: TrainerSettings, state: Callable[[], RunState | None]) -> "StoreMirror":
        """A mirror in the models store of the settings; nothing is asked of the store yet."""
        store = open_store(settings.models_store, S3Credentials.of(settings))
        return cls(settings, store, state)

    async def run(self) -> None:
        """Copy until cancelled; an outage is waited out."""
        while True:
            try:
                await asyncio.to_thread(self.copy_new)
                self.outage = None
            except StorageError as error:
                self._note(str(error))
            except OSError as error:
                self._note(f"this disk: {disk.why(error)}")
            except Exception as error:
                # Copies must not end because of a bug, and not in silence either.
                log.exception("checkpoints were not copied")
                self._note(f"{type(error).__name__}: {error}")
            await asyncio.sleep(_PAUSE_SECONDS)

    async def copy_last(self) -> None:
        """Copy what the end of a run left; an outage of the store is noted, not waited out."""
        try:
            await asyncio.to_thread(self.copy_new)
        except (StorageError, OSError) as error:
            self.outage = str(error)

    def _note(self, outage: str) -> None:
        if self.outage is None:
            log.warning("checkpoints stay on this disk", extra={"reason": outage})
        self.outage = outage

    def copy_new(self) -> None:
        """Copy what is not in the store yet; blocks, also until a copy under way has ended."""
        # A cancelled `run` leaves its thread at work: two at once would tell of the past last.
        with self._one_at_a_time:
            for record in list_runs(self._data_dir):
                directory = self._data_dir / "runs" / record.run_id
                self._copy_evaluations(record, directory)
                self._copy_checkpoints(record, directory)
                self._show_epochs(directory)
            self._tell_progress()

    def _tell_progress(self) -> None:
        """Write `pipeline/progress.json`, here and in the store, when something changed."""
        state = self._state()
        if state is None:
            return
        directory = self._data_dir / "runs" / state.run_id
        found = result.read_all(directory)
        said = progress(state, self._settings, found)
        if said == self._told:
            return
        text = json.dumps({"updated_at": datetime.now(UTC).isoformat(), **said}, indent=1)
        write_whole(directory / "progress.json", text.encode())
        self._store.put(keys.PROGRESS, text.encode(), content_type="application/json")
        self._told = said

    def _copy_checkpoints(self, record: RunRecord, directory: Path) -> None:
        new = [p for p in checkpoints.whole(directory / "checkpoints") if p not in self._copied]
        if not new:
            return
        is_longer = False
        for path in new:
            try:
                is_longer |= checkpoint_store.upload(self._store, path)
            except CheckpointError as error:
                log.warning("a checkpoint was not copied", extra={"reason": str(error)})
            self._copied.add(path)
        if not is_longer:  # such as a run of another machine, whose policy is only evaluated here
            return
        best = result.best(result.read_all(directory))
        checkpoint_store.prune(
            self._store,
            record.run_id,
            keep=self._settings.run.checkpoints_kept,
            protected={best.iteration} if best else (),
        )

    def _show_epochs(self, directory: Path) -> None:
        """The seeds' names for the checkpoints at the ends of epochs; none is left out.

        The files of a checkpoint may be gone by now: epochs can be shorter than an outage, or than
        the pause between two looks.
        """
        for epoch, path in epochs.noted(directory):
            if path in self._copied:
                continue
            key = keys.checkpoint(epoch, checkpoints.MANIFEST)
            manifest = Manifest.model_validate_json(path.read_bytes())
            if self._ended_it_last(manifest, key):
                text = manifest.model_dump_json(indent=1).encode()
                self._store.put(key, text, content_type="application/json")
            self._copied.add(path)

    def _ended_it_last(self, manifest: Manifest, key: str) -> bool:
        """Whether no other run ended the epoch later, and this one was not shown before."""
        try:
            shown = Manifest.model_validate_json(self._store.get(key))
        except (ObjectNotFoundError, ValidationError):
            return True
        return shown.run_id != manifest.run_id and shown.created_at < manifest.created_at

    def _copy_evaluations(self, record: RunRecord, directory: Path) -> None:
        for evaluation in result.read_all(directory):
            path = directory / result.FOLDER / f"{evaluation.evaluation_id}.json"
            if path in self._copied:
                continue
            text = evaluation.model_dump_json(indent=1).encode()
            key = keys.evaluation(record.run_id, evaluation.evaluation_id)
            self._store.put_once(key, text, content_type="application/json")
            self._copied.add(path)


def progress(state: RunState, settings: TrainerSettings, found: list[Evaluation]) -> dict[str, Any]:
    """What `pipeline/progress.json` says of a run; what is unknown is null."""
    figures = RunFigures(**state.figures)
    seconds, best = figures.trained_seconds, result.best(found)
    return {
        "run_id": state.run_id,
        "status": state.status,
        "mode": settings.run.mode,
        "attempt": state.attempt,
        "epoch": state.env_steps // settings.run.epoch_steps,
        "epoch_steps": settings.run.epoch_steps,
        "iteration": state.iteration,
        "env_steps": state.env_steps,
        **figures.model_dump(mode="json"),
        "milestones": figures.milestones or [],
        "trained_hours": None if seconds is None else seconds / 3600,
        "run_hours": settings.run.run_hours,
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
