"""`rlaif inspect`, `play`, `replay-check` and `world`, or `python -m rlaif.game`."""

import argparse
import sys

from rlaif.files.failures import command
from rlaif.game import inspection
from rlaif.game.play import command as play_command
from rlaif.game.replay_check import checks as replay_check
from rlaif.game.worlds import command as world_command


@command("rlaif")
def main(argv: list[str] | None = None) -> int:
    """Run one command and return its exit code."""
    parser = argparse.ArgumentParser(
        prog="rlaif",
        description="Inspect a game, play it, check its replays; generate worlds.",
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    inspection.add_command(commands)
    play_command.add_command(commands)
    replay_check.add_command(commands)
    world_command.add_command(commands)
    options = parser.parse_args(argv)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
