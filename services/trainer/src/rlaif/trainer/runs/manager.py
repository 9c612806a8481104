"""The one run that the service trains now, and the runs on disk."""

import logging
from datetime import UTC, datetime
from pathlib import Path

from rlaif.service.metrics import ServiceMetrics
from rlaif.trainer.runs.protocol import (
    Command,
    IterationDone,
    LoadRewardModel,
    Message,
    RewardModelRefused,
)
from rlaif.trainer.runs.record import RunRecord, list_runs, new_run_id
from rlaif.trainer.runs.spool import Spool
from rlaif.trainer.runs.state import RunState
from rlaif.trainer.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)


class RunInProgressError(Exception):
    """A run is going on; stop it before starting another."""


class RunManager:
    """Starts, stops and resumes runs; at most one at a time."""

    def __init__(self, settings: TrainerSettings, metrics: ServiceMetrics) -> None:
        """Nothing is started yet."""
        self._settings = settings
        self._current: RunSupervisor | None = None
        self._model: LoadRewardModel | None = None
        self._steps = metrics.gauge("env_steps", "Environment steps of the run.")
        self._rate = metrics.gauge("steps_per_second", "Environment steps a second.")
        self._captured = metrics.gauge("segments_captured", "Segments captured by the run.")
        self._version = metrics.gauge("reward_model_version", "Version that shapes rewards.")

    def resume_or_start(self) -> RunSupervisor:
        """Go on with the newest run, or start the first one."""
        known = list_runs(self._settings.data_dir.resolve())
        return self.start(known[0].run_id if known else None)

    def start(self, run_id: str | None = None) -> RunSupervisor:
        """Start a new run, or go on with `run_id`.

        Raises:
            RunInProgressError: There is one already.
        """
        if self._current is not None and self._current.alive:
            raise RunInProgressError(
                f"run {self._current.state.run_id} is going on: stop it before starting another"
            )
        self._current = RunSupervisor(
            self._settings, run_id or new_run_id(datetime.now(UTC)), self._note
        )
        self._current.start(self._model)
        return self._current

    async def stop(self) -> None:
        """Stop the current run, if any; it can be resumed."""
        if self._current is not None:
            await self._current.stop()

    async def send(self, command: Command) -> None:
        """Pass a command to the current run; a reward model also to the runs after it."""
        if isinstance(command, LoadRewardModel):
            self._model = command
        if self._current is not None:
            await self._current.send(command)

    @property
    def state(self) -> RunState | None:
        """Of the current run."""
        return self._current.state if self._current else None

    def spools(self) -> list[Spool]:
        """Of all runs: what an earlier one left is uploaded too."""
        return [Spool(self.directory(record.run_id) / "spool") for record in self.on_disk()]

    @property
    def screen_path(self) -> Path | None:
        """Picture file of the current run."""
        return self._current.directory / "screen.rgb" if self._current else None

    @property
    def segments_captured(self) -> int:
        """By the current run, as far as reported."""
        state = self.state
        return state.last.segments_captured if state and state.last else 0

    @property
    def trouble(self) -> str | None:
        """Why no run is training; None when one is, or is not wanted."""
        state = self.state
        if state is None or state.status != "failed":
            return None
        return f"run {state.run_id} failed: {state.failure}; see training.log beside its run.json"

    def directory(self, run_id: str) -> Path:
        """Where a run keeps its files."""
        return self._settings.data_dir.resolve() / "runs" / run_id

    def on_disk(self) -> list[RunRecord]:
        """All runs, the newest first."""
        return list_runs(self._settings.data_dir.resolve())

    def _note(self, message: Message) -> None:
        state = self.state
        if isinstance(message, RewardModelRefused):
            log.error(
                "reward model did not load; the one before stays",
                extra={"version": message.version, "reason": message.reason},
            )
        if isinstance(message, IterationDone) and state is not None:
            self._steps.set(message.env_steps)
            self._rate.set(message.steps_per_second)
            self._captured.set(message.segments_captured)
            if state.reward_model_version is not None:
                self._version.set(state.reward_model_version)
