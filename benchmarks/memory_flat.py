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

import asyncio
import sys
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from statistics import median
from typing import Any

from one_run import OTHER, grant_captures, megabytes, reward_model, tree
from outcome import by_minute, finish, parser_of, say
from turns import until

from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings

LIMIT = 0.05
SAMPLE_SECONDS = 10.0


def resident(run: RunSupervisor) -> tuple[float, int]:
    """Resident memory of a run in MB, and its number of processes."""
    own = [each for each in tree(run._process.pid) if each.kind != OTHER] if run._process else []
    return sum(megabytes(each.pid) for each in own), len(own)


async def watch(
    settings: TrainerSettings, minutes: float
) -> tuple[list[tuple[float, float]], bool, RunSupervisor]:
    """(Seconds of training, MB) per sample, and whether all had equal process counts."""
    run = RunSupervisor(settings, "memory-flat")
    run.start(reward_model(settings.data_dir))
    await until(lambda: run.state.last is not None or not run.alive, "training begins")
    if run.state.last is None:
        raise RuntimeError(f"training did not begin: {run.state.failure}")
    granting = asyncio.create_task(grant_captures(run, settings))
    began = time.monotonic()
    samples: list[tuple[float, float]] = []
    counts: set[int] = set()
    reported = 0
    while not samples or samples[-1][0] < minutes * 60:
        due = began + len(samples) * SAMPLE_SECONDS
        await asyncio.sleep(max(0.0, due - time.monotonic()))
        mb, count = resident(run)
        samples.append((time.monotonic() - began, mb))
        counts.add(count)
        if len(whole := by_minute(samples)) > reported:
            reported = len(whole)
            say(f"minute {reported}: {run.state.env_steps} steps, {whole[-1]:.1f} MB resident")
    granting.cancel()
    await run.stop()
    return samples, len(counts) == 1, run


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
    samples: Sequence[tuple[float, float]],
    same_processes: bool,
    run: RunSupervisor,
    settings: TrainerSettings,
    warm_up: float,
) -> dict[str, Any]:
    late = [each for each in samples if each[0] >= warm_up * 60]
    found = flatness(by_minute(late))
    state = run.state
    steady = same_processes and state.attempt == 0
    flat = steady and max(found["growth"], found["excess"]) <= LIMIT
    return {
        "benchmark": "memory_flat",
        "flat": flat,
        **found,
        "limit": LIMIT,
        "highest_sample": round(max(mb for _, mb in late), 1),
        "minutes": round(samples[-1][0] / 60, 1),
        "warm_up_minutes": warm_up,
        "no_process_was_replaced": steady,
        "env_steps": state.env_steps,
        "episodes": state.last.episodes if state.last else 0,
        "segments_captured": state.last.segments_captured if state.last else 0,
        "checkpoint": state.checkpoint,
        "environments": settings.ray_workers * settings.envs_per_worker,
        "episode_length": settings.episode_length,
        "samples": [[round(seconds), round(mb, 1)] for seconds, mb in samples],
    }


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--minutes", type=float, default=60, help="length of the run (60)")
    add("--warm-up-minutes", type=float, default=10, help="not judged, at its start (10)")
    add("--episode-length", type=int, default=30_000, help="emulator steps (30000)")
    options = parser.parse_args()
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
        samples, steady, run = asyncio.run(watch(settings, options.minutes))
    found = result(samples, steady, run, settings, options.warm_up_minutes)
    return finish(found, met=found["flat"])


if __name__ == "__main__":
    sys.exit(main())
