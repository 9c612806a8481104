"""`rlaif inspect ROM|STATE`: what a file is, and what the memory map reads in it.

Exit codes: 0 shown, 2 the file cannot be used, with the reason in one line on standard error.
"""

import argparse
import hashlib
import sys
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any, NamedTuple

from rlaif.game.description.describe import describe
from rlaif.game.description.tile_marks import surroundings, tile_marks
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import Emulator, EmulatorError, new_emulator
from rlaif.game.machine.rom_checks import LARGEST_ROM_BYTES, UnusableFileError, read_bounded
from rlaif.game.memory import predicates
from rlaif.game.memory.blocks import bcd, bcd16, read_blocks
from rlaif.game.memory.entities import ANGLES
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.state import decode
from rlaif.game.memory.symbols import GROUPS, Encoding, Symbol
from rlaif.game.motion.grid import tile_under
from rlaif.game.motion.terrain import terrain_of
from rlaif.game.starts.power_on import NoStartError, bring_to_control
from rlaif.game.starts.savestates import is_state, load_state_file
from rlaif.game.stories.milestones import fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of

_DIRECTIONS = ("up", "right", "down", "left")
_HIGH_RAM = 0xFF80
_BANKED = 0xD000


class Tile(NamedTuple):
    """A tile of 16 by 16 pixels of the room, counted from its top left corner."""

    column: int
    row: int


Value = int | str | bytes | frozenset[int] | tuple[int, ...] | Tile | None
"""int: numbers and angles. str: directions and texts. frozenset: numbers of the set bits. tuple:
pointers. bytes: one byte each. None: a direction or angle that points nowhere."""


def raw(emulator: Emulator, place: Symbol) -> bytes:
    """The bytes of a symbol, from its own bank; zeros if the game has no such bank."""
    start, stop = place.address, place.address + place.size
    if start < _BANKED or start >= _HIGH_RAM:
        return emulator.read(start, stop)
    if place.bank > 1 and not emulator.has_banks:
        return bytes(place.size)
    # By bank: unbanked, 0xD000 shows whichever bank the game has selected.
    return emulator.read_bank(place.bank, start, stop)


def value_of(place: Symbol, data: bytes) -> Value:
    """The value of a symbol's bytes; ValueError for another number of bytes."""
    if len(data) != place.size:
        raise ValueError(f"{place.name} has {place.size} bytes, got {len(data)}")
    return _DECODERS[place.encoding](data)


def _bits(data: bytes) -> frozenset[int]:
    whole = int.from_bytes(data, "little")
    return frozenset(bit for bit in range(8 * len(data)) if whole >> bit & 1)


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "?" for byte in data.split(b"\0")[0])


def _unsigned(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _pointers(data: bytes) -> tuple[int, ...]:
    found = zip(data[::2], data[1::2], strict=True)
    return tuple(low | high << 8 for low, high in found if low or high)


_DECODERS: dict[Encoding, Callable[[bytes], Value]] = {
    "u8": _unsigned,
    "u16": _unsigned,
    "u32": _unsigned,
    "s8": lambda data: int.from_bytes(data, "little", signed=True),
    "bcd8": lambda data: bcd(data[0]),
    "bcd16": lambda data: bcd16(_unsigned(data)),
    "bits": _bits,
    "set": _bits,
    "text": _text,
    "direction": lambda data: _DIRECTIONS[data[0]] if data[0] < len(_DIRECTIONS) else None,
    "angle": lambda data: data[0] if data[0] < ANGLES else None,
    "tile": lambda data: Tile(data[0] & 0x0F, data[0] >> 4),
    "pointers": _pointers,
    "bytes": bytes,
}


_HELP = "show what a ROM or a save state is, and what the memory map reads in it"
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
_RAW_CHARACTERS, _VALUE_CHARACTERS = 16, 40


def add_command(commands: "argparse._SubParsersAction[argparse.ArgumentParser]") -> None:
    """Add `inspect`; `options.run(options)` then runs it and returns the exit code."""
    parser = commands.add_parser(
        "inspect",
        help=_HELP,
        description=_HELP[0].upper() + _HELP[1:] + ".",
        epilog=_EPILOG,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    add = parser.add_argument
    add("file", type=Path, nargs="?", help="ROM or save state (default: the embedded game)")
    add("--rom", type=Path, help="ROM of the save state (default: the embedded game)")
    add(
        "--allow-modified",
        action="store_true",
        help="accept a randomizer or a hack of Oracle of Seasons",
    )
    add("--all", action="store_true", help="also show the symbols that are 0")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the facts; returns 0, or 2 with the reason on standard error."""
    try:
        lines = list(_lines(options))
    except (CartridgeError, EmulatorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    sys.stdout.write("\n".join(lines) + "\n")
    return 0


def _lines(options: argparse.Namespace) -> Iterator[str]:
    file = options.file
    state_file = file if file is not None and _holds_state(file) else None
    rom = options.rom if state_file else file
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
        yield from _symbols(emulator, show_all=options.all)
    except NoStartError as error:
        yield from ("", _NOT_IN_PLAY.format(why=error))
    finally:
        emulator.close()


def _holds_state(file: Path) -> bool:
    """Whether a file is a save state; anything else is left to the ROM checks."""
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


def _symbols(emulator: Emulator, *, show_all: bool) -> Iterator[str]:
    for group, symbols in GROUPS.items():
        yield from ("", group.capitalize())
        for symbol in symbols:
            data = raw(emulator, symbol)
            if show_all or any(data):
                value = value_of(symbol, data)
                shown = sorted(value) if isinstance(value, frozenset) else value
                yield (
                    f"  {symbol.bank}:{symbol.address:04X}  {symbol.name:<29} "
                    f"{_cut(data.hex().upper(), _RAW_CHARACTERS):<17} "
                    f"{_cut(str(shown), _VALUE_CHARACTERS):<16} "
                    f"[{symbol.confidence}] {symbol.meaning}"
                )


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + "…"
