"""Resident memory of a training run over an hour.

    python benchmarks/memory_flat.py                 or: make memory-flat
    python benchmarks/memory_flat.py --minutes 10 --warm-up-minutes 3

A run as the service starts it, with the default settings: 2 runners of 4 environments, episodes of
30,000 steps, exploration, captures of 60 segments per minute that are removed from the spool, a
reward model, the watched screen, a checkpoint every 10 minutes. Every 10 seconds the resident
memory (RSS) of the training process and its runners is read; a minute counts by its median, because
a checkpoint is packed in memory. After the warm-up, in which coverage map and archive fill up,

    growth       median of the last tenth of the minutes over the median of the first, less 1
    excess       highest minute over that first median, less 1

Exit code 0 if both are at most 5 %, else 1.
"""

import argparse
import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from statistics import median
from typing import Any

from one_run import OTHER, grant_captures, megabytes, processes_of, reward_model
from outcome import finish, parser_of

from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

LIMIT = 0.05
SAMPLE_SECONDS = 10.0
START_SECONDS = 900.0


@dataclass(frozen=True)
class Sample:
    """Resident megabytes of a run, `seconds` after training began, and its processes."""

    seconds: float
    resident: float
    processes: int


def sample(run: RunSupervisor, began: float) -> Sample:
    own = [each for each in processes_of(run) if each.kind != OTHER]
    resident = sum(megabytes(each.pid) for each in own)
    return Sample(time.monotonic() - began, resident, len(own))


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
    reported = 0
    while samples == [] or samples[-1].seconds < minutes * 60:
        due = began + len(samples) * SAMPLE_SECONDS
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        samples.append(sample(run, began))
        if int(samples[-1].seconds // 60) > reported:
            reported += 1
            last = [each for each in samples if int(each.seconds // 60) == reported - 1]
            report(reported, run.state.env_steps, last)
    granting.cancel()
    await run.stop()
    return samples, run


def report(minute: int, steps: int, samples: Sequence[Sample]) -> None:
    resident = median(each.resident for each in samples)
    print(f"minute {minute}: {steps} steps, {resident:.1f} MB resident", flush=True)


def by_minute(samples: Sequence[Sample]) -> list[float]:
    """Median of each whole minute."""
    minutes: dict[int, list[float]] = {}
    for each in samples:
        minutes.setdefault(int(each.seconds // 60), []).append(each.resident)
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
    found = flatness(by_minute(late))
    state = run.state
    steady = len({each.processes for each in samples}) == 1 and state.attempt == 0
    flat = steady and max(found["growth"], found["excess"]) <= LIMIT
    return {
        "benchmark": "memory_flat",
        "flat": flat,
        **found,
        "limit": LIMIT,
        "highest_sample": round(max(each.resident for each in late), 1),
        "minutes": round(samples[-1].seconds / 60, 1),
        "warm_up_minutes": warm_up,
        "no_process_was_replaced": steady,
        "env_steps": state.env_steps,
        "episodes": state.last.episodes if state.last else 0,
        "segments_captured": state.last.segments_captured if state.last else 0,
        "checkpoint": state.checkpoint,
        "environments": settings.ray_workers * settings.envs_per_worker,
        "episode_length": settings.episode_length,
        "samples": [[round(each.seconds), round(each.resident, 1)] for each in samples],
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
    return finish(found, met=found["flat"])


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=60, help="length of the run (60)")
    add("--warm-up-minutes", type=float, default=10, help="not judged, at its start (10)")
    add("--episode-length", type=int, default=30_000, help="decision steps (30000)")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
