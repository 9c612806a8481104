"""`rlaif-game replay-check ROM`: test whether a game replays to the same RAM."""

import argparse
import json
import sys
from dataclasses import fields
from pathlib import Path

from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError
from rlaif.game.replay_check.checks import CheckPlan, WrongPlanError, check_rom_replays

_HELP = "test on any Game Boy ROM that a replay leads to the same RAM"


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `replay-check`; `options.run(options)` then runs it and returns the exit code."""
    parser = commands.add_parser("replay-check", help=_HELP, description=_HELP)
    parser.set_defaults(run=run)
    parser.add_argument("rom", type=Path, nargs="?", help="ROM (default: the embedded game)")
    parser.add_argument(
        "--allow-modified",
        action="store_true",
        help="accept a randomizer or a hack of Oracle of Seasons",
    )
    for each in fields(CheckPlan):
        name = f"--{each.name.replace('_', '-')}"
        parser.add_argument(name, type=int, default=each.default, help=each.metadata["help"])


def run(options: argparse.Namespace) -> int:
    """Run the checks; print progress, a table and one line of JSON.

    Returns:
        0 if every replay is proved, 1 if a check failed or nothing was proved, 2 if the ROM or the
        plan cannot be used, with the reason in one line on standard error.
    """
    plan = CheckPlan(**{each.name: getattr(options, each.name) for each in fields(CheckPlan)})
    try:
        plan.check()
        cartridge = load_cartridge(options.rom, allow_modified=options.allow_modified)
        report = check_rom_replays(cartridge, plan, _say)
    except (CartridgeError, EmulatorError, WrongPlanError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    _say(f"\n{report.table()}")
    _say(json.dumps({"check": "replay", **report.as_dict(), "plan": vars(plan)}))
    return 0 if report.passed else 1


def _say(line: str) -> None:
    sys.stdout.write(f"{line}\n")
    sys.stdout.flush()
