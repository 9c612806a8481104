"""`python -m rlaif.trainer.curriculum`: builds demonstrations from searches."""

import argparse
import sys
from pathlib import Path

from rlaif.files.failures import command
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.trainer.curriculum.building import BuildSettings, Built, build
from rlaif.trainer.curriculum.library import DemonstrationsError
from rlaif.trainer.curriculum.recording import RecordSettings
from rlaif.trainer.curriculum.replaying import TrajectoryMismatchError
from rlaif.trainer.rewards.game.presets import preset
from rlaif.trainer.search.opening import TREE
from rlaif.trainer.search.tree import TreeError
from rlaif.trainer.spreading import LostProcessError


@command("rlaif.trainer.curriculum")
def main(arguments: list[str] | None = None) -> int:
    """Build the demonstrations; return 0, or 1 after printing an error message."""
    options = _parser().parse_args(arguments)
    try:
        build(
            [folder / TREE for folder in options.search],
            options.out,
            load_cartridge(options.rom),
            options.actions,
            BuildSettings(
                RecordSettings(preset(options.rewards)),
                count=options.count,
                noised=options.noised,
                seed=options.seed,
                processes=options.workers,
            ),
            on_built=lambda built: _say(_line(built)),
            progress=_say,
        )
    except (TreeError, TrajectoryMismatchError, DemonstrationsError, LostProcessError) as error:
        sys.stderr.write(f"{error}\n")
        return 1
    return 0


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m rlaif.trainer.curriculum", description=__doc__)
    parser.add_argument("search", type=Path, nargs="+", help="folder of a search")
    parser.add_argument("--out", type=Path, required=True, help="folder of the demonstrations")
    parser.add_argument("--rom", type=Path, help="ROM file (default: the embedded game)")
    parser.add_argument(
        "--actions",
        default="macros",
        choices=("buttons", "macros", "options"),
        help="action set of the policy",
    )
    parser.add_argument("--rewards", default="default", choices=("seed", "default"))
    parser.add_argument("--count", type=int, default=6, help="trajectories per search")
    parser.add_argument("--noised", type=int, default=2, help="noisy replays per subtask")
    parser.add_argument("--seed", type=int, default=0, help="seed of the noise")
    parser.add_argument(
        "--workers", type=int, default=2, help="worker processes; 0: work in this process"
    )
    return parser


def _line(built: Built) -> str:
    return (
        f"{built.name}  level {built.level:5.2f}  {built.segments:2d} subtasks  "
        f"{built.decisions:5d} decisions  {built.seconds:6.1f} s of play, "
        f"{built.cut_seconds:5.1f} s cut, {built.noised} of {built.tried} noisy replays succeeded"
    )


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
