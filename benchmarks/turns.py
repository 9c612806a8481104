"""Training runs that take turns: one trains while the others are stopped.

The speed of a shared machine can change by half within a minute, so all compared runs are alive and
take turns of some iterations. The first four iterations of a turn are not timed: two batches are on
order at a time, so their samples were in part collected before the turn.
"""

import argparse
import asyncio
import os
import signal
import tempfile
import time
from collections.abc import AsyncIterator, Awaitable, Callable, Mapping
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from one_run import RUNNERS, Process, cpu_seconds, tree
from outcome import ENVS, WORKERS, begin, finish, parser_of

from rlaif.testing.waiting import eventually
from rlaif.trainer.run_folder.protocol import IterationDone, Message, RewardModelLoaded
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

UNTIMED = 4
until = partial(eventually, seconds=900.0)
"""Timeout in seconds for starts on a busy machine."""

ITERATION_SECONDS = 300.0
NEVER_MINUTES = 10_000
BATCH = 1_024
"""Decisions of an iteration: with the default of 4,096 a turn of macros lasts most of a minute."""

ALIKE: dict[str, Any] = {
    "ray_workers": WORKERS,
    "envs_per_worker": ENVS,
    "batch_size": BATCH,
    "run_hours": 1_000,
    "epoch_steps": 1_000_000_000,
    "learning_rate": 1e-12,
}
"""Settings of all runs. Policies stay the initial ones: others differ in decisions per second."""

OFF: dict[str, Any] = {
    "watch_fps": 0,
    "captures_per_minute": 0,
    "checkpoint_minutes": NEVER_MINUTES,
}


@dataclass
class Side:
    """One of the compared runs.

    Attributes:
        last: Its newest iteration, and its arrival time.
        beside: Its processes outside the training.
    """

    name: str
    beside: list[int] = field(default_factory=list)
    last: IterationDone | None = None
    model: int | None = None
    driver: int = 0
    _at: float = 0.0
    _news: asyncio.Event = field(default_factory=asyncio.Event)

    def take(self, message: Message) -> None:
        if isinstance(message, RewardModelLoaded):
            self.model = message.version
        if isinstance(message, IterationDone):
            self.last, self._at = message, time.perf_counter()
            self._news.set()

    async def iterations(self, count: int) -> tuple[float, int]:
        """Wait for `count` more; return arrival time and environment steps of the last."""
        for _ in range(count):
            self._news.clear()
            await asyncio.wait_for(self._news.wait(), ITERATION_SECONDS)
        assert self.last is not None
        return self._at, self.last.env_steps

    async def turn(self, iterations: int) -> dict[str, float]:
        """Train for a turn, then pause; return the result of `timed`."""
        os.kill(self.driver, signal.SIGCONT)
        found = await self.timed(iterations, untimed=UNTIMED)
        await self.halt()
        return found

    async def timed(self, iterations: int, *, untimed: int) -> dict[str, float]:
        """Measure the next iterations: decisions and frames per second, CPU seconds per decision,
        and cores used beside it.
        """
        began, first = await self.iterations(untimed)
        own, beside = self._own_cpu(), cpu_seconds(self.beside)
        ended, last = await self.iterations(iterations)
        own_spent, beside_spent = since(own, self._own_cpu()), since(beside, cpu_seconds(beside))
        rate = (last - first) / (ended - began)
        assert self.last is not None
        frames, decisions = self.last.frames_per_second, self.last.steps_per_second
        assert frames, "it is not known how many frames were played"
        assert decisions, "it is not known how many decisions were made"
        return {
            "rate": rate,
            "frames_rate": rate * frames / decisions,
            "cpu_a_step": own_spent / (last - first),
            "beside": beside_spent / (ended - began),
        }

    async def halt(self) -> None:
        """Pause the training process; its runners finish their fragments and wait for the next."""
        os.kill(self.driver, signal.SIGSTOP)
        before = None
        runners = [each.pid for each in self._training() if each.kind == RUNNERS]
        while (now := cpu_seconds(runners)) != before:
            before = now
            await asyncio.sleep(0.5)

    def _training(self) -> list[Process]:
        return tree(self.driver)

    def _own_cpu(self) -> dict[int, float]:
        return cpu_seconds(each.pid for each in self._training())


def since(before: dict[int, float], after: dict[int, float]) -> float:
    """CPU seconds between two readings."""
    return sum(seconds - before.get(pid, 0.0) for pid, seconds in after.items())


@asynccontextmanager
async def training(directory: Path, name: str, settings: Mapping[str, Any]) -> AsyncIterator[Side]:
    """Start a training process like the service, with these settings; it is in its first turn."""
    side = Side(name)
    made = TrainerSettings.model_validate({"data_dir": directory / name, **settings})
    run = RunSupervisor(made, name, side.take)
    run.start()
    try:
        await until(lambda: side.last is not None, f"training of {name} begins")
        assert run._process is not None
        side.driver = run._process.pid
        yield side
    finally:
        process = run._process
        run._stop_requested.set()
        if process is not None and process.returncode is None:
            process.kill()
        await run.wait()


def run_command(
    about: str | None,
    compare: Callable[[argparse.Namespace, Path], Awaitable[dict[str, Any]]],
    *,
    rounds: int = 24,
    starts: int = 0,
) -> int:
    """Command line of a benchmark in turns: reads `--rounds` and `--iterations`, prints figures.

    `rounds` is the default, and so is `starts` for a benchmark that restarts its runs: it has the
    option `--starts`. Returns the exit code: 0 if `target_met` of the result of `compare`, else 1.
    """
    parser = parser_of(about)
    add = parser.add_argument
    if starts:
        add("--starts", type=int, default=starts, help=f"times to begin the runs ({starts})")
    add("--rounds", type=int, default=rounds, help=f"turns of each ({rounds})")
    add(
        "--iterations",
        type=int,
        default=6,
        help=f"timed iterations of {BATCH} decisions a turn (6)",
    )
    options = parser.parse_args()
    begin()

    async def compared(directory: Path) -> dict[str, Any]:
        task = asyncio.current_task()
        assert task is not None
        # As after Ctrl-C: `training` kills its processes, stopped ones included.
        asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, task.cancel)
        return await compare(options, directory)

    with tempfile.TemporaryDirectory(prefix="turns-", ignore_cleanup_errors=True) as directory:
        try:
            found = asyncio.run(compared(Path(directory)))
        except asyncio.CancelledError:
            return 128 + signal.SIGTERM
    return finish(found, met=found["target_met"])
