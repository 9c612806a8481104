"""`rlaif world SEED`: write a new cartridge, and all that is known of it."""

import argparse
import sys
from pathlib import Path

from rlaif.game.worlds.graph import MAX_ROOMS, MIN_ROOMS
from rlaif.game.worlds.making import make_world

_HELP = "Write a generated world: cartridge, world.json, guide and map."


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `world`; `options.run(options)` then runs it and returns the exit code."""
    parser = commands.add_parser("world", help=_HELP, description=_HELP)
    add = parser.add_argument
    add("seed", type=int, help="the same seed and size give the same bytes")
    add("--rooms", type=int, default=30, help=f"{MIN_ROOMS} to {MAX_ROOMS} (default: %(default)s)")
    add("--out", type=Path, required=True, help="folder to write to")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Write a world.

    Returns:
        0, or 2 if there is no such world; standard error has the reason.
    """
    try:
        made = make_world(options.seed, options.rooms)
    except ValueError as error:
        sys.stderr.write(f"{error}\n")
        return 2
    for file in made.write(options.out):
        sys.stdout.write(f"{file}\n")
    return 0
