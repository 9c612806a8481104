"""A run on disk: `runs/{run_id}/run.json` and what stands beside it."""

import logging
from collections.abc import Mapping
from datetime import datetime
from pathlib import Path
from typing import Any

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field, TypeAdapter, ValidationError

from rlaif.contracts.ids import Id
from rlaif.files.whole import write_whole
from rlaif.service.settings import flat_values
from rlaif.trainer.run_folder.plan import End
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.run import Mode

log = logging.getLogger(__name__)

_FILE = "run.json"
_FLAT: TypeAdapter[dict[str, Any]] = TypeAdapter(dict[str, Any])


class RunRecord(BaseModel):
    """What identifies a run across restarts."""

    model_config = ConfigDict(frozen=True)

    run_id: Id
    created_at: AwareDatetime
    attempts: int = Field(ge=0, description="Times its process was started; part of every id.")
    settings: str = Field(description="JSON of the settings of the last attempt, secrets left out.")
    overrides: dict[str, Any] = Field(
        default_factory=dict, description="Settings of this run alone, by field name."
    )
    mode: Mode = "continuous"
    finished: End | None = Field(
        default=None, description="Why it came to its end; null while it can be resumed."
    )

    @staticmethod
    def read(path: Path) -> "RunRecord":
        """Read a `run.json`."""
        return RunRecord.model_validate_json(path.read_text())

    def write(self, path: Path) -> None:
        """Write it; the file appears whole."""
        write_whole(path, self.model_dump_json(indent=2).encode())


_SECRETS = {"s3_secret_key", "s3_access_key", "api_token", "nats_url", "planner_api_key"}


def begin_attempt(
    data_dir: Path,
    run_id: str,
    settings: TrainerSettings,
    now: datetime,
    overrides: Mapping[str, Any] | None = None,
) -> Path:
    """Write the record of the next attempt at a run, new or known; returns its `run.json`.

    The number of the attempt is on disk before the process starts, so that a killed attempt's
    ids are never given again. `overrides` are the settings that are this run's own; None keeps
    those that it had.
    """
    path = record_path(data_dir, run_id)
    known = RunRecord.read(path) if path.exists() else None
    if overrides is None:
        overrides = known.overrides if known else {}
    RunRecord(
        run_id=run_id,
        created_at=known.created_at if known else now,
        attempts=known.attempts + 1 if known else 0,
        settings=_stored(settings),
        overrides=dict(overrides),
        mode=settings.mode,
    ).write(path)
    return path


def _stored(settings: TrainerSettings) -> str:
    """By flat names: the blocks may change, what a run was started with does not."""
    values = flat_values(settings)
    return _FLAT.dump_json({n: values[n] for n in values if n not in _SECRETS}).decode()


def finish(data_dir: Path, run_id: str, why: End) -> None:
    """Note that a run came to its end."""
    path = record_path(data_dir, run_id)
    RunRecord.read(path).model_copy(update={"finished": why}).write(path)


def record_path(data_dir: Path, run_id: str) -> Path:
    """Where the record of a run is."""
    return data_dir / "runs" / run_id / _FILE


def list_runs(data_dir: Path) -> list[RunRecord]:
    """All runs, the newest first; one whose record cannot be read does not hide the others."""
    found = []
    for path in (data_dir / "runs").glob(f"*/{_FILE}"):
        try:
            found.append(RunRecord.read(path))
        except (OSError, ValidationError) as error:
            log.warning("a run's record cannot be read", extra={"reason": str(error)})
    return sorted(found, key=lambda run: run.created_at, reverse=True)


def new_run_id(now: datetime) -> str:
    """`r` and the time of its start: sorts by age, fits an id, is short inside other ids."""
    return now.strftime("r%y%m%d%H%M%S")
