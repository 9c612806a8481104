"""`rlaif-game inspect ROM|STATE`: what a file is, and what the memory map reads in it.

Exit codes: 0 shown, 2 the file cannot be used, with the reason in one line on standard error.
"""

import argparse
import hashlib
import json
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from rlaif.game.description.describe import describe
from rlaif.game.description.tile_marks import surroundings, tile_marks
from rlaif.game.description.words import words_of
from rlaif.game.machine.cartridges import Cartridge, CartridgeError, load_cartridge
from rlaif.game.machine.emulator import Emulator, EmulatorError
from rlaif.game.machine.files import UnusableFileError, read_bounded
from rlaif.game.machine.rom_checks import LARGEST_ROM_BYTES
from rlaif.game.memory import predicates
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.readers import decode, raw
from rlaif.game.memory.rooms import room_size
from rlaif.game.memory.state import decode as decode_state
from rlaif.game.memory.symbols import GROUPS, Symbol
from rlaif.game.motion.grid import tile_under
from rlaif.game.motion.terrain import terrain_of
from rlaif.game.starts.power_on import NoStartError, bring_to_control
from rlaif.game.starts.savestates import is_state, load_state_file
from rlaif.game.stories.milestones import fraction, milestones_reached
from rlaif.game.stories.story_lookup import story_of

