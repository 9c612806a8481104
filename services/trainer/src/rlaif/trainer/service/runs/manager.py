"""The current run of the service, and the runs on disk."""

import asyncio
import logging
import re
from collections import deque
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlaif.contracts.events import EventData
from rlaif.contracts.model import ID_PATTERN
from rlaif.contracts.run_origin import RunDescription
from rlaif.contracts.telemetry.readings import PlayerCall
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.settings import describe, stored
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer import checks
from rlaif.trainer.run_folder import checkpoints, protocol
from rlaif.trainer.run_folder.checkpoints import CheckpointError
from rlaif.trainer.run_folder.live_files import SCREENS
from rlaif.trainer.run_folder.record import (
    RunRecord,
    UnreadableRunError,
    check_newest,
    continues,
    list_runs,
    new_run_id,
    record_path,
)
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.service.metrics import TrainerMetrics
from rlaif.trainer.service.runs import store
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

logger = logging.getLogger(__name__)

_RETRY_SECONDS = 5.0
_PASTS_KEPT = 3
_MAX_PLAYER_CALLS = 100
"""Calls kept while NATS is unavailable."""


_LOGGED: dict[type[protocol.Message], tuple[int, str]] = {
    protocol.RewardModelRefused: (
        logging.ERROR, "reward model rejected; the previous one stays",
    ),
    protocol.CheckpointNotSaved: (logging.ERROR, "checkpoint not saved"),
    protocol.EvaluationFailed: (logging.ERROR, "evaluation failed"),
    protocol.EvaluationDone: (logging.INFO, "evaluated"),
}  # fmt: skip


class RunInProgressError(Exception):
    """A run is in progress; stop it before starting another."""


