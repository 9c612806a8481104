"""Workers of a search as Ray actors, on whichever machines have CPUs: jobs in, reports out."""

from typing import Any

import ray
from ray.exceptions import RayActorError, RayTaskError

from rlaif.trainer.search.pool import MAX_JOB_SECONDS, InProcess, LostWorkerError
from rlaif.trainer.search.rollout import RolloutSettings
from rlaif.trainer.search.worker import Job, Report


class _Worker(InProcess):
    def play(self, job: Job) -> Report:
        self.submit(0, job)
        return self.collect()[0][1]


class RayWorkers:
    """A `WorkerPool` on a Ray cluster that this process has joined."""

    def __init__(
        self, count: int, rom: bytes, settings: RolloutSettings, *, sound: bool = False
    ) -> None:
        """Start `count` workers; one for which no CPU is free yet starts when there is one."""
        actor = ray.remote(num_cpus=1)(_Worker)
        self._actors = [actor.remote(rom, settings, sound=sound) for _ in range(count)]
        self._workers: dict[Any, int] = {}

    @property
    def size(self) -> int:
        return len(self._actors)

    def submit(self, worker: int, job: Job) -> None:
        self._workers[self._actors[worker].play.remote(job)] = worker

    def collect(self) -> list[tuple[int, Report]]:
        running = list(self._workers)
        if not ray.wait(running, timeout=MAX_JOB_SECONDS)[0]:
            raise LostWorkerError(
                f"no worker answered for {MAX_JOB_SECONDS:.0f} s: each of the {self.size} "
                "(RAY_WORKERS) needs a free CPU of the Ray cluster"
            )
        done, _ = ray.wait(running, num_returns=len(running), timeout=0)
        try:
            return [(self._workers.pop(each), ray.get(each)) for each in done]
        except RayTaskError as error:
            raise error.cause from error
        except RayActorError as error:
            raise LostWorkerError(f"a worker of the search has ended: {error}") from error

    def close(self) -> None:
        """End the workers, whatever they are at; their CPUs are free again."""
        for actor in self._actors:
            ray.kill(actor)
