"""Starts, restarts and stops the training process of a run, and exchanges messages with it."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager, nullcontext
from dataclasses import replace
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from pydantic import ValidationError

from rlaif.files.locked import LockedError, lock
from rlaif.pacing.backoff import backoff
from rlaif.pacing.pause import pause
from rlaif.service.child_process import ONE_THREAD
from rlaif.service.settings import describe
from rlaif.trainer.run_folder import disk, session
from rlaif.trainer.run_folder.protocol import MESSAGES, Command, LoadRewardModel, Message, Stop
from rlaif.trainer.run_folder.provenance import CREDENTIALS
from rlaif.trainer.run_folder.record import RunRecord, begin_attempt, finish
from rlaif.trainer.service.runs.state import RunState, Status
from rlaif.trainer.settings import TrainerSettings

logger = logging.getLogger(__name__)

_PROCESS_MODULES = {
    "process": "rlaif.trainer.learner.process",
    "ray-job": "rlaif.trainer.learner.ray_job",
}
_WRONG_SETTINGS = 2
_QUICK_DEATH_SECONDS = 60.0
_QUICK_DEATHS_MAX = 4
_LONGEST_PAUSE = 15.0
_CLAIM_SECONDS = 10.0
"""Time that a process needs to end after its run is saved."""

_CLAIM_PAUSE = 1.0
"""Seconds between two attempts to lock a run."""


class RunSupervisor:
    """Supervises the process of one run."""

    def __init__(
        self,
        settings: TrainerSettings,
        run_id: str,
        on_message: Callable[[Message], None] = lambda message: None,
        overrides: Mapping[str, Any] | None = None,
        first_attempt: int = 0,
    ) -> None:
        """Prepare a new run, or one on disk.

        `on_message` is called with messages after they are folded into `state`. `overrides` are the
        settings of this run only; None keeps the stored ones. `first_attempt` is that of a new run.
        """
        self._settings = settings
        self._on_message = on_message
        self._overrides = overrides
        self.directory = settings.data_dir.resolve() / "runs" / run_id
        self.state = RunState(run_id=run_id, attempt=first_attempt)
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stop_requested = asyncio.Event()
        self._model: LoadRewardModel | None = None

    def start(self, model: LoadRewardModel | None = None) -> None:
        """Start the process in the background, with a reward model if there is one."""
        self._model = model
        self._stop_requested.clear()
        self._task = asyncio.create_task(self._keep_running(), name=f"run-{self.state.run_id}")

    async def stop(self) -> None:
        self._stop_requested.set()
        process = self._process
        if process is not None and process.returncode is None:
            self.state = replace(self.state, status="stopping")
            await self.send(Stop())
            try:
                await asyncio.wait_for(process.wait(), self._settings.stop_seconds)
            except TimeoutError:
                logger.error(
                    "the training process did not save within TRAINER_STOP_SECONDS and is killed",
                    extra={"iteration": self.state.iteration, "saved": self.state.checkpoint},
                )
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        if self._task is not None:
            await self._task

    def kill(self) -> None:
        self._stop_requested.set()
        if self._process is not None and self._process.returncode is None:
            self._process.kill()

    async def send(self, command: Command) -> None:
        """Pass a command to the process; a reward model is also passed to its successors."""
        if isinstance(command, LoadRewardModel):
            self._model = command
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(command.line())
            await process.stdin.drain()

    async def wait(self) -> None:
        if self._task is not None:
            await asyncio.shield(self._task)

    @property
    def _stopping(self) -> bool:
        return self._stop_requested.is_set()

    @property
    def alive(self) -> bool:
        return self._task is not None and not self._task.done()

    async def _keep_running(self) -> None:
        try:
            with await self._claim():
                await self._run_attempts()
        except LockedError as error:
            reason = f"process {error.owner} trains this run: stop it, or start another run"
            logger.error("the run cannot start", extra={"reason": reason})
            self.state = replace(self.state, status="failed", failure=reason)
        except Exception as error:
            # No caller awaits this task while the service runs: report the error here.
            logger.exception("run supervisor crashed")
            reason = f"the run supervisor crashed: {type(error).__name__}: {error}"
            self.state = replace(self.state, status="failed", failure=reason)

    async def _claim(self) -> AbstractContextManager[object]:
        """The lock of the run's folder: two processes would overwrite each other's files.

        The process of a killed service or launcher may still save the run for TRAINER_STOP_SECONDS.

        Raises:
            LockedError: Another process keeps it for longer.
        """
        end = time.monotonic() + self._settings.stop_seconds + _CLAIM_SECONDS
        reported = False
        while True:
            try:
                self.directory.mkdir(parents=True, exist_ok=True)
                return lock(self.directory / "lock")
            except LockedError:
                if time.monotonic() > end or self._stopping:
                    raise
                if not reported:
                    logger.warning("another process saves the run: waiting for its end")
                reported = True
            except OSError as error:  # a full disk is waited for below; some have no locks
                logger.warning("the run is not locked", extra={"reason": str(error)})
                return nullcontext()
            await pause(_CLAIM_PAUSE, unless=self._stop_requested)

    async def _run_attempts(self) -> None:
        quick_deaths = waits = 0
        while not self._stopping:
            began = time.monotonic()
            code, issue = await self._attempt()
            if self._stopping or code == 0:
                break
            if code == _WRONG_SETTINGS or self.state.failure_is_final:
                logger.error("the run cannot start", extra={"reason": self.state.failure})
                self.state = replace(self.state, status="failed")
                return
            was_quick = time.monotonic() - began < _QUICK_DEATH_SECONDS
            if issue is not None:
                # Not counted as a quick death: the disk may be full for hours.
                waits = waits + 1 if was_quick else 1
                await self._wait_for_disk(issue, seconds=_pause_after(waits))
                continue
            quick_deaths = quick_deaths + 1 if was_quick else 1
            logger.error(
                "training process ended",
                extra={"exit_code": code, "reason": self.state.failure, "in_a_row": quick_deaths},
            )
            if quick_deaths >= _QUICK_DEATHS_MAX:
                self.state = replace(self.state, status="failed")
                return
            await pause(_pause_after(quick_deaths), unless=self._stop_requested)
        self._record_end()

    async def _attempt(self) -> tuple[int | None, str | None]:
        """Run the process once; returns its exit code, None without a start, and the disk issue.

        If a process dies while nothing can be written, the disk is assumed to be the cause.
        """
        try:
            code = await self._run_once()
        except OSError as error:
            return None, disk.why(error)
        if code in (0, _WRONG_SETTINGS) or self.state.failure_is_final:
            return code, None
        issue = self.state.waiting_for or await asyncio.to_thread(disk.problem, self.directory)
        return code, issue

    async def _wait_for_disk(self, issue: str, *, seconds: float) -> None:
        """Report the issue until a file can be written; waits for at least one pause."""
        logger.error("the run waits for the disk", extra={"reason": issue})
        found: str | None = issue
        while found is not None and not self._stopping:
            self.state = replace(self.state, status="waiting", waiting_for=found)
            await pause(seconds, unless=self._stop_requested)
            found = await asyncio.to_thread(disk.problem, self.directory)

    def _record_end(self) -> None:
        ended = self.state.finished
        if ended is not None:
            try:
                finish(self._settings.data_dir.resolve(), self.state.run_id, ended)
            except OSError:  # a resumed run will end again at once
                logger.exception("the end of the run could not be recorded")
        status: Status = "stopped" if ended is None else "finished"
        self.state = replace(self.state, status=status, waiting_for=None)

    async def _run_once(self) -> int:
        run_file = begin_attempt(
            self._settings.data_dir.resolve(),
            self.state.run_id,
            self._settings,
            datetime.now(UTC),
            self._overrides,
            self.state.attempt,
        )
        record = RunRecord.read(run_file)
        self.state = replace(self.state.of_attempt(record.attempts), game=record.game)
        return await self._run_process(run_file, _environment(self._settings))

    async def _run_process(self, run_file: Path, environment: dict[str, str]) -> int:
        read_fd, write_fd = os.pipe()
        try:
            self._process = process = await self._spawn(run_file, write_fd, environment)
        except BaseException:
            os.close(read_fd)
            raise
        finally:
            os.close(write_fd)
        try:
            if self._stopping:  # requested during the start
                process.kill()
            if self._model is not None:
                await self.send(self._model)
            await self._read_messages(read_fd)
            return await process.wait()
        finally:
            if process.returncode is None:
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
            await asyncio.to_thread(session.end, process.pid)

    async def _spawn(
        self, run_file: Path, write_fd: int, environment: dict[str, str]
    ) -> asyncio.subprocess.Process:
        module = _PROCESS_MODULES[self._settings.run_on]
        with (self.directory / "training.log").open("ab") as output:
            return await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", module, str(run_file), str(write_fd)),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(write_fd,),
                start_new_session=True,  # Ctrl-C must reach the service only
                env=environment,
            )

    async def _read_messages(self, read_fd: int) -> None:
        reader = asyncio.StreamReader(limit=1 << 20)
        loop = asyncio.get_running_loop()
        with os.fdopen(read_fd, "rb") as pipe:
            transport, _ = await loop.connect_read_pipe(
                lambda: asyncio.StreamReaderProtocol(reader), pipe
            )
            try:
                while line := await reader.readline():
                    self._take(line)
            finally:
                transport.close()

    def _take(self, line: bytes) -> None:
        try:
            message = MESSAGES.validate_json(line)
        except ValidationError:
            logger.exception("training process sent an invalid message")
            return
        self.state = self.state.after(message)
        try:
            self._on_message(message)
        except Exception:
            logger.exception("a listener failed on a message of the run")


def _pause_after(attempt: int) -> float:
    return backoff(attempt, base=2.0, cap=_LONGEST_PAUSE)


def _environment(settings: TrainerSettings) -> dict[str, str]:
    """Environment of the process: one thread per library, and the planner's key as only credential.

    The key is passed here since it must not be in a file of the run. The process itself reaches
    neither NATS nor the stores.
    """
    more = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"}
    found = {**os.environ, **ONE_THREAD, **more}
    for setting in describe(TrainerSettings):
        if setting.name in CREDENTIALS:
            found.pop(setting.environment, None)
    if (key := settings.planner.api_key) is not None:
        found["TRAINER_PLANNER_API_KEY"] = key.get_secret_value()
    return found
