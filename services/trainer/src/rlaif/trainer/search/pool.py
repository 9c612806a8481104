"""Worker pools, in this process or in separate processes: jobs in, reports out."""

import contextlib
import multiprocessing
import signal
import time
from collections import deque
from dataclasses import replace
from multiprocessing.connection import Connection, wait
from typing import Protocol

from rlaif.game.machine.emulator import new_emulator
from rlaif.trainer.search.rollout import RolloutSettings
from rlaif.trainer.search.worker import Job, Report, Worker

MAX_JOB_SECONDS = 600.0


class LostWorkerError(Exception):
    """A worker process ended or does not answer."""


class WorkerPool(Protocol):
    """Numbered workers."""

    @property
    def size(self) -> int: ...

    def submit(self, worker: int, job: Job) -> None:
        """Give an idle worker its next job."""
        ...

    def collect(self) -> list[tuple[int, Report]]:
        """Wait for at least one finished job; return the workers concerned, with their reports."""
        ...

    def close(self) -> None: ...


class InProcess:
    """One worker in this process, for tests and single-core machines."""

    size = 1

    def __init__(self, rom: bytes, settings: RolloutSettings, *, sound: bool = False) -> None:
        self._emulator = new_emulator(rom, sound_emulated=sound)
        self._worker = Worker(self._emulator, settings)
        self._jobs: deque[Job] = deque()

    def submit(self, worker: int, job: Job) -> None:
        """Queue the job; `collect` plays it."""
        self._jobs.append(job)

    def collect(self) -> list[tuple[int, Report]]:
        return [(0, _timed(self._worker, self._jobs.popleft()))]

    def close(self) -> None:
        self._emulator.close()


class Processes:
    """Workers in child processes."""

    def __init__(
        self, count: int, rom: bytes, settings: RolloutSettings, *, sound: bool = False
    ) -> None:
        context = multiprocessing.get_context("spawn")
        self._pipes: list[Connection] = []
        self._processes = []
        for _ in range(count):
            parent_end, child_end = context.Pipe()
            process = context.Process(
                target=_serve, args=(child_end, rom, settings, sound), daemon=True
            )
            process.start()
            child_end.close()
            self._pipes.append(parent_end)
            self._processes.append(process)

    @property
    def size(self) -> int:
        return len(self._pipes)

    def submit(self, worker: int, job: Job) -> None:
        """Send a job; LostWorkerError if the worker has ended."""
        try:
            self._pipes[worker].send(job)
        except OSError as error:
            raise LostWorkerError(f"search worker {worker} has ended") from error

    def collect(self) -> list[tuple[int, Report]]:
        """Wait for reports; LostWorkerError if a worker has ended or none answers in time."""
        ready = wait(self._pipes, timeout=MAX_JOB_SECONDS)
        if not ready:
            raise LostWorkerError(f"no search worker answered within {MAX_JOB_SECONDS:.0f} s")
        reports = []
        for number, pipe in enumerate(self._pipes):
            if pipe in ready:
                try:
                    reports.append((number, pipe.recv()))
                except (EOFError, OSError) as error:
                    raise LostWorkerError(f"search worker {number} has ended") from error
        return reports

    def close(self) -> None:
        """Terminate the processes, even during a job."""
        for pipe in self._pipes:
            pipe.close()
        for process in self._processes:
            process.terminate()
        for process in self._processes:
            process.join()


def _serve(pipe: Connection, rom: bytes, settings: RolloutSettings, sound: bool) -> None:
    """Play jobs until the pipe is closed; ignore SIGINT, which the parent handles."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    worker = Worker(new_emulator(rom, sound_emulated=sound), settings)
    with contextlib.suppress(EOFError, OSError):
        while True:
            pipe.send(_timed(worker, pipe.recv()))


def _timed(worker: Worker, job: Job) -> Report:
    before = time.process_time()
    report = worker.play(job)
    return replace(report, cpu_seconds=time.process_time() - before)
