"""Build demonstrations from searches, at low priority.

An interrupted build resumes with the parts that were minimized.
"""

import argparse
import os
import sys
from pathlib import Path
from typing import get_args

from rlaif.files.failures import CommandError, command
from rlaif.files.options import whole
from rlaif.game.machine.cartridges import CartridgeError
from rlaif.trainer.curriculum.building import NO_TRAJECTORY, BuildSettings, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.minimization import MAX_TRIAL_STEPS
from rlaif.trainer.rewards.game.presets import RewardPreset
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import TreeError
from rlaif.trainer.settings.game import GameSettings
from rlaif.trainer.spreading import LostProcessError

_NICENESS = 10


@command("rlaif demonstrations", CartridgeError)
def main(arguments: list[str] | None = None) -> int:
    """Build the demonstrations; return 0, or another exit code after printing an error message."""
    options = _parser().parse_args(arguments)
    os.nice(_NICENESS)
    settings = BuildSettings(
        GameSettings(rom_path=options.rom, actions=options.actions, reward_preset=options.rewards),
        count=options.count,
        noised=options.noised,
        seed=options.seed,
        processes=options.workers,
        max_trial_steps=options.max_trial_steps,
        minimized=options.minimized,
    )
    try:
        build([folder / TREE for folder in options.search], options.out, settings, _say)
    except (TreeError, DemonstrationsError) as error:
        sys.stderr.write(f"{error}\n")
        return NO_TRAJECTORY
    except LostProcessError as error:
        raise CommandError(str(error), 1) from error
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="rlaif demonstrations", description=__doc__)
    add = parser.add_argument
    add("search", type=Path, nargs="+", help="folder of a search")
    add("--out", type=Path, required=True, help="folder of the demonstrations")
    add("--minimized", type=Path, help="folder that keeps minimized parts")
    add("--rom", type=Path, help="ROM file (default: the embedded game)")
    arms = ("buttons", "macros", "options")
    add("--actions", default="macros", choices=arms, help="action set of the policy")
    add("--rewards", default="default", choices=get_args(RewardPreset))
    add("--count", type=whole(1), default=6, help="trajectories per search")
    add("--noised", type=whole(), default=2, help="noisy replays per subtask")
    add("--seed", type=whole(), default=0, help="seed of the noise")
    add(
        "--workers",
        type=whole(maximum=1024),
        default=2,
        help="worker processes; 0: work in this process",
    )
    steps = "limit of emulator steps of the minimization of a part"
    add("--max-trial-steps", type=whole(1), default=MAX_TRIAL_STEPS, help=steps)
    return parser


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
