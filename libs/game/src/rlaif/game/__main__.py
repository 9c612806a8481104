"""`rlaif-game`, or `python -m rlaif.game`: look at a game, play it, check that it replays."""

import argparse
import sys

from rlaif.files.failures import command
from rlaif.game.inspection import command as inspect_command
from rlaif.game.play import command as play_command
from rlaif.game.replay_check import command as replay_check_command


@command("rlaif-game")
def main(argv: list[str] | None = None) -> int:
    """Run one command; its exit code. Wrong options exit with 2."""
    parser = argparse.ArgumentParser(
        prog="rlaif-game", description="Look at a game, play it, check it."
    )
    commands = parser.add_subparsers(dest="command", required=True, metavar="command")
    inspect_command.add_command(commands)
    play_command.add_command(commands)
    replay_check_command.add_command(commands)
    options = parser.parse_args(argv)
    code: int = options.run(options)
    return code


if __name__ == "__main__":
    sys.exit(main())
