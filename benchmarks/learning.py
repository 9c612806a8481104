"""PPO on the built-in game with the game's rewards alone: milestones over steps.

    python benchmarks/learning.py                             or: make bench-learning
    python benchmarks/learning.py --steps 200000 --seeds 1 --set entropy=0.02

Each seed is a run of mode pipeline with the default settings except: 2 runners of 8 environments,
16 game frames per step, episodes of 300 steps (80 s of game), a quarter from the archive. No
reward model, exploration on.

Why: every reward pays once an episode. With episodes of 30,000 steps an environment would be paid
for its first rooms and then play for nothing, and 16 of them would end their first episode after
480,000 steps. And 16 frames are one tile of walking: who may turn round every 4 frames goes nowhere
by chance, and finds the first item ten times later.

Ten times on the way the policy is frozen and plays 16 episodes of the same length from power-on,
actions drawn, on seeds of their own. A policy that presses each of the 8 buttons alike plays 64
such episodes to compare with.

    evaluated   mean share of the main milestones in those episodes: what the policy can do
    reached     share of them that some episode of the run has shown at its end, restarts from the
                archive included: how far it has been. `random_policy_archive.txt` has the same of
                random play with restarts.

Writes `training.csv`, `evaluations.csv`, `random.json`, `curves.svg` and `summary.json` into
benchmarks/results/learning. What was trained is kept in `--data-dir`: the same command resumes
where it was ended. Prints a line for each evaluation, then one line of JSON. Exit code 0 when every
seed ends above the 95th percentile of the random policy's episodes in `evaluated`, else 1.
"""

import argparse
import asyncio
import csv
import json
import os
import platform
import sys
import time
from collections.abc import Sequence
from datetime import UTC, datetime
from pathlib import Path
from typing import Any

import numpy as np
from curves import Curve, draw

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.stories.story_lookup import story_of
from rlaif.trainer.checks import by_field
from rlaif.trainer.evaluation import result
from rlaif.trainer.evaluation.player import EvaluationTask, play
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.run_folder.protocol import (
    MESSAGES,
    EvaluationDone,
    EvaluationFailed,
    IterationDone,
    Message,
    Started,
)
from rlaif.trainer.service.runs.supervisor import RunSupervisor
from rlaif.trainer.settings import TrainerSettings
from rlaif.trainer.settings.game import STEP_FRAMES, GameSettings

RESULTS = Path(__file__).parent / "results" / "learning"
POINTS = 10
RANDOM_EPISODES = 64
TRAINING_ROW = (
    "seed", "env_steps", "reached", "last_100_episodes", "episodes", "return_mean", "rooms_mean",
    "length_mean", "steps_per_second", "entropy", "vf_explained_var",
)  # fmt: skip
EVALUATION_ROW = (
    "seed", "env_steps", "evaluated", "return_mean", "rooms_mean", "length_mean", "milestones",
)  # fmt: skip


