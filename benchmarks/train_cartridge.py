"""Report on runs of `make train-cartridge`: search, policy and random policy by seed.

    for n in 1 2 3; do make train-cartridge SEED=$n; make evaluate-trained RUN=cartridge-$n; done
    make evaluate-trained RUN=cartridge-1 ARGS=--random
    python benchmarks/train_cartridge.py                      or: make report-cartridge
    python benchmarks/train_cartridge.py cartridge-1 cartridge-2 --out DIR

Reads the runs in --data-dir, without names all of mode quest. Runs with different action sets
(arms) are never mixed.

    search      lasting marks, minutes until the first essence, main milestones of the best
                trajectory
    policy      milestones from power-on and share of episodes with an essence, of the frozen
                policy: interquartile mean of the seeds with a 95 % bootstrap interval over seeds
                and episodes (Agarwal et al. 2021)
    chance      the same of random play with the same actions, if it was evaluated

Writes `summary.json`, `runs.csv`, `curve.csv` (raw rows of all runs) and `episodes.csv` into --out.
Ends with one line of JSON. Exit code 0 if there was a run to report.
"""

import argparse
import json
import sys
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

from iqm import Interval, interval
from outcome import machine, parser_of, write_csv
from search_findings import Findings

from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.evaluation import policy as policies
from rlaif.trainer.evaluation import result
from rlaif.trainer.evaluation.result import Evaluation
from rlaif.trainer.run_folder import metrics_log
from rlaif.trainer.run_folder.metrics_rows import STEP, Row
from rlaif.trainer.run_folder.quest_record import SEARCH_FOLDER, QuestRecord
from rlaif.trainer.run_folder.record import RunRecord, list_runs
from rlaif.trainer.search.marks import level_of
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import Tree, TreeError

RESULTS = Path(__file__).parent / "results" / "train_cartridge"
ESSENCE = "essence:"

RUN_ROW = (
    "run", "arm", "seed", "phase", "search_minutes", "search_over", "search_frames", "marks",
    "level", "essence_minutes", "search_milestones", "demonstrations", "trained_minutes",
    "milestones_mean", "milestones_best", "essence_share", "episodes", "chance_mean",
)  # fmt: skip
EPISODE_ROW = (
    "run", "player", "seed", "number", "milestones", "essences", "frames", "decisions", "deaths",
    "rooms", "ended", "reached",
)  # fmt: skip


@dataclass(frozen=True)
class Run:
    """One run, possibly unfinished."""

    record: RunRecord
    directory: Path
    settings: dict[str, Any]
    quest: QuestRecord
    curve: list[Row]
    trials: list[Evaluation]

    @property
    def arm(self) -> str:
        return str(self.settings["actions"])

    @property
    def seed(self) -> int:
        return int(self.settings["seed"])

    def trial(self, player: str) -> Evaluation | None:
        return next((each for each in self.trials if each.player == player), None)


def runs_of(options: argparse.Namespace) -> list[Run]:
    known = [each for each in list_runs(options.data_dir) if each.mode == "quest"]
    missing = set(options.runs) - {each.run_id for each in known}
    if missing:
        sys.exit(f"no run of mode quest called {', '.join(sorted(missing))} in {options.data_dir}")
    found = []
    for record in known:
        if options.runs and record.run_id not in options.runs:
            continue
        directory = options.data_dir / "runs" / record.run_id
        found.append(
            Run(
                record,
                directory,
                json.loads(record.settings),
                QuestRecord.read(directory),
                list(metrics_log.read(directory / metrics_log.FILE)),
                result.read_all(directory / policies.FOLDER, result.TRIALS),
            )
        )
    return sorted(found, key=lambda run: (run.arm, run.seed, run.record.run_id))


def searched(run: Run) -> dict[str, Any]:
    """Findings of the search of a run; empty without a tree."""
    try:
        tree = Tree.reading(run.directory / SEARCH_FOLDER / TREE)
    except TreeError:
        return {}
    try:
        progress = tree.progress("search") or {"counts": {"frames": 0}, "seconds": 0, "marks": []}
        essences = [each["seconds"] for each in progress["marks"] if ESSENCE in each["mark"]]
        findings = Findings(tree, story_of(cartridge_of(run).game, cartridge_of(run).data))
        levels = {node.marks: level_of(node.marks) for node in tree.nodes()}
    finally:
        tree.close()
    return {
        "search_minutes": round(progress["seconds"] / 60, 1),
        "search_frames": progress["counts"]["frames"],
        "marks": len(progress["marks"]),
        "level": max(levels.values(), default=0.0),
        "essence_minutes": round(min(essences) / 60, 1) if essences else None,
        "search_milestones": max(0, findings.best[0]),
        "first_frames": {
            name: node.found_at
            for name in findings.main
            if (node := findings.first.get(name)) is not None
        },
    }


def cartridge_of(run: Run) -> Cartridge:
    path = run.settings.get("rom_path")
    return load_cartridge(Path(path) if path else None)


