"""`rlaif inspect ROM|STATE`: identifies a file and shows the content of its memory.

Exit codes: 0 for success, 2 if the file cannot be used, with the reason on standard error.
"""

import argparse
import hashlib
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rlaif.files.failures import CommandError, command
from rlaif.game.description.describe import describe
from rlaif.game.description.tile_marks import surroundings, tile_marks
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import Emulator, EmulatorError, new_emulator
from rlaif.game.machine.rom_checks import LARGEST_ROM_BYTES, UnusableFileError, read_bounded
from rlaif.game.memory import predicates
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.state import decode
from rlaif.game.motion.grid import tile_under
from rlaif.game.motion.terrain import terrain_of
from rlaif.game.starts.power_on import NoStartError, bring_to_control
from rlaif.game.starts.savestates import is_state, load_state_file
from rlaif.game.stories.milestones import fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of

_EPILOG = """\
To check the memory map against your own game: save a state with PyBoy, then
  rlaif inspect game.gbc.state --rom game.gbc
and compare hearts, rupees, position, room and map with the screen.

A ROM alone is played from power-on until the player has control: with START,
Oracle of Seasons through its file screens. Nothing is written, no battery save
is read.
"""
_NOT_IN_PLAY = (
    "The game did not reach play by itself: {why}. Make a save state in play (`play`, F5) and "
    "inspect that."
)
_UNKNOWN_GAME = "The memory of this game is unknown: the values below may be meaningless."
_NO_FILE = "No file is loaded: a title screen, or not this game's memory."
_GAMES = {
    "oracle-of-seasons": "Oracle of Seasons (USA)",
    "seedling-vale": "the embedded game",
    "other": "another game, whose memory is unknown",
}
_WORLD = "a generated world"
_FLAGS = {
    "running": predicates.is_running,
    "has control": predicates.has_control,
    "dialog": predicates.is_dialog_state,
    "choice": predicates.is_text_choice,
    "puzzle": predicates.is_puzzle_state,
    "menu": predicates.is_menu,
    "scrolling": predicates.is_scrolling,
    "fading": predicates.is_fading,
    "cutscene": predicates.is_cutscene,
    "dying": predicates.is_dying,
}


@command("rlaif inspect", CartridgeError, EmulatorError)
def main(argv: Sequence[str] | None = None) -> int:
    """Print the facts; returns 0, or 2 with the reason on standard error."""
    parser = argparse.ArgumentParser(
        prog="rlaif inspect",
        description="Identify a ROM or save state, and print the symbols in its memory.",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", type=Path, nargs="?", help="ROM or save state (default: the embedded game)")
    add(
        "--rom",
        type=Path,
        help="ROM, of the save state if one is given (default: the embedded game)",
    )
    add(
        "--allow-modified",
        action="store_true",
        help="accept a randomizer or a hack of Oracle of Seasons",
    )
    lines = list(_lines(parser.parse_args(argv)))
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _lines(options: argparse.Namespace) -> Iterator[str]:
    file = options.file
    state_file = file if file is not None and _holds_state(file) else None
    if file is not None and not state_file and options.rom is not None:
        raise CommandError(f"{file} is not a save state: --rom is the ROM of one; omit either")
    rom = options.rom if file is None or state_file else file
    cartridge = load_cartridge(rom, allow_modified=options.allow_modified)
    modified = ", modified" if cartridge.is_modified else ""
    sha1 = hashlib.sha1(cartridge.data, usedforsecurity=False).hexdigest()
    yield f"ROM         {cartridge.title}: {_GAMES.get(cartridge.game, _WORLD)}{modified}"
    yield f"            {len(cartridge.data)} bytes, SHA-1 {sha1}"
    emulator = new_emulator(cartridge)
    try:
        if state_file:
            state = load_state_file(emulator, cartridge, state_file)
            yield f"Save state  {state_file}, {len(state)} bytes"
        else:
            bring_to_control(emulator, cartridge)
        yield f"RAM         {emulator.ram_digest()}"
        yield from _memory(emulator, cartridge)
    except NoStartError as error:
        yield from ("", _NOT_IN_PLAY.format(why=error))
    finally:
        emulator.close()


def _holds_state(file: Path) -> bool:
    """Whether a file is a save state; all other files go to the ROM checks."""
    try:
        return is_state(read_bounded(file, LARGEST_ROM_BYTES, "a ROM or a save state"))
    except (FileNotFoundError, UnusableFileError):
        return False


def _memory(emulator: Emulator, cartridge: Cartridge) -> Iterator[str]:
    ram = read_blocks(emulator)
    if cartridge.game == "other":
        yield from ("", _UNKNOWN_GAME)
    elif not predicates.is_running(ram):
        yield from ("", _NO_FILE)
    flags = [name for name, holds in _FLAGS.items() if holds(ram)]
    yield from ("", f"Flags       {', '.join(flags) or 'no file is loaded'}")
    story = story_of(cartridge.game, cartridge.data)
    reached = milestones_reached(ram, story)
    to_come = [step for step in story.milestones if step.is_main and step not in reached]
    yield f"Milestones  {fraction(reached, story):.0%} of the main quest"
    yield f"  reached   {', '.join(step.name for step in reached) or 'none'}"
    yield f"  to come   {', '.join(step.name for step in to_come) or 'none'}"
    state = decode(ram)
    yield from _flat("", describe(state, words_of(cartridge.game, cartridge.data)))
    yield from ("", "Room        # solid  . free  @ the player; see the briefing for all marks")
    size, here = room_size(ram), tile_under(state.x, state.y)[::-1]
    for line in tile_marks(terrain_of(ram), surroundings(state, size), here, size=size):
        yield f"  {line}"


def _flat(prefix: str, values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix + name:<26}{value}"
