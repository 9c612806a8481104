"""Resident memory of a training run over an hour.

    python benchmarks/memory_flat.py                 or: make memory-flat
    python benchmarks/memory_flat.py --minutes 10 --warm-up-minutes 3

A run as the service starts it, with the default settings: 2 runners of 4 environments, episodes of
30,000 steps, exploration, captures of 60 segments per minute that are taken out of the spool, a
reward model, the watched screen, a checkpoint every 10 minutes. Every 10 seconds the resident
memory of its processes is read (`smaps_rollup`).

    resident     RSS of the training process and its runners; what must stay flat. A page that they
                 share counts for each. Their proportional share (PSS) would fall and rise with
                 whatever else on the machine maps the same libraries.
    anonymous    the part of it that no file stands behind: what a leak would be made of
    ray          of what Ray itself starts, printed as well

Samples of a minute are joined into their median: a checkpoint is packed in memory, and that is no
growth. After the warm-up, in which the memory of places and the archive of states fill up,

    growth       median of the last tenth of the minutes over the median of the first, less 1
    excess       highest minute over that first median, less 1

Flat means that both are at most 5 %. Prints a line for each minute, then one line of JSON. Exit
code 0 when it was flat, else 1.
"""

import argparse
import asyncio
import json
import platform
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from one_run import DRIVER, RAY, RUNNERS, grant_captures, megabytes, processes_of, reward_model

from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

LIMIT = 0.05
SAMPLE_SECONDS = 10.0
START_SECONDS = 900.0


@dataclass(frozen=True)
class Sample:
    """Megabytes at a moment.

    Attributes:
        seconds: Since training began.
        env_steps: Of the run.
    """

    seconds: float
    env_steps: int
    driver: float
    runners: float
    anonymous: float
    shared: float
    ray: float
    processes: int

    @property
    def resident(self) -> float:
        """Of driver and runners together."""
        return self.driver + self.runners


def sample(run: RunSupervisor, began: float) -> Sample:
    size = {DRIVER: 0.0, RUNNERS: 0.0, RAY: 0.0}
    anonymous = shared = 0.0
    processes = processes_of(run)
    for process in processes:
        read = megabytes(process.pid)
        size[process.kind] += read.get("Rss", 0.0)
        if process.kind != RAY:
            anonymous += read.get("Anonymous", 0.0)
            shared += read.get("Pss_Shmem", 0.0)
    ours = sum(process.kind != RAY for process in processes)
    seconds = time.monotonic() - began
    steps = run.state.env_steps
    return Sample(seconds, steps, size[DRIVER], size[RUNNERS], anonymous, shared, size[RAY], ours)


async def watch(settings: TrainerSettings, minutes: float) -> tuple[list[Sample], RunSupervisor]:
    run = RunSupervisor(settings, "memory-flat")
    run.start(reward_model(settings.data_dir))
    began = time.monotonic()
    while run.state.last is None:
        if time.monotonic() - began > START_SECONDS or not run.alive:
            raise RuntimeError(f"training did not begin: {run.state.failure}")
        await asyncio.sleep(0.5)
    granting = asyncio.create_task(grant_captures(run, settings))
    began = time.monotonic()
    samples: list[Sample] = []
    told = 0
    while samples == [] or samples[-1].seconds < minutes * 60:
        due = began + len(samples) * SAMPLE_SECONDS
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        samples.append(sample(run, began))
        if int(samples[-1].seconds // 60) > told:
            told += 1
            tell(told, [each for each in samples if int(each.seconds // 60) == told - 1])
    granting.cancel()
    await run.stop()
    return samples, run


def tell(minute: int, samples: Sequence[Sample]) -> None:
    row = {
        name: median(getattr(each, name) for each in samples)
        for name in ("resident", "driver", "runners", "anonymous", "shared", "ray")
    }
    shown = ", ".join(f"{name} {value:.1f}" for name, value in row.items())
    print(f"minute {minute}: {samples[-1].env_steps} steps, MB: {shown}", flush=True)


def by_minute(samples: Sequence[Sample], name: str) -> list[float]:
    """Median of each whole minute."""
    minutes: dict[int, list[float]] = {}
    for each in samples:
        minutes.setdefault(int(each.seconds // 60), []).append(getattr(each, name))
    return [median(values) for _, values in sorted(minutes.items()) if len(values) > 2]


def flatness(minutes: Sequence[float]) -> dict[str, float]:
    tenth = max(1, len(minutes) // 10)
    first, last = median(minutes[:tenth]), median(minutes[-tenth:])
    return {
        "first": round(first, 1),
        "last": round(last, 1),
        "highest": round(max(minutes), 1),
        "growth": round(last / first - 1, 4),
        "excess": round(max(minutes) / first - 1, 4),
    }


def result(
    samples: Sequence[Sample], run: RunSupervisor, settings: TrainerSettings, warm_up: float
) -> dict[str, Any]:
    late = [each for each in samples if each.seconds >= warm_up * 60]
    found = {
        name: flatness(by_minute(late, name))
        for name in ("resident", "anonymous", "driver", "runners", "ray")
    }
    state = run.state
    steady = len({each.processes for each in samples}) == 1 and state.attempt == 0
    flat = steady and max(found["resident"]["growth"], found["resident"]["excess"]) <= LIMIT
    return {
        "benchmark": "memory_flat",
        "flat": flat,
        "growth": found["resident"]["growth"],
        "limit": LIMIT,
        "megabytes": found,
        "highest_sample": round(max(each.resident for each in late), 1),
        "minutes": round(samples[-1].seconds / 60, 1),
        "warm_up_minutes": warm_up,
        "no_process_was_replaced": steady,
        "env_steps": samples[-1].env_steps,
        "episodes": state.last.episodes if state.last else 0,
        "segments_captured": state.last.segments_captured if state.last else 0,
        "checkpoint": state.checkpoint,
        "environments": settings.ray_workers * settings.envs_per_worker,
        "episode_length": settings.episode_length,
        "samples": [[round(each.seconds), round(each.resident, 1)] for each in samples],
        "machine": platform.platform(),
    }


def main() -> int:
    options = parse_options()
    with tempfile.TemporaryDirectory(prefix="memory-flat-") as directory:
        settings = TrainerSettings.model_validate(
            {
                "data_dir": Path(directory),
                "ray_workers": 2,
                "envs_per_worker": 4,
                "run_hours": 1_000,
                "episode_length": options.episode_length,
                "stop_seconds": 120,
            }
        )
        samples, run = asyncio.run(watch(settings, options.minutes))
    found = result(samples, run, settings, options.warm_up_minutes)
    print(json.dumps(found))
    return 0 if found["flat"] else 1


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--minutes", type=float, default=60, help="length of the run (60)")
    add("--warm-up-minutes", type=float, default=10, help="not judged, at its start (10)")
    add("--episode-length", type=int, default=30_000, help="decision steps (30000)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
