"""Supervision of one child process: start, readiness, restart if it ends or hangs, stop."""

import asyncio
import contextlib
import math
import os
import signal
import sys
import time
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path

from rlaif.files.failures import why
from rlaif.pacing.backoff import backoff

_RESTART_CAP_SECONDS = 10.0
_STABLE_SECONDS = 60.0
_READY_POLL_SECONDS = 0.2
_CHECK_SECONDS = 5.0
"""Interval and timeout of the checks; a busy machine delays answers by some seconds."""

_MISSED_CHECKS = 3
"""Consecutive checks without a response after which a child is restarted."""

_MAX_KILLS = 3
"""Maximum consecutive kills: a process that always hangs is not fixed by a restart."""

STOP_SECONDS = 7.0
"""Default grace period of a child."""


class ChildFailedError(Exception):
    """A child did not become ready; the message names it, the reason and its log.

    Attributes:
        code: Its exit code; None if it is still running.
    """

    def __init__(self, message: str, code: int | None = None) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class ChildSpec:
    """A process to run, with its working folder and its complete environment.

    `ready` is polled after the start for at most `ready_seconds`; then `answers`, if set, every
    five seconds: a child that fails three checks in a row is killed and restarted. `where` is
    the address shown to the user, or empty. `stop_seconds` is the grace period.
    """

    name: str
    command: tuple[str, ...]
    environment: Mapping[str, str] = field(repr=False)
    ready: Callable[[], Awaitable[bool]]
    log: Path
    directory: Path
    where: str = ""
    ready_seconds: float = 60.0
    answers: Callable[[], Awaitable[bool]] | None = None
    stop_seconds: float = STOP_SECONDS


class Child:
    """A supervised child; `restarts` counts the restarts after it ended."""

    def __init__(self, spec: ChildSpec, on_death: Callable[["Child", str], None]) -> None:
        """Register `on_death(child, reason)`, called before each restart."""
        self.spec = spec
        self.restarts = 0
        self._on_death = on_death
        self._process: asyncio.subprocess.Process | None = None
        self._task: asyncio.Task[None] | None = None
        self._stopping = False
        self._kills = 0

    async def start(self) -> float:
        """Start the process and wait until it is ready; returns the duration in seconds.

        Raises:
            ChildFailedError: The process ended, or was not ready in time.
        """
        began = time.monotonic()
        await self._spawn()
        while not await self.spec.ready():
            waited = time.monotonic() - began
            if self._process is None or self._process.returncode is not None:
                code = None if self._process is None else self._process.returncode
                raise ChildFailedError(self._failure("it ended"), code)
            if waited > self.spec.ready_seconds:
                raise ChildFailedError(self._failure(f"it was not ready after {waited:.0f} s"))
            await asyncio.sleep(_READY_POLL_SECONDS)
        self._task = asyncio.create_task(self._keep_alive(), name=f"keep-{self.spec.name}")
        return time.monotonic() - began

    async def stop(self, *, seconds: float, hurry: asyncio.Event | None = None) -> None:
        """Send SIGTERM; after `seconds`, or when `hurry` is set, kill its process group."""
        self._stopping = True
        process = self._process
        if process is not None and process.returncode is None:
            _signal_group(process.pid, signal.SIGTERM)
            ends = asyncio.create_task(process.wait())
            hurries = asyncio.create_task((hurry or asyncio.Event()).wait())
            await asyncio.wait(
                (ends, hurries), timeout=seconds, return_when=asyncio.FIRST_COMPLETED
            )
            hurries.cancel()
            _signal_group(process.pid, signal.SIGKILL)
            await ends
        if self._task is not None:
            self._task.cancel()
            with contextlib.suppress(asyncio.CancelledError):
                await self._task

    @property
    def pid(self) -> int | None:
        """Its process id while it runs."""
        return self._process.pid if self._process and self._process.returncode is None else None

    async def _keep_alive(self) -> None:
        deaths, most = 0, _MISSED_CHECKS
        while True:
            assert self._process is not None
            began = time.monotonic()
            reason = await self._end(self._process, most)
            # Its own children must not outlive it: two trainers on one run would conflict.
            _signal_group(self._process.pid, signal.SIGKILL)
            if self._stopping:
                return
            self._on_death(self, reason)
            deaths = 1 if time.monotonic() - began > _STABLE_SECONDS else deaths + 1
            # Cancelled by `stop`, so that a stopped child is not restarted.
            while True:
                await asyncio.sleep(backoff(deaths, base=1.0, cap=_RESTART_CAP_SECONDS))
                try:
                    await self._spawn()
                    break
                except OSError as error:  # such as too little memory, or a full disk
                    self._on_death(self, f"not started: {why(error)}")
                    deaths += 1
            self.restarts += 1
            most = math.ceil(self.spec.ready_seconds / _CHECK_SECONDS)

    async def _end(self, process: asyncio.subprocess.Process, most: int) -> str:
        """Wait for the process to end, killing it if it hangs; returns the reason.

        Up to `most` checks may fail before the first response.
        """
        ends = asyncio.create_task(process.wait())
        missed = 0
        try:
            while self.spec.answers and self._kills < _MAX_KILLS:
                answering = asyncio.create_task(_within(_CHECK_SECONDS, self.spec.answers))
                if (await asyncio.wait([ends], timeout=_CHECK_SECONDS))[0]:
                    answering.cancel()
                    break
                if await answering:
                    missed = self._kills = 0
                    most = _MISSED_CHECKS
                    continue
                missed += 1
                if missed >= most:
                    self._kills += 1
                    _signal_group(process.pid, signal.SIGKILL)
                    await ends
                    return f"no answer to {missed} checks in {missed * _CHECK_SECONDS:.0f} s"
            code = await ends
        finally:
            ends.cancel()
        return f"signal {-code}" if code < 0 else f"exit code {code}"

    async def _spawn(self) -> None:
        self.spec.log.parent.mkdir(parents=True, exist_ok=True)
        with self.spec.log.open("ab") as log:
            self._process = await asyncio.create_subprocess_exec(
                sys.executable,
                "-m",
                "rlaif.local.tether",
                *self.spec.command,
                stdin=asyncio.subprocess.DEVNULL,
                stdout=log,
                stderr=log,
                cwd=self.spec.directory,
                env=dict(self.spec.environment),
                # Own group: Ctrl-C reaches only the supervisor, which stops children in order.
                start_new_session=True,
            )

    def _failure(self, what: str) -> str:
        tail = self.spec.log.read_text(errors="replace").splitlines(keepends=True)[-8:]
        shown = "".join(f"  | {line}" for line in tail)
        return f"{self.spec.name} could not start: {what}\n  log   {self.spec.log}\n{shown}"


async def _within(seconds: float, answers: Callable[[], Awaitable[bool]]) -> bool:
    try:
        async with asyncio.timeout(seconds):
            return await answers()
    except TimeoutError:
        return False


def _signal_group(pid: int, number: signal.Signals) -> None:
    with contextlib.suppress(ProcessLookupError, PermissionError):
        os.killpg(pid, number)