_HELP = "show what a ROM or a save state is, and what the memory map reads in it"
_EPILOG = """\
To check the memory map against your own game: save a state with PyBoy, then
  rlaif-game inspect game.gbc.state --rom game.gbc
and compare hearts, rupees, position, room and map with the screen.

A ROM alone is played from power-on until the player has control: with START, Oracle of Seasons
through its file screens. Nothing is written, no battery save is read.
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
_FLAGS = {
    "running": predicates.is_running,
    "has_control": predicates.has_control,
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
    add("--json", action="store_true", help="print one JSON object")
    parser.set_defaults(run=run)


def run(options: argparse.Namespace) -> int:
    """Print the facts; returns 0, or 2 with the reason on standard error."""
    try:
        facts = _facts(options.file, options.rom, allow_modified=options.allow_modified)
    except (CartridgeError, EmulatorError, OSError) as error:
        sys.stderr.write(f"{error}\n")
        return 2
    text = json.dumps(facts) if options.json else "\n".join(_lines(facts, options.all))
    sys.stdout.write(text + "\n")
    return 0


def _facts(file: Path | None, rom: Path | None, *, allow_modified: bool) -> dict[str, Any]:
    """Facts about a ROM or a save state as JSON-able values; None means the embedded game."""
    state_file = file if file is not None and _holds_state(file) else None
    cartridge = load_cartridge(rom if state_file else file, allow_modified=allow_modified)
    facts: dict[str, Any] = {"kind": "state" if state_file else "rom", "rom": _rom(cartridge)}
    emulator = Emulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    try:
        if state_file:
            state = load_state_file(emulator, cartridge, state_file)
            facts["state"] = {"path": str(state_file), "size_bytes": len(state)}
        else:
            bring_to_control(emulator, cartridge)
        facts |= _memory(emulator, cartridge)
    except NoStartError as error:
        return {**facts, "note": _NOT_IN_PLAY.format(why=error)}
    finally:
        emulator.close()
    if cartridge.game == "other":
        facts["note"] = _UNKNOWN_GAME
    elif not facts["moment"]["running"]:
        facts["note"] = _NO_FILE
    return facts


def _holds_state(file: Path) -> bool:
    """Whether a file is a save state; anything else is left to the ROM checks."""
    try:
        return is_state(read_bounded(file, LARGEST_ROM_BYTES, "a ROM or a save state"))
    except (FileNotFoundError, UnusableFileError):
        return False


def _rom(cartridge: Cartridge) -> dict[str, Any]:
    return {
        "title": cartridge.title,
        "game": cartridge.game,
        "modified": cartridge.is_modified,
        "size_bytes": len(cartridge.data),
        "sha1": hashlib.sha1(cartridge.data, usedforsecurity=False).hexdigest(),
        "sha256": cartridge.sha256,
    }


def _memory(emulator: Emulator, cartridge: Cartridge) -> dict[str, Any]:
    """The decoded memory: flags, description, map, symbols by group, milestones."""
    ram = read_blocks(emulator)
    state, story = decode_state(ram), story_of(cartridge.game)
    reached = milestones_reached(ram, story)
    size, here = room_size(ram), tile_under(state.x, state.y)[::-1]
    return {
        "ram_sha256": emulator.ram_digest(),
        "moment": {name: holds(ram) for name, holds in _FLAGS.items()},
        "description": describe(state, words_of(cartridge.game, cartridge.data)),
        "room_map": tile_marks(terrain_of(ram), surroundings(state, size), here, size=size),
        "symbols": {
            group: [_symbol(symbol, raw(emulator, symbol)) for symbol in symbols]
            for group, symbols in GROUPS.items()
        },
        "milestones": {
            "fraction": round(fraction(reached, story), 4),
            "reached": [step.name for step in reached],
            "to_come": [s.name for s in story.milestones if s.is_main and s not in reached],
        },
    }


def _symbol(symbol: Symbol, data: bytes) -> dict[str, Any]:
    value: Any = decode(symbol, data)
    if isinstance(value, bytes | tuple | frozenset):
        value = sorted(value) if isinstance(value, frozenset) else list(value)
    return {
        "name": symbol.name,
        "bank": symbol.bank,
        "address": f"0x{symbol.address:04X}",
        "encoding": symbol.encoding,
        "raw": data.hex(),
        "value": value,
        "confidence": symbol.confidence,
        "meaning": symbol.meaning,
    }


def _lines(facts: dict[str, Any], show_all: bool) -> Iterator[str]:
    """The facts as text; `show_all` adds the symbols that are 0."""
    rom = facts["rom"]
    modified = ", modified" if rom["modified"] else ""
    yield f"ROM         {rom['title']}: {_GAMES[rom['game']]}{modified}"
    yield f"            {rom['size_bytes']} bytes, SHA-1 {rom['sha1']}"
    if "state" in facts:
        yield f"Save state  {facts['state']['path']}, {facts['state']['size_bytes']} bytes"
    if "note" in facts:
        yield from ("", facts["note"])
    if "moment" not in facts:
        return
    flags = [name.replace("_", " ") for name, holds in facts["moment"].items() if holds]
    yield from ("", f"Flags       {', '.join(flags) or 'no file is loaded'}")
    yield from _flat("", facts["description"])
    yield from ("", "Room        # solid  . free  @ the player; see the briefing for all marks")
    yield from (f"  {line}" for line in facts["room_map"])
    for group, symbols in facts["symbols"].items():
        yield from ("", group.capitalize())
        yield from (_symbol_line(each) for each in symbols if show_all or each["raw"].strip("0"))
    quest = facts["milestones"]
    yield from ("", f"Milestones  {quest['fraction']:.0%} of the main quest")
    yield f"  reached   {', '.join(quest['reached']) or 'none'}"
    yield f"  to come   {', '.join(quest['to_come']) or 'none'}"


def _flat(prefix: str, values: dict[str, Any]) -> Iterator[str]:
    for name, value in values.items():
        if isinstance(value, dict):
            yield from _flat(f"{prefix}{name}.", value)
        else:
            yield f"{prefix + name:<26}{value}"


def _symbol_line(symbol: dict[str, Any]) -> str:
    data = _cut(symbol["raw"].upper(), _RAW_CHARACTERS)
    value = _cut(str(symbol["value"]), _VALUE_CHARACTERS)
    return (
        f"  {symbol['bank']}:{symbol['address'][2:]}  {symbol['name']:<29} {data:<17} {value:<16} "
        f"[{symbol['confidence']}] {symbol['meaning']}"
    )


def _cut(text: str, characters: int) -> str:
    return text if len(text) <= characters else text[:characters] + "…"
