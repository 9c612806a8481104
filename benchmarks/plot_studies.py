"""Plot the two studies from their committed results: `make plots`, which installs matplotlib.

Writes `exploration.svg` (share of the runs that reached the essence, by frames) and `rewards.svg`
(milestones per episode from power-on while a policy is trained; a thin line is a seed, a thick one
the mean) into docs/study.
"""

import csv
import json
import sys
from collections import defaultdict
from pathlib import Path
from typing import Any

import matplotlib
import numpy as np

matplotlib.use("svg")
from matplotlib import pyplot as plt
from matplotlib.figure import Figure

ROOT = Path(__file__).parents[1]
RESULTS = ROOT / "benchmarks" / "results"
OUT = ROOT / "docs" / "study"
COLOURS = {
    "judges-novelty": "#0b6e4f", "judges": "#5fa777",
    "uniform+expert": "#0b6e4f", "counts+expert": "#5fa777",
    "counts": "#c05621", "game": "#c05621",
    "uniform": "#6b7280", "exchanged-novelty": "#6b7280",
    "novelty": "#111827", "nothing": "#111827",
    "uniform+random": "#8b5cf6", "exchanged": "#8b5cf6", "uniform+mistaken": "#2563eb",
}  # fmt: skip
NAMES = {
    "uniform": "uniform", "counts": "counts (no judge)", "uniform+expert": "uniform + expert judge",
    "counts+expert": "counts + expert judge", "uniform+random": "uniform + random judge",
    "uniform+mistaken": "uniform + judge, 20 % wrong", "judges": "judges",
    "judges-novelty": "judges + new places", "novelty": "new places only",
    "exchanged-novelty": "exchanged labels + new places", "exchanged": "exchanged labels",
    "game": "rewards of the game", "nothing": "no reward",
}  # fmt: skip
WINDOW = 10
"""Iterations per point of a training curve: about 20 episodes from power-on."""


def main() -> int:
    plt.rcParams |= {"font.size": 9, "svg.hashsalt": "study", "legend.frameon": False}
    plt.rcParams |= {"axes.spines.top": False, "axes.spines.right": False}
    OUT.mkdir(exist_ok=True)
    with (RESULTS / "exploration" / "runs.csv").open(encoding="utf-8") as table:
        exploration(list(csv.DictReader(table)))
    outcomes: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for file in sorted((RESULTS / "rewards" / "runs").glob("*.json")):
        outcomes[file.name.partition(".")[0]].append(json.loads(file.read_text("utf-8")))
    rewards({arm: runs for arm, runs in outcomes.items() if arm in COLOURS})
    return 0


def exploration(runs: list[dict[str, str]]) -> None:
    """Plot, per kind of world, the share of finished runs of each arm by frames."""
    kinds: dict[str, dict[str, list[dict[str, str]]]] = defaultdict(lambda: defaultdict(list))
    for run in runs:
        generated = run["world"].startswith("world-")
        kind = f"{run['world'].split('-')[2]} rooms" if generated else "Seedling Vale"
        kinds[kind][run["arm"]].append(run)
    figure, panels = plt.subplots(1, len(kinds), figsize=(3.4 * len(kinds), 3.0), sharey=True)
    for panel, (kind, arms) in zip(panels, sorted(kinds.items()), strict=True):
        for arm, mine in arms.items():
            ends = sorted(int(run["essence_frames"]) / 1e6 for run in mine if run["essence_frames"])
            limit = max(int(run["limit"]) for run in mine) / 1e6
            shares = [at / len(mine) for at in (*range(len(ends) + 1), len(ends))]
            label = f"{NAMES[arm]} ({len(mine)})"
            panel.step([0, *ends, limit], shares, where="post", color=COLOURS[arm], label=label)
        panel.set(title=kind, xlabel="million frames", ylim=(-0.02, 1.05))
        panel.legend(fontsize=7)
    panels[0].set_ylabel("share of the runs that reached the end")
    _write(figure, "exploration")


def rewards(arms: dict[str, list[dict[str, Any]]]) -> None:
    """Plot milestones per episode from power-on during the training of the policies."""
    figure, panel = plt.subplots(figsize=(5.6, 3.4))
    for arm, runs in sorted(arms.items()):
        curves = [_smooth(run["curve"]) for run in runs]
        for decisions, milestones in curves:
            panel.plot(decisions, milestones, color=COLOURS[arm], alpha=0.25, linewidth=0.8)
        length = min(len(milestones) for _, milestones in curves)
        mean = np.mean([milestones[:length] for _, milestones in curves], axis=0)
        label = f"{NAMES[arm]} ({len(runs)})"
        panel.plot(curves[0][0][:length], mean, color=COLOURS[arm], linewidth=2.0, label=label)
    panel.set(xlabel="decisions of the training", ylabel="milestones per episode", ylim=(0, None))
    panel.legend(fontsize=7)
    _write(figure, "rewards")


def _smooth(curve: dict[str, list[float]]) -> tuple[list[float], list[float]]:
    """Return decisions, and means of the episodes that ended in the last `WINDOW` iterations."""
    box = np.ones(WINDOW)
    episodes = np.convolve(curve["episodes"], box, mode="valid")
    milestones = np.convolve(curve["milestones"], box, mode="valid")
    return curve["decisions"][WINDOW - 1 :], list(milestones / np.maximum(episodes, 1.0))


def _write(figure: Figure, name: str) -> None:
    figure.tight_layout()
    figure.savefig(OUT / f"{name}.svg", metadata={"Date": None})
    plt.close(figure)


if __name__ == "__main__":
    sys.exit(main())
