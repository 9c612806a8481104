"""Milestones and rooms on the page in the first minutes of `make demo`, by seed.

    python benchmarks/demo_minutes.py                       three seeds, 15 minutes each
    python benchmarks/demo_minutes.py --seeds 4 --minutes 5

Each seed is a pipeline as `make demo` starts it, with the default settings. At the end the page's
history is read (`GET /api/v1/history`).

    reached     milestones reached in an episode; attempts of practice are no episodes
    rooms       distinct rooms of an episode

Means over the episodes of the last five minutes are compared with the bars, beside the first three.
Writes `minutes.csv` and `summary.json` into --out. Exit code 0 if the medians of the seeds are
above both bars.
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

from outcome import finish, machine, parser_of, write_csv

from rlaif.testing.pipeline import Pipeline

BARS = {"reached": 1.0, "rooms": 4.0}
"""Milestones and rooms per episode, over the last minutes."""

FIRST, LAST = 3, 5
"""Minutes at the beginning and at the end that are compared."""

STOP_SECONDS = 90.0


def main() -> int:
    parser = parser_of(__doc__)
    parser.add_argument("--seeds", default="1,2,3", help="with commas between [1,2,3]")
    parser.add_argument("--minutes", type=float, default=15.0)
    parser.add_argument("--data-dir", type=Path, default=Path("var/demo_minutes"))
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "demo_minutes"
    )
    options = parser.parse_args()
    seeds = [int(seed) for seed in options.seeds.split(",")]
    minutes = [
        row
        for seed in seeds
        for row in watch(seed, options.data_dir / f"seed-{seed}", options.minutes)
    ]
    return report(seeds, minutes, options)


def watch(seed: int, folder: Path, minutes: float) -> list[dict[str, Any]]:
    """Run a pipeline for some minutes; its episodes, minute by minute."""
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
    return by_minute(seed, began, history["points"])


def by_minute(seed: int, began: float, pieces: Sequence[dict[str, Any]]) -> list[dict[str, Any]]:
    """Means over the episodes that ended in each minute of the demo."""
    sums: dict[int, dict[str, float]] = {}
    for piece in pieces:
        if not piece["episodes"] or piece["milestones_mean"] is None:
            continue
        at = datetime.fromisoformat(piece["at"]).timestamp()
        row = sums.setdefault(int((at - began) / 60), {"episodes": 0, "reached": 0.0, "rooms": 0.0})
        row["episodes"] += piece["episodes"]
        row["reached"] += piece["episodes"] * piece["milestones_mean"]
        row["rooms"] += piece["episodes"] * (piece["rooms_mean"] or 0.0)
    return [
        {
            "seed": seed,
            "minute": minute,
            "episodes": int(row["episodes"]),
            "reached": round(row["reached"] / row["episodes"], 3),
            "rooms": round(row["rooms"] / row["episodes"], 3),
        }
        for minute, row in sorted(sums.items())
    ]


def over(rows: Sequence[dict[str, Any]], name: str) -> float | None:
    """Mean over the episodes of some minutes; None of none."""
    episodes = sum(row["episodes"] for row in rows)
    return sum(row["episodes"] * row[name] for row in rows) / episodes if episodes else None


def report(
    seeds: Sequence[int], minutes: Sequence[dict[str, Any]], options: argparse.Namespace
) -> int:
    """Write what was seen and whether it is above the bars."""
    options.out.mkdir(parents=True, exist_ok=True)
    write_csv(options.out / "minutes.csv", list(minutes[0]), minutes)
    of_seeds = {}
    for seed in seeds:
        own = [row for row in minutes if row["seed"] == seed]
        first = [row for row in own if row["minute"] < own[0]["minute"] + FIRST]
        last = [row for row in own if row["minute"] >= options.minutes - LAST]
        of_seeds[seed] = {
            f"{name}_{when}": None if (mean := over(rows, name)) is None else round(mean, 2)
            for name in BARS
            for when, rows in (("first", first), ("last", last))
        }
    medians = {
        name: median(each[f"{name}_last"] or 0.0 for each in of_seeds.values()) for name in BARS
    }
    met = all(medians[name] > bar for name, bar in BARS.items())
    figures = {
        "minutes": options.minutes,
        "seeds": of_seeds,
        **{f"{name}_median": value for name, value in medians.items()},
        "bars_met": met,
        "machine": machine(),
    }
    (options.out / "summary.json").write_text(json.dumps(figures, indent=1) + "\n")
    return finish(figures, met=met)


if __name__ == "__main__":
    sys.exit(main())
