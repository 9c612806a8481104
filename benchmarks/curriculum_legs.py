"""Two legs of the quest, learned along one demonstration: with and without its parts.

    python benchmarks/curriculum_legs.py --out FOLDER                # arm after arm
    python benchmarks/curriculum_legs.py --out FOLDER --arm all --seed 1

The way is nine decisions: into the house to the sword (3), and through a bush to who gives a tool
(6). They are written here; a search finds such ways by itself. Each arm is 8 updates of 256
decisions in this process, with its figures after each update in `legs-ARM-SEED.json`. An arm takes
some 15 CPU seconds.
"""

import argparse
import json
import subprocess
import sys
import warnings
from pathlib import Path
from typing import Any

import ray
import torch

from rlaif.game.decisions.catalog import INTERACT, LEAVE, go_to, item
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.motion.grid import TilePlace
from rlaif.testing.decided_way import tree_of_way
from rlaif.trainer.curriculum.building import BuildSettings, build
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.learner.algorithm.ppo import ShapedPPO, build_config
from rlaif.trainer.play.config import EnvConfig
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.settings import TrainerSettings

RIGHT = 3
WAY = [
    [go_to(TilePlace(3, 2))],
    [go_to(TilePlace(2, 5)), INTERACT],
    [go_to(TilePlace(7, 4))],
    [go_to(TilePlace(5, 8)), item("sword")],
    [LEAVE.start + RIGHT],
    [go_to(TilePlace(4, 3)), INTERACT],
]
ARMS: dict[str, dict[str, Any]] = {
    "all": {},
    "no_warm": {"warm_start": 0},
    "ppo_only": {"warm_start": 0, "imitation": 0.0},
}
SEEDS, UPDATES = (1, 2), 8


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--arm", choices=ARMS)
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    found = options.out / "found"
    if not found.exists():
        tree = tree_of_way(options.out / "search", load_cartridge(None), WAY)
        settings = BuildSettings(RecordSettings(preset("default"), states_every=1), noised=2)
        print(build([tree], found, load_cartridge(None), "macros", settings))
    if options.arm is not None:
        play(options.out, options.arm, options.seed)
        return
    for seed in SEEDS:
        for arm in ARMS:
            own = ["--out", str(options.out), "--arm", arm, "--seed", str(seed)]
            subprocess.run([sys.executable, __file__, *own], check=True)


def play(folder: Path, arm: str, seed: int) -> None:
    """One arm, in a process of its own."""
    warnings.simplefilter("ignore")
    torch.set_num_threads(1)
    ray.init(
        address="local",
        num_cpus=1,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    settings = TrainerSettings.model_validate(
        {
            "game": {"actions": "macros", "episode_length": 2000},
            "run": {"seed": seed},
            "ray": {"workers": 0},
            "sampling": {"envs_per_worker": 4},
            "ppo": {"batch_size": 256, "minibatch_size": 64},
            "network": {"hidden": 64},
            "curriculum": {
                "path": folder / "found",
                "power_on": 0.0,
                "chained": 0.0,
                "tries": 4,
                "goes_on": 0.0,
                "warm_start": 100,
                **ARMS[arm],
            },
        }
    )
    env = EnvConfig(run_id="t", game=settings.game, capture=settings.capture)
    algorithm = ShapedPPO(build_config(settings, env))
    imitated = algorithm.follow_demonstrations(is_new=True)
    curve = []
    for _ in range(UPDATES):
        algorithm.train()
        legs = [
            {
                "goal": leg.goal[-1],
                "at": leg.at,
                "places": leg.places,
                "home": leg.is_home,
                "tries": leg.tries,
                "success": leg.success_anywhere,
            }
            for leg in algorithm.course.legs
        ]
        curve.append({"decisions": algorithm.env_steps, "legs": legs})
    told = None if imitated is None else imitated.__dict__
    text = json.dumps({"arm": arm, "seed": seed, "imitation": told, "curve": curve}, indent=1)
    (folder / f"legs-{arm}-{seed}.json").write_text(f"{text}\n")
    print(arm, seed, curve[-1])


if __name__ == "__main__":
    main()
