"""The one run that the service trains now, and the runs on disk."""

import asyncio
import logging
import re
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from rlaif.contracts.events import EventData
from rlaif.contracts.ids import ID_PATTERN
from rlaif.contracts.telemetry import RunHistory
from rlaif.service.metrics import ServiceMetrics
from rlaif.service.settings import describe
from rlaif.storage.open import S3Credentials, open_store
from rlaif.storage.ports import ObjectStore, StorageError
from rlaif.trainer import checks
from rlaif.trainer.run_folder import checkpoints, disk
from rlaif.trainer.run_folder.checkpoints import CheckpointError
from rlaif.trainer.run_folder.protocol import (
    CheckpointNotSaved,
    Command,
    CurriculumTold,
    EvaluationDone,
    EvaluationFailed,
    IterationDone,
    LoadRewardModel,
    Message,
    RewardModelRefused,
    SearchTold,
    Started,
)
from rlaif.trainer.run_folder.record import RunRecord, list_runs, new_run_id, record_path
from rlaif.trainer.run_folder.spool import Spool
from rlaif.trainer.run_folder.standing import SCREENS
from rlaif.trainer.service.metrics import TrainerMetrics
from rlaif.trainer.service.runs import checkpoint_store
from rlaif.trainer.service.runs.history import HistoryLog
from rlaif.trainer.service.runs.past import RunPast
from rlaif.trainer.service.runs.player_calls import PlayerCalls
from rlaif.trainer.service.runs.state import RunState
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)

_STORE_RETRY_SECONDS = 5.0
_PASTS_KEPT = 3


class RunInProgressError(Exception):
    """A run is in progress; stop it before starting another."""