def run_row(run: Run, search: dict[str, Any]) -> dict[str, Any]:
    trained, chance = run.trial("trained"), run.trial("random")
    policy = [row for row in run.curve if STEP in row]
    row: dict[str, Any] = {
        "run": run.record.run_id,
        "arm": run.arm,
        "seed": run.seed,
        "phase": run.quest.phase,
        "search_over": run.quest.search_over,
        "demonstrations": run.quest.demonstrations,
        "trained_minutes": round(policy[-1]["time_total_s"] / 60, 1) if policy else None,
        "chance_mean": chance.line()["milestones_mean"] if chance else None,
    }
    row |= {name: value for name, value in search.items() if name in RUN_ROW}
    if trained is not None:
        names = ("milestones_mean", "milestones_best", "essence_share", "episodes")
        row |= {name: trained.line()[name] for name in names}
    return {name: row.get(name) for name in RUN_ROW}


def episode_rows(run: Run) -> list[dict[str, Any]]:
    return [
        {
            "run": run.record.run_id,
            "player": trial.player,
            "seed": trial.seed,
            "number": each.number,
            "milestones": len(each.milestone_frames),
            "essences": each.essences,
            "frames": each.frames,
            "decisions": each.decisions,
            "deaths": each.deaths,
            "rooms": each.rooms,
            "ended": each.ended,
            "reached": " ".join(f"{name}:{frame}" for name, frame in each.milestone_frames.items()),
        }
        for trial in run.trials
        for each in trial.episodes
    ]


def arm_summary(
    runs: Sequence[Run], rows: Sequence[dict[str, Any]], searches: dict[str, dict[str, Any]]
) -> dict[str, Any]:
    """Figures of the runs of one arm."""
    trained = [trial for run in runs if (trial := run.trial("trained")) is not None]
    chance = [trial for run in runs if (trial := run.trial("random")) is not None]
    over = [row for row in rows if row["search_over"] is not None]
    found: dict[str, Any] = {
        "seeds": [run.seed for run in runs],
        "search_with_essence": [sum(row["essence_minutes"] is not None for row in over), len(over)],
        "search_milestones": [row["search_milestones"] for row in rows],
        "search_first_frames": [
            searches[run.record.run_id].get("first_frames", {}) for run in runs
        ],
        "milestones_means": [trial.line()["milestones_mean"] for trial in trained],
        "essence_shares": [trial.line()["essence_share"] for trial in trained],
        "reached": {name: round(share, 3) for name, share in reached_shares(trained).items()},
    }
    if trained:
        found["milestones_iqm"] = as_list(interval([trial.reached for trial in trained]))
        found["essence_iqm"] = as_list(
            interval([[float(bool(each.essences)) for each in trial.episodes] for trial in trained])
        )
        found["milestones_total"] = trained[0].milestones_total
    if chance:
        found["chance_iqm"] = as_list(interval([trial.reached for trial in chance]))
    return found


def reached_shares(trials: Sequence[Evaluation]) -> dict[str, float]:
    """Share of all their episodes that reached each milestone, most common first."""
    episodes = [episode for trial in trials for episode in trial.episodes]
    counts = Counter(name for each in episodes for name in each.milestone_frames)
    return {name: count / len(episodes) for name, count in counts.most_common()}


def as_list(found: Interval) -> list[float]:
    """[figure, lower end, upper end]."""
    return [round(each, 4) for each in found]


def report(options: argparse.Namespace, runs: Sequence[Run]) -> dict[str, Any]:
    """Write the files and return the summary."""
    searches = {run.record.run_id: searched(run) for run in runs}
    rows = [run_row(run, searches[run.record.run_id]) for run in runs]
    out: Path = options.out
    out.mkdir(parents=True, exist_ok=True)
    write_csv(out / "runs.csv", RUN_ROW, rows)
    write_csv(out / "episodes.csv", EPISODE_ROW, [row for run in runs for row in episode_rows(run)])
    write_csv(
        out / "curve.csv",
        ("run", *dict.fromkeys(name for run in runs for row in run.curve for name in row)),
        [{"run": run.record.run_id, **row} for run in runs for row in run.curve],
    )
    summary: dict[str, Any] = {
        "benchmark": "train_cartridge",
        "runs": len(runs),
        "arms": {
            arm: arm_summary(
                [run for run in runs if run.arm == arm],
                [row for row in rows if row["arm"] == arm],
                searches,
            )
            for arm in Counter(run.arm for run in runs)
        },
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": machine(),
    }
    (out / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def main() -> int:
    options = parse_options()
    runs = runs_of(options)
    if not runs:
        print(
            f"no run of mode quest in {options.data_dir}: make train-cartridge SEED=1 makes one",
            file=sys.stderr,
        )
        return 1
    print(json.dumps(report(options, runs)))
    return 0


def parse_options() -> argparse.Namespace:
    parser = parser_of(__doc__)
    add = parser.add_argument
    add("runs", nargs="*", help="ids of runs; all of mode quest when left out")
    add("--data-dir", type=Path, default=Path("var/trainer"), help="where they are (var/trainer)")
    add("--out", type=Path, default=RESULTS, help="folder for the files")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
