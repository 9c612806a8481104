"""`rlaif world SEED`: writes a new cartridge and its records."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from rlaif.files.failures import CommandError, command
from rlaif.game.worlds.graph import MAX_ROOMS, MIN_ROOMS
from rlaif.game.worlds.making import make_world


@command("rlaif world")
def main(argv: Sequence[str] | None = None) -> int:
    """Write a world.

    Returns:
        0, or 2 if the world cannot be generated; standard error has the reason.
    """
    parser = argparse.ArgumentParser(
        prog="rlaif world",
        description="Write a generated world: cartridge, world.json, guide and map.",
    )
    add = parser.add_argument
    add("seed", type=int, help="the same seed and size give the same bytes")
    add("--rooms", type=int, default=30, help=f"{MIN_ROOMS} to {MAX_ROOMS} (default: %(default)s)")
    add("--out", type=Path, required=True, help="folder to write to")
    options = parser.parse_args(argv)
    try:
        made = make_world(options.seed, options.rooms)
    except ValueError as error:
        raise CommandError(str(error)) from error
    for file in made.write(options.out):
        sys.stdout.write(f"{file}\n")
    return 0