def settings_of(options: argparse.Namespace, seed: int) -> TrainerSettings:
    changes = dict(each.split("=", 1) for each in options.set)
    # The settings count steps of four frames, the study those that are decided on.
    length = options.episode_length * options.frame_skip // STEP_FRAMES
    return TrainerSettings.model_validate(
        {
            "actions": "seed",
            "data_dir": options.data_dir.resolve(),
            "ray_workers": options.workers,
            "envs_per_worker": options.envs,
            "mode": "pipeline",
            "run_hours": 1_000,
            "epoch_steps": max(1, options.steps // POINTS),
            "episode_length": length,
            "frame_skip": options.frame_skip,
            "explore_restarts": options.restarts,
            "eval_episodes": options.eval_episodes,
            "watch_fps": 0,
            "captures_per_minute": 0,
            "seed": seed,
            "stop_seconds": 600,
            **by_field(changes),
        }
    )


class Log:
    """The messages of a seed's run, one a line, over all attempts."""

    def __init__(self, path: Path) -> None:
        self._path = path

    def take(self, message: Message) -> None:
        with self._path.open("ab") as file:
            file.write(message.line())

    def messages(self) -> list[IterationDone]:
        """Iterations in order; those that an attempt did again count once."""
        found: list[IterationDone] = []
        if not self._path.exists():
            return found
        for line in self._path.read_bytes().splitlines():
            message = MESSAGES.validate_json(line)
            if isinstance(message, Started):
                found = [each for each in found if each.env_steps <= message.env_steps]
            elif isinstance(message, IterationDone):
                found.append(message)
        return found


def log_of(options: argparse.Namespace, seed: int) -> Log:
    return Log(options.data_dir / f"seed-{seed}.jsonl")


def run_id(seed: int) -> str:
    return f"learning-{seed}"


async def train(options: argparse.Namespace, seed: int) -> None:
    """Train until the last evaluation is done."""
    settings = settings_of(options, seed)
    log = log_of(options, seed)
    done = asyncio.Event()
    evaluated = {each.epoch for each in result.read_all(directory_of(options, seed))}
    if POINTS - 1 in evaluated:
        return

    def take(message: Message) -> None:
        log.take(message)
        if isinstance(message, EvaluationDone):
            steps = run.state.env_steps
            print(
                f"seed {seed}, {steps} steps: evaluated {message.fraction_mean:.4f}, return "
                f"{message.return_mean:.2f}",
                flush=True,
            )
        if isinstance(message, EvaluationDone | EvaluationFailed) and message.epoch == POINTS - 1:
            done.set()

    run = RunSupervisor(settings, run_id(seed), take)
    run.start()
    ends = [asyncio.create_task(done.wait()), asyncio.create_task(run.wait())]
    await asyncio.wait(ends, return_when=asyncio.FIRST_COMPLETED)
    await run.stop()
    for task in ends:
        task.cancel()
    if not done.is_set():
        raise RuntimeError(f"seed {seed}: the run ended: {run.state.failure}")


def random_episodes(options: argparse.Namespace) -> list[float]:
    """Share of the main milestones in each episode of a policy that prefers no button."""
    kept = options.data_dir / "random.json"
    if kept.exists():
        found: list[float] = json.loads(kept.read_text())["fractions"]
        return found
    settings = settings_of(options, 0)
    task = EvaluationTask.of(
        EnvConfig(
            run_id="random",
            game=GameSettings(
                actions="seed",
                noop_start=settings.game.noop_start,
                frame_skip=settings.frame_skip,
                reward_preset=settings.game.reward_preset,
            ),
        ),
        length=settings.evaluation_length,
        seed=settings.eval.seed,
        greedy=False,
    )
    episodes = play(task, range(RANDOM_EPISODES), no_preference)
    fractions = [each.fraction for each in sorted(episodes, key=lambda each: each.number)]
    kept.write_text(
        json.dumps(
            {
                "episodes": RANDOM_EPISODES,
                "steps": options.episode_length,
                "fractions": fractions,
                "returns": [round(each.reward, 3) for each in episodes],
                "rooms": [each.rooms for each in episodes],
                "milestones": sorted({name for each in episodes for name in each.milestones}),
            }
        )
    )
    return fractions


def no_preference(observations: "np.ndarray[Any, Any]") -> "np.ndarray[Any, Any]":
    """Logits of a policy that takes each action alike."""
    return np.zeros((len(observations), len(Action)), dtype=np.float32)


def directory_of(options: argparse.Namespace, seed: int) -> Path:
    directory: Path = options.data_dir.resolve() / "runs" / run_id(seed)
    return directory


def training_rows(options: argparse.Namespace, seed: int) -> list[dict[str, Any]]:
    main = {each.name for each in story_of(load_cartridge(None).game).milestones if each.is_main}
    return [
        {
            "seed": seed,
            "env_steps": each.env_steps,
            "reached": round(len(main & set(each.milestones)) / len(main), 4),
            "last_100_episodes": rounded(each.milestone_fraction),
            "episodes": each.episodes,
            "return_mean": rounded(each.episode_return_mean),
            "rooms_mean": rounded(each.rooms_mean),
            "length_mean": rounded(each.episode_length_mean),
            "steps_per_second": round(each.steps_per_second),
            "entropy": rounded(each.learner.get("entropy")),
            "vf_explained_var": rounded(each.learner.get("vf_explained_var")),
        }
        for each in log_of(options, seed).messages()
    ]


def evaluation_rows(options: argparse.Namespace, seed: int) -> list[dict[str, Any]]:
    return [
        {
            "seed": seed,
            "env_steps": each.env_steps,
            "evaluated": rounded(each.fraction_mean),
            "return_mean": rounded(each.return_mean),
            "rooms_mean": rounded(each.rooms_mean),
            "length_mean": rounded(each.length_mean),
            "milestones": " ".join(f"{name}:{share:g}" for name, share in each.milestones.items()),
        }
        for each in result.read_all(directory_of(options, seed))
    ]


def rounded(value: float | None) -> float | None:
    return None if value is None else round(value, 4)


def write_csv(path: Path, names: Sequence[str], rows: Sequence[dict[str, Any]]) -> None:
    with path.open("w", newline="") as file:
        writer = csv.DictWriter(file, names, lineterminator="\n")
        writer.writeheader()
        writer.writerows(rows)


def report(options: argparse.Namespace, seconds: float) -> dict[str, Any]:
    """Write the files and give the summary."""
    seeds = range(options.seed, options.seed + options.seeds)
    training = {seed: training_rows(options, seed) for seed in seeds}
    evaluated = {seed: evaluation_rows(options, seed) for seed in seeds}
    random = random_episodes(options)
    level = float(np.quantile(random, 0.95))
    results: Path = options.results
    results.mkdir(parents=True, exist_ok=True)
    write_csv(results / "training.csv", TRAINING_ROW, [row for s in seeds for row in training[s]])
    write_csv(
        results / "evaluations.csv", EVALUATION_ROW, [row for s in seeds for row in evaluated[s]]
    )
    (results / "random.json").write_text((options.data_dir / "random.json").read_text() + "\n")
    (results / "curves.svg").write_text(
        draw(
            [
                *(
                    Curve(
                        f"evaluated, seed {seed}",
                        [(row["env_steps"], row["evaluated"]) for row in evaluated[seed]],
                    )
                    for seed in seeds
                ),
                *(
                    Curve(
                        f"reached, seed {seed}",
                        [(row["env_steps"], row["reached"]) for row in training[seed]],
                        dashed=True,
                    )
                    for seed in seeds
                ),
                Curve(
                    "random policy",
                    [(step, float(np.mean(random))) for step in (0, options.steps)],
                    grey=True,
                ),
            ],
            title="Share of the main milestones over environment steps",
        )
    )
    last = {seed: evaluated[seed][-1]["evaluated"] if evaluated[seed] else None for seed in seeds}
    learns = all(value is not None and value > level for value in last.values())
    summary = {
        "benchmark": "learning",
        "learns": learns,
        "evaluated": last,
        "evaluated_best": {
            seed: max((row["evaluated"] for row in rows), default=None)
            for seed, rows in evaluated.items()
        },
        "reached": {s: training[s][-1]["reached"] if training[s] else None for s in seeds},
        "random_mean": round(float(np.mean(random)), 4),
        "random_95_percent": round(level, 4),
        "milestones_total": sum(
            each.is_main for each in story_of(load_cartridge(None).game).milestones
        ),
        "steps": options.steps,
        "seeds": options.seeds,
        "settings": chosen(settings_of(options, options.seed)),
        "changed": options.set,
        "rom_sha256": load_cartridge(None).sha256,
        "seconds": round(seconds),
        "at": datetime.now(UTC).isoformat(timespec="seconds"),
        "machine": f"{platform.platform()}, {os.cpu_count()} CPUs",
    }
    (results / "summary.json").write_text(json.dumps(summary, indent=1) + "\n")
    return summary


def chosen(settings: TrainerSettings) -> dict[str, Any]:
    names = (
        "ppo_preset", "reward_preset", "learning_rate", "gamma", "gae_lambda", "clip", "entropy",
        "batch_size", "minibatch_size", "epochs", "episode_length", "explore_restarts",
        "ray_workers", "envs_per_worker", "overlap", "hidden", "frame_skip",
    )  # fmt: skip
    return {name: getattr(settings, name) for name in names}


def main() -> int:
    options = parse_options()
    options.data_dir.mkdir(parents=True, exist_ok=True)
    began = time.monotonic()
    if not options.report_only:
        for seed in range(options.seed, options.seed + options.seeds):
            asyncio.run(train(options, seed))
    found = report(options, time.monotonic() - began)
    print(json.dumps(found))
    return 0 if found["learns"] else 1


def parse_options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    add = parser.add_argument
    add("--steps", type=int, default=1_000_000, help="environment steps of each seed (1000000)")
    add("--seeds", type=int, default=3, help="runs, one after the other (3)")
    add("--seed", type=int, default=0, help="of the first (0)")
    add("--workers", type=int, default=2, help="runner processes (2)")
    add("--envs", type=int, default=8, help="environments a runner (8)")
    add("--episode-length", type=int, default=300, help="decision steps (300)")
    add("--frame-skip", type=int, default=16, help="game frames per decision step (16)")
    add("--restarts", type=float, default=0.25, help="share of episodes from the archive (0.25)")
    add("--eval-episodes", type=int, default=16, help="of each evaluation (16)")
    add("--set", action="append", default=[], metavar="NAME=VALUE", help="a setting of the trainer")
    add("--data-dir", type=Path, default=Path("var/learning"), help="runs (var/learning)")
    add("--results", type=Path, default=RESULTS, help="where the files go")
    add("--report-only", action="store_true", help="write the files of what was trained so far")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
