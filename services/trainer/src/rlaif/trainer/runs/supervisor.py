"""Keeps the training process of one run alive and talks with it."""

import asyncio
import contextlib
import logging
import os
import sys
import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from datetime import UTC, datetime
from typing import Any

from pydantic import ValidationError

from rlaif.trainer.runs import session
from rlaif.trainer.runs.protocol import MESSAGES, Command, LoadRewardModel, Message, Stop
from rlaif.trainer.runs.record import RunRecord, begin_attempt, finish
from rlaif.trainer.runs.state import RunState, Status
from rlaif.trainer.settings import TrainerSettings

log = logging.getLogger(__name__)

_PROCESS_MODULES = {"process": "rlaif.trainer.rl.process", "ray-job": "rlaif.trainer.rl.ray_job"}
_OWN_RAY = {
    # Ray's name for "of this machine alone": every server, agent and worker listens on 127.0.0.1.
    # It must be set before Ray is imported; naming the address in `ray.init` does not do it.
    "RAY_ENABLE_WINDOWS_OR_OSX_CLUSTER": "0",
}
_WRONG_SETTINGS = 2
_QUICK_DEATH_SECONDS = 60.0
_QUICK_DEATHS_MAX = 4


class RunSupervisor:
    """One run: starts its process, restarts it when it dies, stops it when asked.

    Attributes:
        state: What is known of the run now.
        directory: Where the run keeps its files.
    """

    def __init__(
        self,
        settings: TrainerSettings,
        run_id: str,
        on_message: Callable[[Message], None] = lambda message: None,
        overrides: Mapping[str, Any] | None = None,
    ) -> None:
        """Prepare a run; `start` starts it.

        Args:
            settings: Of this attempt and the ones after it.
            run_id: New, or of a run on disk, which then goes on.
            on_message: Told of each message after it is folded into `state`.
            overrides: Which of the settings are this run's own; None for those that it had.
        """
        self._settings = settings
        self._on_message = on_message
        self._overrides = overrides
        self.directory = settings.data_dir.resolve() / "runs" / run_id
        self.state = RunState(run_id=run_id)
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._model: LoadRewardModel | None = None

    def start(self, model: LoadRewardModel | None = None) -> None:
        """Start the process, in the background, with a reward model if there is one."""
        self._model = model
        self._stopping = False
        self._task = asyncio.create_task(self._keep_running(), name=f"run-{self.state.run_id}")

    async def stop(self) -> None:
        """Ask the process to save and stop; end it when it does not within `stop_seconds`."""
        self._stopping = True
        process = self._process
        if process is not None and process.returncode is None:
            self.state = replace(self.state, status="stopping")
            await self.send(Stop())
            try:
                await asyncio.wait_for(process.wait(), self._settings.stop_seconds)
            except TimeoutError:
                log.warning("training process did not stop in time; ending it")
                with contextlib.suppress(ProcessLookupError):
                    process.kill()
        if self._task is not None:
            await self._task

    async def send(self, command: Command) -> None:
        """Pass a command on; a model is passed again to each new process."""
        if isinstance(command, LoadRewardModel):
            self._model = command
        process = self._process
        if process is None or process.stdin is None or process.returncode is not None:
            return
        with contextlib.suppress(BrokenPipeError, ConnectionResetError):
            process.stdin.write(command.line())
            await process.stdin.drain()

    async def wait(self) -> None:
        """Until the run ends: finished, stopped or failed."""
        if self._task is not None:
            await asyncio.shield(self._task)

    @property
    def alive(self) -> bool:
        """Whether the process runs or is about to be started again."""
        return self._task is not None and not self._task.done()

    async def _keep_running(self) -> None:
        quick_deaths = 0
        while not self._stopping:
            began = time.monotonic()
            code = await self._run_once()
            if self._stopping or code == 0:
                break
            if code == _WRONG_SETTINGS or self.state.failure_is_final:
                log.error("the run cannot start", extra={"reason": self.state.failure})
                self.state = replace(self.state, status="failed")
                return
            quick_deaths = (
                quick_deaths + 1 if time.monotonic() - began < _QUICK_DEATH_SECONDS else 1
            )
            log.error(
                "training process ended",
                extra={"exit_code": code, "reason": self.state.failure, "in_a_row": quick_deaths},
            )
            if quick_deaths >= _QUICK_DEATHS_MAX:
                self.state = replace(self.state, status="failed")
                return
            await asyncio.sleep(min(2.0**quick_deaths, 15.0))
        if self.state.finished is not None:
            finish(self._settings.data_dir.resolve(), self.state.run_id, self.state.finished)
        status: Status = "stopped" if self.state.finished is None else "finished"
        self.state = replace(self.state, status=status)

    async def _run_once(self) -> int:
        """One process, from start to end; returns its exit code."""
        run_file = begin_attempt(
            self._settings.data_dir.resolve(),
            self.state.run_id,
            self._settings,
            datetime.now(UTC),
            self._overrides,
        )
        attempt = RunRecord.read(run_file).attempts
        self.state = RunState(
            run_id=self.state.run_id, attempt=attempt, env_steps=self.state.env_steps
        )
        read_fd, write_fd = os.pipe()
        with (self.directory / "training.log").open("ab") as output:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                _PROCESS_MODULES[self._settings.run_on],
                str(run_file),
                str(write_fd),
                stdin=asyncio.subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(write_fd,),
                start_new_session=True,  # Ctrl-C is for the service, which asks it to save first
                env=_environment(self._settings),
            )
        os.close(write_fd)
        if self._model is not None:
            await self.send(self._model)
        try:
            await self._read_messages(read_fd)
            return await self._process.wait()
        finally:
            await asyncio.to_thread(session.end, self._process.pid)

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
            log.exception("training process sent a line that is no message")
            return
        self.state = self.state.after(message)
        self._on_message(message)


def _environment(settings: TrainerSettings) -> dict[str, str]:
    """The process's environment: one thread a library, or they fight over the cores."""
    threads = {name: "1" for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS")}
    ray = _OWN_RAY if settings.own_ray else {}
    plain = {"RAY_USAGE_STATS_ENABLED": "0", "PYTHONUNBUFFERED": "1"}
    return os.environ | threads | plain | ray
