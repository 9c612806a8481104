"""What does each part of learning along demonstrations do? Parts left out, on the legs of a quest.

    python benchmarks/curriculum_ablations.py RUN [RUN …]             after make train-cartridge
    python benchmarks/curriculum_ablations.py RUN --arms all,shared_layers --decisions 32768

RUN is the directory of a quest run (`var/trainer/runs/cartridge-1`). Each arm learns along that
run's demonstrations, all segments at once, for the same number of decisions, as `rlaif-train
--mode epoch` with the default settings but for what the arm leaves out and for one runner of 16
environments. Then the policy is frozen and plays from power-on with random starts, the same starts
for every arm. The seed of an arm is that of the run whose demonstrations it learns along.

    home        share of segments whose beginning play succeeds from, after so many decisions
    home_mean   the same in the mean of all updates: sooner counts as well as more
    milestones  in the mean of the frozen policy's episodes, and the share with an essence

What was trained lies in --work and a run that is over is not run again: the same command goes on.
Writes `arms.csv`, `curve.csv` and `summary.json` into --out; ends with one line of JSON. Two arms
at once (--at-once) take a core each; all figures are by decisions, none by seconds.
"""

import argparse
import csv
import json
import os
import platform
import subprocess
import sys
from collections.abc import Iterable, Mapping
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from statistics import fmean
from typing import Any

from iqm import interval

from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.stories.story_lookup import story_of

ARMS: dict[str, tuple[str, ...]] = {
    "all": (),
    "no_warm_start": ("--curriculum-warm-start", "0"),
    "no_imitation_beside": ("--curriculum-imitation", "0"),
    "no_imitation": ("--curriculum-warm-start", "0", "--curriculum-imitation", "0"),
    "imitated_as_shown": ("--curriculum-strayed", "0"),
    "starts_not_moved": ("--curriculum-noised", "0"),
    "starts_not_arrived": ("--curriculum-arrived", "0"),
    "cut_at_goals": ("--curriculum-goes-on", "0"),
    "entropy_held_up": ("--curriculum-entropy", "0.03"),
    "shared_layers": ("--share-layers",),
    "squared_value_loss": ("--value-loss", "squared"),
    "clipped_value_loss": ("--value-loss", "squared", "--value-clip", "10"),
    "normalized_values": ("--normalize-values",),
    "inputs_as_they_are": ("--no-normalize-inputs",),
}
"""What each changes of the defaults."""

QUEST = ("--actions", "macros", "--episode-length", "15000", "--no-normalize-values")
"""What mode quest sets where nothing else is said."""

ALONE = ("--ray-workers", "1", "--envs-per-worker", "16")
EPISODES = 16
CURVE_ROW = ("run", "arm", "decisions", "home", "frontier", "success", "whole")


