"""Save states of six kinds along the walkthrough of the embedded game.

village     the overworld without an enemy near
field       the overworld with enemies
house       indoors, without enemies
dialog      an open text
dungeon     a room of the dungeon without enemies
fight       a room of the dungeon with enemies
"""

import json
from collections.abc import Callable, Iterator
from pathlib import Path

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.memory import predicates, rooms
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import enemies
from rlaif.game.memory.memory_map import address
from rlaif.game.play.session import Held, PlayedEmulator

WALKTHROUGH = Path(__file__).resolve().parents[1] / "libs/game/cartridge/walkthrough.json"
LOOK_EVERY = 16
"""Frames between two checks of the kind of state."""

SOME_ENEMIES = 2
_GROUP = address("wActiveGroup")

KINDS: dict[str, Callable[[RamBlocks], bool]] = {
    "village": lambda ram: _outside(ram) and not enemies(ram),
    "field": lambda ram: _outside(ram) and len(enemies(ram)) >= SOME_ENEMIES,
    "house": lambda ram: _indoors(ram) and not enemies(ram),
    "dialog": predicates.is_dialog_state,
    "dungeon": lambda ram: _in_dungeon(ram) and not enemies(ram),
    "fight": lambda ram: _in_dungeon(ram) and len(enemies(ram)) >= SOME_ENEMIES,
}


def scenes(cartridge: Cartridge) -> dict[str, bytes]:
    """Return kind → save state: the one in the middle of all states of a kind.

    Raises:
        ValueError: The walkthrough has no state of some kind.
    """
    found: dict[str, list[int]] = {kind: [] for kind in KINDS}
    for frame, emulator in walkthrough(cartridge):
        ram = read_blocks(emulator)
        for kind, fits in KINDS.items():
            if fits(ram):
                found[kind].append(frame)
    missing = [kind for kind, frames in found.items() if not frames]
    if missing:
        raise ValueError(f"{WALKTHROUGH} never comes to a {', '.join(missing)}")
    wanted = {frames[len(frames) // 2]: kind for kind, frames in found.items()}
    states = {
        wanted[frame]: emulator.save_state()
        for frame, emulator in walkthrough(cartridge)
        if frame in wanted
    }
    return {kind: states[kind] for kind in KINDS}


def walkthrough(cartridge: Cartridge) -> Iterator[tuple[int, PlayedEmulator]]:
    """Play it; yields (frames played, emulator) every `LOOK_EVERY` frames."""
    emulator = PlayedEmulator(cartridge.data, sound_emulated=cartridge.needs_sound)
    for frame, held in enumerate(walkthrough_inputs(), start=1):
        emulator.frame(held)
        if frame % LOOK_EVERY == 0:
            yield frame, emulator
    emulator.close()


def walkthrough_inputs() -> Iterator[Held]:
    """Buttons held, frame by frame."""
    for button, frames in json.loads(WALKTHROUGH.read_text(encoding="utf-8"))["steps"]:
        yield from [frozenset[str]() if button == "NOP" else frozenset({button.lower()})] * frames


def _outside(ram: RamBlocks) -> bool:
    return predicates.has_control(ram) and ram.u8(_GROUP) == 0


def _in_dungeon(ram: RamBlocks) -> bool:
    return predicates.has_control(ram) and rooms.dungeon_of(ram) is not None


def _indoors(ram: RamBlocks) -> bool:
    return predicates.has_control(ram) and ram.u8(_GROUP) != 0 and rooms.dungeon_of(ram) is None
