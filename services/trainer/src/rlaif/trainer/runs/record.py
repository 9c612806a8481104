"""A run on disk: `runs/{run_id}/run.json` and what stands beside it."""

import json
from datetime import datetime
from pathlib import Path

from pydantic import AwareDatetime, BaseModel, ConfigDict, Field

from rlaif.contracts.ids import Id
from rlaif.trainer.settings import TrainerSettings

_FILE = "run.json"


class RunRecord(BaseModel):
    """What identifies a run across restarts."""

    model_config = ConfigDict(frozen=True)

    run_id: Id
    created_at: AwareDatetime
    attempts: int = Field(ge=0, description="Times its process was started; part of every id.")
    settings: str = Field(description="JSON of the settings of the last attempt, secrets left out.")

    @staticmethod
    def read(path: Path) -> "RunRecord":
        """Read a `run.json`."""
        return RunRecord.model_validate_json(path.read_text())


_SECRETS = {"s3_secret_key", "s3_access_key", "api_token", "nats_url"}


def begin_attempt(data_dir: Path, run_id: str, settings: TrainerSettings, now: datetime) -> Path:
    """Write the record of the next attempt at a run, new or known; returns its `run.json`.

    The number of the attempt is on disk before the process starts, so that a killed attempt's
    ids are never given again.
    """
    path = data_dir / "runs" / run_id / _FILE
    known = RunRecord.read(path) if path.exists() else None
    record = RunRecord(
        run_id=run_id,
        created_at=known.created_at if known else now,
        attempts=known.attempts + 1 if known else 0,
        settings=json.dumps(settings.model_dump(mode="json", exclude=_SECRETS)),
    )
    path.parent.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".partial")
    partial.write_text(record.model_dump_json(indent=2))
    partial.replace(path)
    return path


def list_runs(data_dir: Path) -> list[RunRecord]:
    """All runs, the newest first."""
    found = (data_dir / "runs").glob(f"*/{_FILE}")
    return sorted(map(RunRecord.read, found), key=lambda run: run.created_at, reverse=True)


def new_run_id(now: datetime) -> str:
    """`r` and the time of its start: sorts by age, fits an id, is short inside other ids."""
    return now.strftime("r%y%m%d%H%M%S")