def main() -> int:
    parser = argparse.ArgumentParser(
        description=__doc__.splitlines()[0],
        epilog=__doc__.partition("\n\n")[2],
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument("runs", nargs="+", type=Path, metavar="RUN")
    parser.add_argument("--arms", default=",".join(ARMS), help="names, with commas (default: all)")
    parser.add_argument("--decisions", type=int, default=65_536)
    parser.add_argument("--at-once", type=int, default=2)
    parser.add_argument("--work", type=Path, default=Path("var/curriculum_ablations"))
    parser.add_argument(
        "--out", type=Path, default=Path(__file__).parent / "results" / "curriculum_ablations"
    )
    options = parser.parse_args()
    arms = options.arms.split(",")
    if unknown := sorted(set(arms) - set(ARMS)):
        parser.error(f"no such arm: {', '.join(unknown)}; there are {', '.join(ARMS)}")
    for run in options.runs:
        if not (run / "demonstrations" / "demonstrations.json").is_file():
            parser.error(f"{run} has no demonstrations: make some with make train-cartridge")
    trials = [(run, arm) for arm in arms for run in options.runs]
    with ThreadPoolExecutor(options.at_once) as pool:
        found = list(pool.map(lambda trial: measure(trial[0], trial[1], options), trials))
    report(found, options)
    return 0


def measure(run: Path, arm: str, options: argparse.Namespace) -> dict[str, Any]:
    """Train an arm along the demonstrations of a run, then let it play from power-on."""
    seed = json.loads(json.loads((run / "run.json").read_text())["settings"])["seed"]
    name = f"{run.name}-{arm}-{options.decisions}".replace("_", "-")  # as runs are called
    work = options.work.resolve()
    path = str((run / "demonstrations").resolve())
    given = (*QUEST, *ALONE, "--seed", str(seed), *ARMS[arm])
    epoch = ("--mode", "epoch", "--epoch-steps", str(options.decisions), "--curriculum-path", path)
    told = list(messages(work, name, (*epoch, *given)))
    saved = next(each["path"] for each in reversed(told) if each["kind"] == "checkpoint_saved")
    frozen = ("--mode", "evaluation", "--checkpoint", saved, "--eval-episodes", str(EPISODES))
    evaluated = next(
        each
        for each in messages(work, f"{name}-frozen", (*frozen, *given))
        if each["kind"] == "evaluation_done"
    )
    episodes = json.loads(Path(evaluated["path"]).read_text())["episodes"]
    main = story_of(load_cartridge().game).main_names
    curve = [
        {
            "run": run.name,
            "arm": arm,
            "decisions": steps,
            "home": each["mastered"] / each["all_segments"],
            "frontier": each["frontier_mean"],
            "success": each["success_mean"],
            "whole": each["whole_success"],
        }
        for steps, each in along(told)
    ]
    figures = {
        "run": run.name,
        "arm": arm,
        "home": curve[-1]["home"],
        "home_mean": fmean(each["home"] for each in curve),
        "milestones": [len(main & set(each["milestones"])) for each in episodes],
    }
    print(
        f"{run.name:<14}{arm:<21}home {figures['home']:.2f}, in the mean {figures['home_mean']:.2f}"
        f"; from power-on {fmean(figures['milestones']):.1f} milestones",
        flush=True,
    )
    return figures | {"curve": curve}


def messages(work: Path, name: str, given: Iterable[str]) -> Iterable[dict[str, Any]]:
    """What `rlaif-train` told; it is run where it has not told its end before."""
    log = work / f"{name}.jsonl"
    if not log.is_file():
        work.mkdir(parents=True, exist_ok=True)
        stores = {
            "TRAINER_MODELS_STORE": f"file://{work}/models",
            "TRAINER_EPISODES_STORE": f"file://{work}/episodes",
        }
        command = [str(Path(sys.executable).with_name("rlaif-train")), "--messages"]
        command += ["--data-dir", str(work / "trainer"), "--run-id", name, *given]
        part = log.with_suffix(".part")
        with part.open("w") as out, log.with_suffix(".err").open("w") as errors:
            environment = os.environ | stores | {"OPENBLAS_NUM_THREADS": "1"}
            done = subprocess.run(command, stdout=out, stderr=errors, env=environment, check=False)
        if done.returncode:
            raise SystemExit(f"{name}: rlaif-train ended with {done.returncode}; see {errors.name}")
        part.rename(log)
    return [json.loads(line) for line in log.read_text().splitlines()]


def along(told: Iterable[Mapping[str, Any]]) -> Iterable[tuple[int, Mapping[str, Any]]]:
    """How the segments stood after so many decisions."""
    steps = 0
    for each in told:
        if each["kind"] == "iteration_done":
            steps = each["env_steps"]
        if each["kind"] == "curriculum_told":
            yield steps, each


def report(found: list[dict[str, Any]], options: argparse.Namespace) -> None:
    """Write and print what all arms came to, beside the one that leaves nothing out."""
    options.out.mkdir(parents=True, exist_ok=True)
    with (options.out / "curve.csv").open("w", newline="") as file:
        rows = csv.DictWriter(file, CURVE_ROW, lineterminator="\n")
        rows.writeheader()
        rows.writerows(row for each in found for row in each["curve"])
    with (options.out / "arms.csv").open("w", newline="") as file:
        raw = csv.writer(file, lineterminator="\n")
        raw.writerow(("run", "arm", "home", "home_mean", "milestones"))
        for each in found:
            milestones = " ".join(map(str, each["milestones"]))
            raw.writerow((each["run"], each["arm"], each["home"], each["home_mean"], milestones))
    arms = {}
    for arm in dict.fromkeys(each["arm"] for each in found):
        own = [each for each in found if each["arm"] == arm]
        over = interval([each["milestones"] for each in own])
        arms[arm] = {
            "home": round(fmean(each["home"] for each in own), 3),
            "home_mean": round(fmean(each["home_mean"] for each in own), 3),
            "milestones_iqm": [round(value, 2) for value in over],
        }
    figures = {
        "decisions": options.decisions,
        "runs": [run.name for run in options.runs],
        "episodes": EPISODES,
        "machine": f"{os.cpu_count()} cores, Python {platform.python_version()}",
        "arms": arms,
    }
    (options.out / "summary.json").write_text(json.dumps(figures, indent=1) + "\n")
    print(json.dumps(figures))


if __name__ == "__main__":
    sys.exit(main())