class RunManager:
    """Starts, stops and resumes runs; at most one at a time.

    Attributes:
        captures_lost: Why captures are being dropped; None if none is.
    """

    def __init__(self, settings: TrainerSettings, metrics: ServiceMetrics) -> None:
        self._settings = settings
        self._data_dir = settings.data_dir.resolve()
        self._current: RunSupervisor | None = None
        self._pasts: list[RunPast] = []
        self._model: protocol.LoadRewardModel | None = None
        self._not_started: str | None = None
        self._starting = asyncio.Lock()
        self._listener: Callable[[protocol.Message], None] | None = None
        self._metrics = TrainerMetrics(metrics)
        self._metrics.watch(
            in_progress=lambda: self.alive,
            attempt=lambda: state.attempt if (state := self.state) else 0,
            evaluating=lambda: (state := self.state) is not None and state.evaluating,
        )
        self.captures_lost: str | None = None
        self._seen_captured = 0
        self._player_calls: deque[PlayerCall] = deque(maxlen=_MAX_PLAYER_CALLS)

    def listen(self, listener: Callable[[protocol.Message], None]) -> None:
        """Call `listener` with every message of the runs, after it is folded into `state`."""
        self._listener = listener

    async def resume_or_start(self) -> None:
        """Resume the configured run, or the newest one; start a run if there is none.

        A finished run is neither resumed nor replaced automatically. Waits while the store that may
        contain the configured run is unavailable.
        """
        while True:
            try:
                await self._resume_or_start()
            except (StorageError, OSError) as error:
                reason = f"no run can be started: {error}; retrying"
                if isinstance(error, StorageError):
                    named = self._settings.run_id or self._settings.checkpoint
                    reason = f"cannot search for {named} in the models store: {error}"
                self._not_started = reason
                logger.warning("the run waits for store or disk", extra={"reason": reason})
                await asyncio.sleep(_RETRY_SECONDS)
                continue
            except (checks.WrongSettingsError, CheckpointError) as error:
                self._refuse_to_start(str(error))
            except RunInProgressError:
                pass  # started by a request meanwhile
            except UnreadableRunError as error:
                self._not_started = f"no run was started: {error}"
                logger.error("no run was started", extra={"reason": str(error)})
            except Exception as error:
                # No caller awaits this task: report the error here.
                self._not_started = f"no run was started: {type(error).__name__}: {error}"
                logger.exception("no run was started")
            return

    def _refuse_to_start(self, reason: str) -> None:
        """Report a known run as failed in REST and telemetry without changing it."""
        self._not_started = reason
        logger.error("no run was started", extra={"reason": reason})
        run_id = self._settings.run_id or next((each.run_id for each in self.on_disk()), None)
        if run_id is not None and self.record(run_id) is not None:
            self._current = RunSupervisor(self._settings, run_id)
            self._current.state = RunState(run_id=run_id, status="failed", failure=reason)

    async def _resume_or_start(self) -> None:
        if self._settings.run_id is not None or self._settings.mode == "evaluation":
            await self.start(self._settings.run_id)
            return
        # A new run in its place would start from scratch, despite the existing training.
        check_newest(self._data_dir)
        known = next((each for each in self.on_disk() if continues(each, self._settings)), None)
        if known is not None and known.finished is not None:
            logger.info(
                "the newest run is finished: start another one by POST /api/v1/runs",
                extra={"run_id": known.run_id, "reason": known.finished},
            )
            return
        await self.start(None if known is None else known.run_id)

    async def start(
        self, run_id: str | None = None, overrides: Mapping[str, Any] | None = None
    ) -> RunSupervisor:
        """Start a new run, or resume one from disk or the models store; None creates an id.

        The `overrides` are settings of this run only, by field name or environment variable; they
        are added to those of a known run.

        Raises:
            RunInProgressError: A run is in progress.
            WrongSettingsError: The run cannot start with these settings.
            CheckpointError: All its checkpoints are damaged.
            StorageError: The run or its initial checkpoint is not on disk, and the store is
                unavailable.
        """
        async with self._starting:
            if self._current is not None and self._current.alive:
                raise RunInProgressError(
                    f"run {self._current.state.run_id} is in progress: stop it before another"
                )
            record, found = None, None
            if run_id is not None and await self.bring_back(run_id):
                record = self.record(run_id)
                found = await self._newest_checkpoint(run_id)
            own = stored(TrainerSettings, record.overrides if record else {})
            own |= checks.by_field(dict(overrides or {}))
            settings = checks.with_overrides(self._settings, own)
            if found and settings.mode == "evaluation":
                raise checks.WrongSettingsError(
                    f"run {run_id} has trained, and an evaluation is a run of its own: give it "
                    "another TRAINER_RUN_ID, or none"
                )
            named = settings.checkpoint
            if named is not None and not found:
                await self._bring_back_checkpoint(named)
            given = {each.name for each in describe(TrainerSettings) if settings.gives(each)}
            settings = await asyncio.to_thread(
                checks.check, settings, found[0] if found else None, given | set(own)
            )
            self._not_started = None
            first = 0
            if run_id is not None and record is None:  # a lost machine may have started it
                first = await asyncio.to_thread(
                    lambda: store.claim_attempts(self.open_store(), run_id)
                )
            identity = run_id or self._new_id()
            if self._current is not None and self._current.state.run_id != identity:
                self._metrics.forget_run()
            self._current = RunSupervisor(settings, identity, self._note, own, first)
            # Earlier runs may have unpublished events.
            self._pasts = [past for past in self._pasts if not past.is_empty][-_PASTS_KEPT:]
            self._pasts.append(RunPast(identity, self.directory(identity), settings))
            self._restore_reports(self._current, self._pasts[-1])
            self._current.start(self._model)
            await asyncio.sleep(0)  # the run's record is on disk before its id is returned
            return self._current

    async def _newest_checkpoint(self, run_id: str) -> tuple[Path, list[str]] | None:
        """The newest intact checkpoint; that of a Ray job is in the models store."""
        folder = self.directory(run_id) / "checkpoints"
        found = await asyncio.to_thread(checkpoints.newest_usable, folder)
        if found is None and self._settings.run_on == "ray-job" and await self._restore(run_id):
            found = await asyncio.to_thread(checkpoints.newest_usable, folder)
        return found

    async def bring_back(self, run_id: str) -> bool:
        """Fetch a run from the models store unless it is on disk; returns whether it exists."""
        return self.record(run_id) is not None or await self._restore(run_id)

    async def _bring_back_checkpoint(self, name: str) -> None:
        """Fetch a checkpoint unless it is on disk; `checks.check` reports a missing one."""
        run_id, _, iteration = name.partition("/")
        is_here = await asyncio.to_thread(checkpoints.is_on_disk, self._data_dir, name)
        if not is_here and re.match(ID_PATTERN, run_id):
            await self._restore(run_id, iteration)

    async def _restore(self, run_id: str, iteration: str = "") -> bool:
        restored = await asyncio.to_thread(
            lambda: store.restore_run(self.open_store(), self._data_dir, run_id, iteration)
        )
        if restored is not None:
            logger.info("run restored from the models store", extra={"checkpoint": str(restored)})
        return restored is not None

    async def stop(self) -> None:
        if self._current is not None:
            await self._current.stop()

    def kill(self) -> None:
        if self._current is not None:
            self._current.kill()

    async def send(self, command: protocol.Command) -> None:
        """Pass a command to the current run, and a reward model also to later runs."""
        if isinstance(command, protocol.LoadRewardModel):
            self._model = command
        if self._current is not None:
            await self._current.send(command)

    async def wait(self) -> None:
        if self._current is not None:
            await self._current.wait()

    def refuse(self, refusal: protocol.RewardModelRefused) -> None:
        """Record a reward model that could not be passed to the run's process."""
        if self._current is not None:
            self._current.state = self._current.state.after(refusal)
        self._note(refusal)

    @property
    def state(self) -> RunState | None:
        return self._current.state if self._current else None

    def take_player_calls(self) -> list[PlayerCall]:
        """Calls to the planner since the last call of this, oldest first."""
        taken = list(self._player_calls)
        self._player_calls.clear()
        return taken

    def next_event(self) -> EventData | None:
        """The next unpublished event of all runs, or None."""
        for past in self._pasts:
            ended = past is not self._pasts[-1] or not self.alive
            if (event := past.next(ended=ended)) is not None:
                return event
        return None

    @property
    def events_waiting(self) -> bool:
        return any(not past.is_empty for past in self._pasts)

    def event_published(self, event: EventData) -> None:
        for past in self._pasts:
            past.published(event, datetime.now(UTC))

    @property
    def alive(self) -> bool:
        return self._current is not None and self._current.alive

    def spools(self) -> list[Spool]:
        return [Spool(self.directory(record.run_id) / "spool") for record in self.on_disk()]

    @property
    def screens(self) -> Path | None:
        return self._current.directory / SCREENS if self._current else None

    def current_folder(self) -> tuple[str, Path] | None:
        run = self._current
        return None if run is None else (run.state.run_id, run.directory)

    @property
    def segments_captured(self) -> int:
        state = self.state
        last = state and (state.last or state.search)
        return last.segments_captured if last else 0

    @property
    def issue(self) -> str | None:
        """Why no run is training; None if one is, or if none is requested."""
        if self._not_started is not None:
            return self._not_started
        state = self.state
        if state is not None and state.status == "starting" and state.failure is not None:
            return f"run {state.run_id} has not started yet: {state.failure}; retrying"
        if state is None or state.status != "failed":
            return None
        return f"run {state.run_id} failed: {state.failure}; see training.log beside its run.json"

    def directory(self, run_id: str) -> Path:
        return self._data_dir / "runs" / run_id

    def on_disk(self) -> list[RunRecord]:
        return list_runs(self._data_dir)

    def record(self, run_id: str) -> RunRecord | None:
        path = record_path(self._data_dir, run_id)
        return RunRecord.read(path) if path.exists() else None

    def describe(self, run_id: str, description: RunDescription) -> RunRecord:
        """Keep name, note and tags of a run on disk, and report them.

        Raises:
            FileNotFoundError: There is no such run.
            OSError: The disk is not writable.
        """
        path = record_path(self._data_dir, run_id)
        described = RunRecord.read(path).model_copy(update=dict(description))
        described.write(path)
        past = next((each for each in self._pasts if each.run_id == run_id), None)
        if past is None:
            past = RunPast(run_id, self.directory(run_id), self._settings)
            self._pasts.insert(0, past)  # the last one is of the current run
        past.describe(description, datetime.now(UTC))
        return described

    def _new_id(self) -> str:
        """An id that no run on disk has, even if two start in one second."""
        first = made = new_run_id(datetime.now(UTC))
        number = 1
        while self.record(made) is not None:
            number += 1
            made = f"{first}-{number}"
        return made

    def open_store(self) -> ObjectStore:
        return open_store(self._settings.models_store, S3Credentials.of(self._settings))

    @property
    def _publishes(self) -> bool:
        """False for a Ray job: it publishes events and planner calls itself."""
        return self._settings.run_on == "process"

    def _note(self, message: protocol.Message) -> None:
        if self._publishes and self._pasts and self.state is not None:
            self._pasts[-1].note(message, datetime.now(UTC), self.state.attempt)
        if self._listener is not None:
            self._listener(message)
        if (known := _LOGGED.get(type(message))) is not None:
            level, text = known
            logger.log(level, text, extra={"report": message.model_dump(exclude={"kind"})})
        match message:
            case protocol.RewardModelRefused():
                self._metrics.refused_model()
            case protocol.Started() if message.passed_over:
                logger.warning("resumed in part", extra={"passed_over": message.passed_over})
            case protocol.IterationDone():
                self._note_iteration(message)
            case protocol.SearchReport():
                self._metrics.searched(message)
            case protocol.CurriculumReport():
                self._metrics.curriculum(message)
            case _:
                pass

    def _restore_reports(self, run: RunSupervisor, past: RunPast) -> None:
        """Restore the newest reports of a resumed run, which may not send them again."""
        kept = past.kept
        run.state = replace(
            run.state, search=kept.search, curriculum=kept.curriculum, world=kept.world
        )
        if kept.search is not None:
            self._metrics.searched(kept.search)
        if kept.curriculum is not None:
            self._metrics.curriculum(kept.curriculum)

    def _note_iteration(self, message: protocol.IterationDone) -> None:
        state = self.state
        self._metrics.iterated(message, state.reward_model_version if state is not None else None)
        self._note_captures(message)
        if self._publishes and state is not None and message.assistance is not None:
            now = datetime.now(UTC)
            self._player_calls.extend(
                PlayerCall(at=now, run_id=state.run_id, **event.model_dump())
                for event in message.assistance.events
            )
        if message.not_learned is not None:
            logger.error("iteration without policy update", extra={"reason": message.not_learned})

    def _note_captures(self, message: protocol.IterationDone) -> None:
        if message.captures_lost is not None and self.captures_lost is None:
            logger.error(
                "captures are dropped; training continues",
                extra={"reason": message.captures_lost, "dropped": message.segments_dropped},
            )
        # An iteration without captures is no evidence about the spool.
        if message.captures_lost is not None or message.segments_captured != self._seen_captured:
            self.captures_lost = message.captures_lost
        self._seen_captured = message.segments_captured
