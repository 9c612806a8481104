"""Where workers run: in this process, or in processes of their own. Jobs in, reports out."""

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Protocol

from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.search.rollout import RolloutSettings
from rlaif.trainer.search.worker import Job, Report, Worker

LONGEST_JOB_SECONDS = 600.0


class LostWorkerError(Exception):
    """A worker process ended or does not answer."""


class WorkerPool(Protocol):
    """Some workers, by number."""

    @property
    def size(self) -> int:
        """How many there are."""
        ...

    def submit(self, worker: int, job: Job) -> None:
        """Give a worker its next job; it has none now."""
        ...

    def collect(self) -> list[tuple[int, Report]]:
        """Wait until a worker is through with its job: those that are, and their reports."""
        ...

    def close(self) -> None:
        """End them."""
        ...


class InProcess:
    """One worker in this process, for tests and for one core."""

    size = 1

    def __init__(self, rom: bytes, settings: RolloutSettings, *, sound: bool = False) -> None:
        self._emulator = PyBoyEmulator(rom, sound_emulated=sound)
        self._worker = Worker(self._emulator, settings)
        self._jobs: deque[Job] = deque()

    def submit(self, worker: int, job: Job) -> None:
        """Put the job aside; `collect` plays it."""
        self._jobs.append(job)

    def collect(self) -> list[tuple[int, Report]]:
        """Play it."""
        return [(0, _timed(self._worker, self._jobs.popleft()))]

    def close(self) -> None:
        """Stop the emulator."""
        self._emulator.close()


class Processes:
    """Workers in processes of their own, which end with this one."""

    def __init__(
        self, count: int, rom: bytes, settings: RolloutSettings, *, sound: bool = False
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(count):
            ours, theirs = context.Pipe()
            process = context.Process(
                target=_serve, args=(theirs, rom, settings, sound), daemon=True
            )
            process.start()
            theirs.close()
            self._pipes.append(ours)
            self._processes.append(process)

    @property
    def size(self) -> int:
        """How many there are."""
        return len(self._pipes)

    def submit(self, worker: int, job: Job) -> None:
        """Send a job; LostWorkerError when nobody takes it."""
        try:
            self._pipes[worker].send(job)
        except OSError as error:
            raise LostWorkerError(f"worker {worker} of the search has ended") from error

    def collect(self) -> list[tuple[int, Report]]:
        """Wait for the first report; LostWorkerError when a worker ends or none answers."""
        ready = wait(self._pipes, timeout=LONGEST_JOB_SECONDS)
        if not ready:
            raise LostWorkerError(f"no worker answered for {LONGEST_JOB_SECONDS:.0f} s")
        reports = []
        for number, pipe in enumerate(self._pipes):
            if pipe in ready:
                try:
                    reports.append((number, pipe.recv()))
                except (EOFError, OSError) as error:
                    raise LostWorkerError(f"worker {number} of the search has ended") from error
        return reports

    def close(self) -> None:
        """End the processes, whatever they are at."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()


def _serve(pipe: Connection, rom: bytes, settings: RolloutSettings, sound: bool) -> None:
    """Play jobs until the other end is closed; an interrupt of the terminal is not for workers."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    worker = Worker(PyBoyEmulator(rom, sound_emulated=sound), settings)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(_timed(worker, pipe.recv()))


def _timed(worker: Worker, job: Job) -> Report:
    before = time.process_time()
    report = worker.play(job)
    return replace(report, cpu_seconds=time.process_time() - before)
