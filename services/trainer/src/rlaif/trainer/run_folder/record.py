"""The record of a run on disk: `runs/{run_id}/run.json`."""

import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, Field, TypeAdapter, ValidationError

from rlaif.contracts.model import Id
from rlaif.contracts.run_origin import RunDescription, RunProvenance
from rlaif.files.whole import write_whole
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.service.settings import flat_values
from rlaif.trainer.run_folder.plan import End
from rlaif.trainer.run_folder.provenance import CREDENTIALS, provenance_of
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.run import Mode

logger = logging.getLogger(__name__)

_FILE = "run.json"
_FLAT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class UnreadableRunError(Exception):
    """The record of a run is damaged; the message contains its path and a remedy."""


class RunRecord(RunDescription):
    """Identity and settings of a run across restarts."""

    run_id: Id
    created_at: AwareDatetime
    attempts: int = Field(ge=0)  # number of starts of its process before this one; part of ids
    settings: str = Field(description="JSON of the settings of the last attempt, without secrets.")
    overrides: dict[str, Any] = Field(default_factory=dict)
    """Settings of this run only, by field name."""
    mode: Mode = "continuous"
    game: str | None = None
    """Its name, such as `world-7-30`; None in records of 0.1.0."""
    finished: End | None = None  # why it ended; null while it can be resumed
    provenance: RunProvenance | None = None
    """Of the last attempt; None in records of 0.1.0."""

    @staticmethod
    def read(path: Path) -> "RunRecord":
        """Read the record; raises `OSError` or `UnreadableRunError`."""
        try:
            return RunRecord.model_validate_json(path.read_bytes())
        except ValidationError as error:
            raise UnreadableRunError(
                f"{path} is damaged: {error.errors()[0]['msg']}; restore it from a backup, or move "
                f"{path.parent} away: a copy in the models store is then restored by its run id, "
                "and without TRAINER_RUN_ID a new run starts"
            ) from error

    def description(self) -> RunDescription:
        return RunDescription(name=self.name, note=self.note, tags=self.tags)

    def write(self, path: Path) -> None:
        write_whole(path, self.model_dump_json(indent=2).encode())


def begin_attempt(
    data_dir: Path,
    run_id: str,
    settings: TrainerSettings,
    now: datetime,
    overrides: Mapping[str, Any] | None = None,
    first: int = 0,
) -> Path:
    """Write the record of the next attempt at a known run, or of the `first` one; returns its path.

    The number of the attempt is on disk before the process starts, so that ids are not reused after
    a kill. `overrides` are the settings of this run only; None keeps the stored ones.
    """
    path = record_path(data_dir, run_id)
    known = RunRecord.read(path) if path.exists() else None
    if overrides is None:
        overrides = known.overrides if known else {}
    game = game_of(settings)
    RunRecord(
        run_id=run_id,
        created_at=known.created_at if known else now,
        attempts=known.attempts + 1 if known else first,
        settings=_stored(settings),
        overrides=dict(overrides),
        mode=settings.mode,
        game=game,
        provenance=provenance_of(settings, game),
        **(known.description().model_dump() if known else {}),
    ).write(path)
    return path


def game_of(settings: TrainerSettings) -> str | None:
    """Name of the game; None if its file cannot be read."""
    if settings.has_many_worlds:
        return f"worlds {settings.worlds}"
    try:
        return load_cartridge(settings.rom_path).game
    except CartridgeError:
        return None  # the process of the run reports it


def continues(record: RunRecord, settings: TrainerSettings) -> bool:
    """Whether a service with these settings may resume the run by itself.

    It resumes neither an evaluation, nor a run of another game, nor, unless its own mode is
    `quest`, one of `rlaif train --mode quest`.
    """
    mode = record.overrides.get("mode", settings.mode)
    if record.mode == "evaluation" or (record.mode == "quest") != (mode == "quest"):
        return False
    is_own = bool({"rom_path", "worlds"} & record.overrides.keys())
    return is_own or record.game is None or game_of(settings) in (record.game, None)


def _stored(settings: TrainerSettings) -> str:
    """By flat names, which do not depend on the blocks of a version."""
    values = flat_values(settings)
    return _FLAT.dump_json({n: values[n] for n in values if n not in CREDENTIALS}).decode()


def finish(data_dir: Path, run_id: str, why: End) -> None:
    """Record why a run ended."""
    path = record_path(data_dir, run_id)
    RunRecord.read(path).model_copy(update={"finished": why}).write(path)


def record_path(data_dir: Path, run_id: str) -> Path:
    """Path of the record of a run."""
    return data_dir / "runs" / run_id / _FILE


def list_runs(data_dir: Path) -> list[RunRecord]:
    """All runs with a readable record, newest first."""
    found = []
    for path in (data_dir / "runs").glob(f"*/{_FILE}"):
        try:
            found.append(RunRecord.read(path))
        except (OSError, UnreadableRunError) as error:
            logger.warning("a run's record cannot be read", extra={"reason": str(error)})
    return sorted(found, key=lambda run: run.created_at, reverse=True)


def check_newest(data_dir: Path) -> None:
    """Check that the most recently written record is readable: its run may be resumed.

    Raises:
        OSError, UnreadableRunError: It is not readable.
    """
    records = (data_dir / "runs").glob(f"*/{_FILE}")
    newest = max(records, key=lambda path: path.stat().st_mtime, default=None)
    if newest is not None:
        RunRecord.read(newest)


def new_run_id(now: datetime) -> str:
    """Return an id from the start time, which sorts by age."""
    return now.strftime("r%y%m%d%H%M%S")
