"""Milestones and rooms per episode in the first minutes of `make demo`, by seed.

    python benchmarks/demo_minutes.py       three seeds of 15 minutes, both kinds of rewards
    python benchmarks/demo_minutes.py --seeds 4 --minutes 5 --rewards judges

Each seed and each kind of rewards is a pipeline as `make demo REWARDS=…` starts it. At the end the
HUD's history is read (`GET /api/v1/history`).

    reached     milestones reached in an episode; attempts of practice are no episodes
    rooms       distinct rooms of an episode
    step        environment step at the end

Means over the episodes of the last five minutes are compared with the targets and with the first
three minutes. Pipelines that run at the same time share the processors: compare them with each
other. Writes `points.csv`, the history, and `summary.json` into --out. Exit code 0 if the medians
of the seeds are above both targets for all kinds of rewards.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Callable, Sequence
from concurrent.futures import ThreadPoolExecutor
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from outcome import HERE, finish, machine, parser_of, write_csv

from rlaif.local.rewards import REWARDS
from rlaif.testing.pipeline import Pipeline

BARS = {"reached": 1.0, "rooms": 4.0}
"""Milestones and rooms per episode, over the last minutes."""

FIRST, LAST = 3, 5
"""Minutes at the start and at the end that are compared."""

STOP_SECONDS = 90.0


def watch(seed: int, rewards: str, folder: Path, minutes: float) -> list[dict[str, Any]]:
    """Run a pipeline for some minutes; return the points of its history with ended episodes."""
    if folder.exists():
        raise SystemExit(f"{folder} is there: a demo would resume it; remove it first")
    began = time.time()
    pipeline = Pipeline(folder, "--rewards", rewards, environment={"TRAINER_SEED": str(seed)})
    try:
        pipeline.wait_for(re.compile("✓ hud "), seconds=240)
        time.sleep(max(0.0, began + 60 * minutes - time.time()))
        history = pipeline.get("hud", "history?points=1000").json()
        pipeline.interrupt(seconds=STOP_SECONDS)
    finally:
        pipeline.end()
    return [
        {
            "rewards": rewards,
            "seed": seed,
            "minute": round((datetime.fromisoformat(point["at"]).timestamp() - began) / 60, 2),
            "step": point["env_step"],
            "episodes": point["episodes"],
            "reached": point["milestones_mean"],
            "rooms": point["rooms_mean"] or 0.0,
        }
        for point in history["points"]
        if point["episodes"] and point["milestones_mean"] is not None
    ]


def over(points: Sequence[dict[str, Any]], name: str) -> float | None:
    """Mean over the episodes of some points; None if there are none."""
    episodes = sum(point["episodes"] for point in points)
    total = sum(point["episodes"] * point[name] for point in points)
    return round(total / episodes, 2) if episodes else None


def of_seed(points: Sequence[dict[str, Any]], minutes: float) -> dict[str, float | None]:
    begun = points[0]["minute"] if points else 0.0
    first = [point for point in points if point["minute"] < begun + FIRST]
    last = [point for point in points if point["minute"] >= minutes - LAST]
    means = {
        f"{name}_{when}": over(some, name)
        for name in BARS
        for when, some in (("first", first), ("last", last))
    }
    return means | {"step": points[-1]["step"] if points else None}


def report(rows: Sequence[dict[str, Any]], options: argparse.Namespace) -> int:
    """Write the results and whether they are above the targets."""
    options.out.mkdir(parents=True, exist_ok=True)
    columns = ("rewards", "seed", "minute", "step", "episodes", *BARS)
    write_csv(options.out / "points.csv", columns, rows)
    seeds = {
        rewards: {
            seed: of_seed(
                [row for row in rows if (row["rewards"], row["seed"]) == (rewards, seed)],
                options.minutes,
            )
            for seed in options.seeds
        }
        for rewards in options.rewards
    }
    medians = {
        rewards: {
            name: median(each[f"{name}_last"] or 0.0 for each in of.values()) for name in BARS
        }
        for rewards, of in seeds.items()
    }
    met = all(of[name] > bar for of in medians.values() for name, bar in BARS.items())
    figures = {
        "minutes": options.minutes,
        "seeds": seeds,
        "medians": medians,
        "bars_met": met,
        "machine": machine(),
    }
    (options.out / "summary.json").write_text(json.dumps(figures, indent=1) + "\n")
    return finish(figures, met=met)


def listed(kind: type) -> Callable[[str], list[Any]]:
    return lambda text: [kind(each) for each in text.split(",")]


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--seeds", type=listed(int), default=[1, 2, 3], help="with commas between [1,2,3]")
    add("--rewards", type=listed(str), default=list(REWARDS), help=f"of {', '.join(REWARDS)}")
    add("--minutes", type=float, default=15.0)
    add("--data-dir", type=Path, default=Path("var/demo_minutes"))
    add("--out", type=Path, default=HERE / "results" / "demo_minutes")
    options = parser.parse_args()
    if unknown := set(options.rewards) - set(REWARDS):
        parser.error(f"--rewards: {', '.join(sorted(unknown))} is not one of {', '.join(REWARDS)}")
    rows = []
    for seed in options.seeds:
        with ThreadPoolExecutor(len(options.rewards)) as pool:
            runs = [
                pool.submit(watch, seed, each, options.data_dir / f"{each}-{seed}", options.minutes)
                for each in options.rewards
            ]
            rows += [row for run in runs for row in run.result()]
    return report(rows, options)


if __name__ == "__main__":
    sys.exit(main())
