"""Milestones and rooms per episode in the first minutes of `make demo`, by seed.

    python benchmarks/demo_minutes.py                       three seeds, 15 minutes each
    python benchmarks/demo_minutes.py --seeds 4 --minutes 5

Each seed is a pipeline as `make demo` starts it, with the default settings. At the end the HUD's
history is read (`GET /api/v1/history`).

    reached     milestones reached in an episode; attempts of practice are no episodes
    rooms       distinct rooms of an episode

Means over the episodes of the last five minutes are compared with the targets and with the first
three minutes. Writes `points.csv`, the history, and `summary.json` into --out. Exit code 0 if the
medians of the seeds are above both targets.
"""

import argparse
import json
import re
import sys
import time
from collections.abc import Sequence
from datetime import datetime
from pathlib import Path
from statistics import median
from typing import Any

from outcome import HERE, finish, machine, parser_of, write_csv

from rlaif.testing.pipeline import Pipeline

BARS = {"reached": 1.0, "rooms": 4.0}
"""Milestones and rooms per episode, over the last minutes."""

FIRST, LAST = 3, 5
"""Minutes at the start and at the end that are compared."""

STOP_SECONDS = 90.0


def watch(seed: int, folder: Path, minutes: float) -> list[dict[str, Any]]:
    """Run a pipeline for some minutes; return the points of its history with ended episodes."""
    if folder.exists():
        raise SystemExit(f"{folder} is there: a demo would resume it; remove it first")
    began = time.time()
    pipeline = Pipeline(folder, environment={"TRAINER_SEED": str(seed)})
    try:
        pipeline.wait_for(re.compile("✓ hud "), seconds=120)
        time.sleep(max(0.0, began + 60 * minutes - time.time()))
        history = pipeline.get("hud", "history?points=1000").json()
        pipeline.interrupt(seconds=STOP_SECONDS)
    finally:
        pipeline.end()
    return [
        {
            "seed": seed,
            "minute": round((datetime.fromisoformat(point["at"]).timestamp() - began) / 60, 2),
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
    return {
        f"{name}_{when}": over(some, name)
        for name in BARS
        for when, some in (("first", first), ("last", last))
    }


def report(points: dict[int, list[dict[str, Any]]], options: argparse.Namespace) -> int:
    """Write the results and whether they are above the targets."""
    rows = [point for each in points.values() for point in each]
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "points.csv", ("seed", "minute", "episodes", *BARS), rows)
    seeds = {seed: of_seed(each, options.minutes) for seed, each in points.items()}
    medians = {
        name: median(each[f"{name}_last"] or 0.0 for each in seeds.values()) for name in BARS
    }
    met = all(medians[name] > bar for name, bar in BARS.items())
    figures = {
        "minutes": options.minutes,
        "seeds": seeds,
        **{f"{name}_median": value for name, value in medians.items()},
        "bars_met": met,
        "machine": machine(),
    }
    (options.out / "summary.json").write_text(json.dumps(figures, indent=1) + "\n")
    return finish(figures, met=met)


def main() -> int:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("--seeds", default="1,2,3", help="with commas between [1,2,3]")
    add("--minutes", type=float, default=15.0)
    add("--data-dir", type=Path, default=Path("var/demo_minutes"))
    add("--out", type=Path, default=HERE / "results" / "demo_minutes")
    options = parser.parse_args()
    points = {
        seed: watch(seed, options.data_dir / f"seed-{seed}", options.minutes)
        for seed in map(int, options.seeds.split(","))
    }
    return report(points, options)


if __name__ == "__main__":
    sys.exit(main())
