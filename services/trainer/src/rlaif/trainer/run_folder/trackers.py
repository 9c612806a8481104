"""Metrics of a run in Weights & Biases or MLflow (`METRICS_TO`), which are optional extras.

Both work without a server: data that is written offline can be synchronized later. A run that
repeats steps after a crash reports only those that were not reported before. An evaluation of the
checkpoint from which it continues is new.
"""

import os
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rlaif.trainer.run_folder.metrics_log import TIME, Sink
from rlaif.trainer.run_folder.metrics_rows import STEP, Row
from rlaif.trainer.run_folder.record import RunRecord

PROJECT = "zelda-rlaif"
"""W&B project unless WANDB_PROJECT is set; MLflow experiment unless MLFLOW_EXPERIMENT_NAME is."""

_MAX_PARAMS = 100
"""Limit of one request to MLflow."""


def tracker(kind: str, record: RunRecord, directory: Path) -> Sink:
    """Return the tracker of a run; its files are in `directory`."""
    return _Wandb(record, directory) if kind == "wandb" else _MlFlow(record, directory)


class _Tracker:
    def __init__(self, record: RunRecord, directory: Path) -> None:
        self._record, self._directory = record, directory
        self._reached = 0
        self._run: Any = None

    @property
    def _settings(self) -> dict[str, str]:
        origin = self._record.provenance
        return origin.settings if origin else {}

    def _resume(self, step: int, reached: int) -> None:
        """Rows up to the last reported step are known; without a crash, one at `step` is new."""
        self._reached = reached if reached > step else step - 1

    def _new(self, rows: Sequence[Row]) -> list[Row]:
        return [row for row in rows if row.get(STEP, -1) > self._reached]


class _Wandb(_Tracker):
    def begin(self, step: int, reached: int) -> None:
        import wandb

        self._resume(step, reached)
        chosen = {"WANDB_MODE", "WANDB_API_KEY"} & os.environ.keys()
        self._run = wandb.init(
            id=self._record.run_id,
            name=self._record.name,
            notes=self._record.note,
            tags=self._record.tags or None,
            project=os.environ.get("WANDB_PROJECT", PROJECT),
            dir=str(self._directory),
            config=self._settings,
            mode=None if chosen else "offline",
            resume="allow" if chosen else None,
        )
        self._run.define_metric("*", step_metric=STEP)

    def write(self, rows: Sequence[Row]) -> None:
        for row in self._new(rows):
            self._run.log(row)

    def close(self) -> None:
        if self._run is not None:
            self._run.finish()


class _MlFlow(_Tracker):
    def begin(self, step: int, reached: int) -> None:
        from mlflow import MlflowClient
        from mlflow.entities import Param

        self._resume(step, reached)
        os.environ.setdefault("MLFLOW_ALLOW_FILE_STORE", "true")  # needs no database
        here = (self._directory.parents[1] / "mlruns").resolve().as_uri()
        self._client = MlflowClient(os.environ.get("MLFLOW_TRACKING_URI", here))
        name = os.environ.get("MLFLOW_EXPERIMENT_NAME", PROJECT)
        found = self._client.get_experiment_by_name(name)
        experiment = found.experiment_id if found else self._client.create_experiment(name)
        run_id = self._record.run_id
        runs = self._client.search_runs([experiment], f"tags.rlaif_run_id = '{run_id}'")
        if runs:
            self._run = runs[0].info.run_id
            self._client.update_run(self._run, status="RUNNING")
            return
        self._run = self._client.create_run(
            experiment, tags={"rlaif_run_id": run_id}, run_name=self._record.name or run_id
        ).info.run_id
        params = [Param(key, value) for key, value in self._settings.items()]
        for first in range(0, len(params), _MAX_PARAMS):
            self._client.log_batch(self._run, params=params[first : first + _MAX_PARAMS])

    def write(self, rows: Sequence[Row]) -> None:
        from mlflow.entities import Metric

        for row in self._new(rows):
            at, step = int(1000 * row[TIME]), int(row[STEP])
            names = row.keys() - {TIME, STEP}
            metrics = [Metric(name, row[name], at, step) for name in sorted(names)]
            self._client.log_batch(self._run, metrics=metrics)

    def close(self) -> None:
        if self._run is not None:
            self._client.set_terminated(self._run)
