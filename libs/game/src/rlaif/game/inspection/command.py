"""`rlaif-game inspect ROM|STATE`: what a file is, and what the memory map reads in it.

Exit codes: 0 shown, 2 the file cannot be used; the reason is one line on standard error.
"""

import argparse
import json
import sys
from pathlib import Path
from typing import Any

from rlaif.game.inspection.facts import moment_facts, rom_facts
from rlaif.game.inspection.text import as_text
from rlaif.game.machine.cartridges import CartridgeError, load_cartridge
from rlaif.game.machine.emulator import EmulatorError, PyBoyEmulator
from rlaif.game.machine.files import UnusableFileError, read_bounded
from rlaif.game.machine.rom_checks import LARGEST_ROM_BYTES
from rlaif.game.starts.power_on import NoStartError, bring_to_control
from rlaif.game.starts.savestates import is_state, load_state_file

_HELP = "say what a ROM or a save state is, and what the memory map reads in it"
_EPILOG = """\
To check the memory map against your own game: save a state with PyBoy, then
  rlaif-game inspect game.gbc.state --rom game.gbc
and compare hearts, rupees, position, room and map with the screen.

A ROM alone is played from power-on until the player has control: with START, Oracle of Seasons
through its file screens. Nothing is written, no battery save is read.
"""
_NOT_IN_PLAY = (
    "The game did not come into play by itself: {why}. Make a save state in play (`play`, F5) and "
    "inspect that."
)
_UNKNOWN_GAME = "Nothing is known of this game's memory: what follows may mean nothing."
_NO_FILE = "No file is loaded: a title screen, or not this game's memory."


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `inspect`; `options.run(options)` then runs it and gives the exit code."""
    parser = commands.add_parser(
        "inspect",
        help=_HELP,
        description=_HELP[0].upper() + _HELP[1:] + ".",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    parser.add_argument(
        "file", type=Path, nargs="?", help="ROM or save state; the embedded game when left out"
    )
    parser.add_argument(
        "--rom", type=Path, help="ROM of the save state; the embedded game when left out"
    )
    parser.add_argument(
        "--allow-modified",
        action="store_true",
        help="take a randomizer or a hack of Oracle of Seasons too",
    )
    parser.add_argument("--all", action="store_true", help="show the symbols that are 0 too")
    parser.add_argument("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print what the file is; 0, or 2 with the reason on standard error."""
    try:
        facts = inspect_file(options.file, options.rom, allow_modified=options.allow_modified)
    except (CartridgeError, EmulatorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = json.dumps(facts) + "\n" if options.json else as_text(facts, show_all=options.all)
    sys.stdout.write(text)
    return 0


def inspect_file(
    file: Path | None, rom: Path | None = None, *, allow_modified: bool = False
) -> dict[str, Any]:
    """What a ROM or a save state is; None stands for the embedded game.

    Raises:
        CartridgeError: The ROM cannot be used.
        EmulatorError: The save state is none of this game, or the ROM cannot be run.
    """
    state_file = file if file is not None and _holds_state(file) else None
    cartridge = load_cartridge(rom if state_file else file, allow_modified=allow_modified)
    facts: dict[str, Any] = {"kind": "state" if state_file else "rom", "rom": rom_facts(cartridge)}
    emulator = PyBoyEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        if state_file:
            state = load_state_file(emulator, cartridge, state_file)
            facts["state"] = {"path": str(state_file), "size_bytes": len(state)}
        else:
            bring_to_control(emulator, cartridge)
        moment = moment_facts(emulator, cartridge)
    except NoStartError as error:
        return {**facts, "note": _NOT_IN_PLAY.format(why=error)}
    finally:
        emulator.close()
    if cartridge.game == "other":
        facts["note"] = _UNKNOWN_GAME
    elif not moment["moment"]["running"]:
        facts["note"] = _NO_FILE
    return {**facts, **moment}


def _holds_state(file: Path) -> bool:
    """Whether a file is a save state; what is neither is left to the ROM checks to say."""
    try:
        return is_state(read_bounded(file, LARGEST_ROM_BYTES, "a ROM or a save state"))
    except (FileNotFoundError, UnusableFileError):
        return False