class RunManager:
    """Starts, stops and resumes runs; at most one at a time.

    `captures_lost` says why captures are being dropped; None when none is.
    """

    def __init__(self, settings: TrainerSettings, metrics: ServiceMetrics) -> None:
        self._settings = settings
        self._data_dir = settings.data_dir.resolve()
        self._current: RunSupervisor | None = None
        self._history: HistoryLog | None = None
        self._pasts: list[RunPast] = []
        self._model: LoadRewardModel | None = None
        self._why_not: str | None = None
        self._starting = asyncio.Lock()
        self._listener: Callable[[Message], None] | None = None
        self._metrics = TrainerMetrics(metrics)
        self._metrics.watch(lambda: self.alive, lambda: self.state.attempt if self.state else 0)
        self.captures_lost: str | None = None
        self._seen_captured = 0
        self.player_calls = PlayerCalls()

    def listen(self, listener: Callable[[Message], None]) -> None:
        """Tell `listener` every message of the runs, after it is folded into `state`."""
        self._listener = listener

    async def resume_or_start(self) -> None:
        """Resume the run that the settings name, or the newest that can; else begin one.

        A finished run is never resumed automatically, and no new one replaces it. While the
        store that may know the named run is away, waits for it.
        """
        while True:
            try:
                await self._resume_or_start()
            except StorageError as error:
                named = self._settings.run.id or self._settings.run.checkpoint
                self._why_not = f"cannot look for {named} in the models store: {error}"
                log.warning("the run waits for the models store", extra={"reason": str(error)})
                await asyncio.sleep(_STORE_RETRY_SECONDS)
                continue
            except OSError as error:
                self._why_not = f"no run can be started: {disk.why(error)}; tried again"
                log.warning("the run waits for the disk", extra={"reason": disk.why(error)})
                await asyncio.sleep(_STORE_RETRY_SECONDS)
                continue
            except (checks.WrongSettingsError, CheckpointError) as error:
                self._refuse_to_start(str(error))
            except RunInProgressError:
                pass  # somebody was quicker
            except Exception as error:
                # Nobody waits for this task: what ends it must be said here.
                self._why_not = f"no run was started: {type(error).__name__}: {error}"
                log.exception("no run was started")
            return

    def _refuse_to_start(self, why: str) -> None:
        """Let a known run show as failed, wherever runs are looked for; nothing of it changes."""
        self._why_not = why
        log.error("no run was started", extra={"reason": why})
        run_id = self._settings.run.id or next((each.run_id for each in self.on_disk()), None)
        if run_id is not None and self.record(run_id) is not None:
            self._current = RunSupervisor(self._settings, run_id)
            self._current.state = RunState(run_id=run_id, status="failed", failure=why)

    async def _resume_or_start(self) -> None:
        if self._settings.run.id is not None or self._settings.run.mode == "evaluation":
            await self.start(self._settings.run.id)
            return
        known = [record for record in self.on_disk() if record.mode != "evaluation"]
        if known and known[0].finished is not None:
            log.info(
                "the newest run is finished: start another one by POST /api/v1/runs",
                extra={"run_id": known[0].run_id, "why": known[0].finished},
            )
            return
        await self.start(known[0].run_id if known else None)

    async def start(
        self, run_id: str | None = None, overrides: Mapping[str, Any] | None = None
    ) -> RunSupervisor:
        """Start a new run, or resume one from disk or the models store; None makes a new id.

        The `overrides` are settings of this run alone, by field name or environment variable; of a
        known run they are added to those that it had.

        Raises:
            RunInProgressError: There is one already.
            WrongSettingsError: It cannot start with these settings.
            CheckpointError: There are only damaged checkpoints of it.
            StorageError: The run, or the checkpoint that it begins with or evaluates, is not on
                disk and the store was not reached.
        """
        async with self._starting:
            if self._current is not None and self._current.alive:
                raise RunInProgressError(
                    f"run {self._current.state.run_id} is in progress: stop it before another"
                )
            record, found = None, None
            if run_id is not None and await self.bring_back(run_id):
                record = self.record(run_id)
                folder = self.directory(run_id) / "checkpoints"
                found = await asyncio.to_thread(checkpoints.newest_usable, folder)
            own = (record.overrides if record else {}) | checks.by_field(dict(overrides or {}))
            settings = checks.with_overrides(self._settings, own)
            named = settings.run.checkpoint
            if named is not None and (not found or settings.run.mode == "evaluation"):
                await self._bring_back_checkpoint(named)
            given = {each.name for each in describe(TrainerSettings) if self._settings.gives(each)}
            settings = await asyncio.to_thread(
                checks.check, settings, found[0] if found else None, given | set(own)
            )
            self._why_not = None
            self._current = RunSupervisor(
                settings, run_id or self._new_id(), self._note, overrides=own
            )
            identity = self._current.state.run_id
            self._history = HistoryLog(identity, self.directory(identity))
            self._remember(self._current, self._history)
            # The one before may still have something to tell.
            self._pasts = [past for past in self._pasts if not past.is_empty][-_PASTS_KEPT:]
            self._pasts.append(RunPast(identity, self.directory(identity), settings))
            self._current.start(self._model)
            await asyncio.sleep(0)  # whoever is told the id finds the run's record on disk
            return self._current

    async def bring_back(self, run_id: str) -> bool:
        """Fetch a run from the models store unless it is on disk; whether it is known now.

        Raises as `start` does.
        """
        return self.record(run_id) is not None or await self._restore(run_id)

    async def _bring_back_checkpoint(self, name: str) -> None:
        """Likewise the checkpoint of that name; `checks.check` reports one that is nowhere."""
        run_id, _, iteration = name.partition("/")
        is_here = await asyncio.to_thread(checkpoints.is_on_disk, self._data_dir, name)
        if not is_here and re.match(ID_PATTERN, run_id):
            await self._restore(run_id, iteration)

    async def _restore(self, run_id: str, iteration: str = "") -> bool:
        restored = await asyncio.to_thread(
            lambda: checkpoint_store.restore_run(self._store(), self._data_dir, run_id, iteration)
        )
        if restored is not None:
            log.info("run brought back from the store", extra={"checkpoint": str(restored)})
        return restored is not None

    async def stop(self) -> None:
        """Stop the current run, if any; it can be resumed."""
        if self._current is not None:
            await self._current.stop()

    def kill(self) -> None:
        """End the current run at once; what it did not save is lost."""
        if self._current is not None:
            self._current.kill()

    async def send(self, command: Command) -> None:
        """Pass a command to the current run; a reward model also to the runs after it."""
        if isinstance(command, LoadRewardModel):
            self._model = command
        if self._current is not None:
            await self._current.send(command)

    async def wait(self) -> None:
        """Until the current run ends."""
        if self._current is not None:
            await self._current.wait()

    def refuse(self, refusal: RewardModelRefused) -> None:
        """Note a reward model that did not even come to the run's process."""
        if self._current is not None:
            self._current.state = self._current.state.after(refusal)
        self._note(refusal)

    @property
    def state(self) -> RunState | None:
        """Of the current run."""
        return self._current.state if self._current else None

    def history(self) -> RunHistory | None:
        """What the current run went through."""
        return self._history.reading(datetime.now(UTC)) if self._history else None

    def next_past(self) -> EventData | None:
        """What is to be published next of what runs went through; None for nothing now."""
        for past in self._pasts:
            ended = past is not self._pasts[-1] or not self.alive
            if (event := past.next(ended=ended)) is not None:
                return event
        return None

    def told_past(self, event: EventData, now: datetime) -> None:
        """It was published, or nobody can."""
        for past in self._pasts:
            past.told(event, now)

    @property
    def alive(self) -> bool:
        """Whether a run is in progress."""
        return self._current is not None and self._current.alive

    def spools(self) -> list[Spool]:
        """Of all runs: what an earlier one left is uploaded too."""
        return [Spool(self.directory(record.run_id) / "spool") for record in self.on_disk()]

    @property
    def screens(self) -> Path | None:
        """Where the runners of the current run leave their pictures."""
        return self._current.directory / SCREENS if self._current else None

    def current_folder(self) -> tuple[str, Path] | None:
        """Id and folder of the current run; None without one."""
        run = self._current
        return None if run is None else (run.state.run_id, run.directory)

    @property
    def segments_captured(self) -> int:
        """By the current run, as far as reported."""
        state = self.state
        return state.last.segments_captured if state and state.last else 0

    @property
    def trouble(self) -> str | None:
        """Why no run is training; None when one is, or is not wanted."""
        if self._why_not is not None:
            return self._why_not
        state = self.state
        if state is None or state.status != "failed":
            return None
        return f"run {state.run_id} failed: {state.failure}; see training.log beside its run.json"

    @property
    def disk_trouble(self) -> str | None:
        """What the disk does to the run now; None when nothing."""
        return self.state.disk_trouble if self.state is not None else None

    @property
    def learning_trouble(self) -> str | None:
        """Why the run learns nothing though it plays; None when it does learn."""
        return self.state.learning_trouble if self.state is not None else None

    @property
    def planner_trouble(self) -> str | None:
        """Which routes of the planner give no answer; None when all do, or none is asked."""
        return self.state.planner_trouble if self.state is not None and self.alive else None

    def directory(self, run_id: str) -> Path:
        """Where a run keeps its files."""
        return self._data_dir / "runs" / run_id

    def on_disk(self) -> list[RunRecord]:
        """All runs, the newest first."""
        return list_runs(self._data_dir)

    def record(self, run_id: str) -> RunRecord | None:
        """What is on disk of a run; None when it is not there."""
        path = record_path(self._data_dir, run_id)
        return RunRecord.read(path) if path.exists() else None

    def _new_id(self) -> str:
        """An id that no run on disk has; two runs may start in one second."""
        first = made = new_run_id(datetime.now(UTC))
        number = 1
        while self.record(made) is not None:
            number += 1
            made = f"{first}-{number}"
        return made

    def _store(self) -> ObjectStore:
        return open_store(self._settings.models_store, S3Credentials.of(self._settings))

    def _note(self, message: Message) -> None:
        now = datetime.now(UTC)
        if self._history is not None:
            self._history.note(message, now)
        if self._pasts and self.state is not None:
            self._pasts[-1].note(message, now, self.state.attempt)
        if self._listener is not None:
            self._listener(message)
        match message:
            case RewardModelRefused():
                self._metrics.refused_model()
                log.error(
                    "reward model refused; the one before counts",
                    extra={
                        "version": message.version,
                        "reason": message.reason,
                        "rolled_back": message.rolled_back,
                    },
                )
            case CheckpointNotSaved():
                log.error("checkpoint not saved", extra={"reason": message.reason})
            case EvaluationFailed():
                log.error("evaluation failed", extra={"reason": message.reason})
            case EvaluationDone():
                log.info(
                    "evaluated",
                    extra={
                        "evaluation": message.evaluation_id,
                        "fraction": message.fraction_mean,
                        "return": message.return_mean,
                    },
                )
            case Started() if message.passed_over:
                log.warning("not all was resumed", extra={"passed_over": message.passed_over})
            case IterationDone():
                self._measure(message)
            case SearchTold():
                self._metrics.quest.searched(message)
            case CurriculumTold():
                self._metrics.quest.taught(message)
            case _:
                pass

    def _remember(self, run: RunSupervisor, history: HistoryLog) -> None:
        """Let a run that was resumed say what it found before this service started."""
        run.state = replace(
            run.state,
            search=history.search,
            curriculum=history.curriculum,
            world=history.world,
        )
        if history.search is not None:
            self._metrics.quest.searched(history.search)
        if history.curriculum is not None:
            self._metrics.quest.taught(history.curriculum)

    def _measure(self, message: IterationDone) -> None:
        state = self.state
        self._metrics.iterated(message, state.reward_model_version if state is not None else None)
        self._note_captures(message)
        if state is not None:
            self.player_calls.note(state.run_id, message)
        if message.not_learned is not None:
            log.error("an iteration taught nothing", extra={"reason": message.not_learned})

    def _note_captures(self, message: IterationDone) -> None:
        if message.captures_lost is not None and self.captures_lost is None:
            log.error(
                "captures are dropped; training goes on",
                extra={"reason": message.captures_lost, "dropped": message.segments_dropped},
            )
        # An iteration without captures says nothing about the spool.
        if message.captures_lost is not None or message.segments_captured != self._seen_captured:
            self.captures_lost = message.captures_lost
        self._seen_captured = message.segments_captured
