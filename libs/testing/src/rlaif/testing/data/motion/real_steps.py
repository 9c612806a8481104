"""Reachable places of a room, found by trying every button at every place on the emulator.

The ground truth for pathfinding. It uses no walls and no walking rule: it holds each direction for
an emulator step at every reachable place and reads the resulting position. Between trials it
restores work RAM, which is equivalent to a save state here and 50 times as fast; the walking rule
(`walking_rule`), which needs no emulator, gives the same result.
"""

import json
from collections import deque
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import WRAM_START, Emulator, new_emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import PART_ITEM_DROP
from rlaif.game.memory.memory_map import (
    ENEMIES,
    INTERACTIONS,
    OBJECT_ID,
    OBJECT_PAGES,
    OBJECT_STRIDE,
    PARTS,
    address,
)
from rlaif.game.memory.predicates import has_control, is_cutscene, is_fading, is_scrolling, is_text
from rlaif.game.memory.walls import FLIPPERS
from rlaif.testing.data.motion.reach import Pixel, Truth, tile_of

FRAME_SKIP = 4

_GAME_STATE = 0xC5B0
"""Below it are the stack and the counters of interrupts (the cartridge's README, Memory)."""

_LONGEST_TEXT = 300
_SCENE_BEGINS = 16
"""Emulator steps to wait for a scene that starts when a room is entered."""

_TREASURES = (0x60, 0x7F)
"""Items that are collected by contact; the second is the Sun Seed, which ends the story."""

_STEPS = {Action.UP: (0, -1), Action.DOWN: (0, 1), Action.LEFT: (-1, 0), Action.RIGHT: (1, 0)}


@dataclass(frozen=True)
class Entry:
    """A room of the cartridge just after the walkthrough entered it, without enemies.

    Attributes:
        room: Group and number.
        state: The save state, without enemies and treasures.
        ground: Collision bytes, tile indices, and whether the player swims.
    """

    room: tuple[int, int]
    state: bytes
    ground: bytes

    @property
    def name(self) -> str:
        """`group:number`, with the number in hexadecimal."""
        return f"{self.room[0]}:{self.room[1]:02X}"


def entries(inputs: Path) -> list[Entry]:
    """Return the last entry into each variant of each room of the walkthrough; takes seconds.

    Args:
        inputs: `libs/game/cartridge/walkthrough.json`.
    """
    chosen = {(entered.room, entered.ground): frame for frame, entered in _entered(inputs)}
    frames = frozenset(chosen.values())
    return [entry for _, entry in _entered(inputs, kept=frames) if entry.state]


def _entered(inputs: Path, *, kept: frozenset[int] = frozenset()) -> Iterator[tuple[int, Entry]]:
    """The frames in which a room was entered, with their states if these are kept."""
    emulator = new_emulator(load_cartridge())
    before: tuple[int, int] | None = None
    buttons = json.loads(inputs.read_text(encoding="ascii"))["steps"]
    pressed = (button for button, frames in buttons for _ in range(frames))
    for frame, button in enumerate(pressed):
        emulator.step(Action[button], 1)
        ram = read_blocks(emulator)
        here = _room(ram)
        if here != before and has_control(ram):
            before = here
            yield frame, Entry(here, _emptied(emulator) if frame in kept else b"", _ground(ram))
    emulator.close()


def truth(emulator: Emulator, entry: Entry) -> Truth:
    """Explore all places from an entry; takes about 1 s."""
    emulator.load_state(entry.state)
    ram = read_blocks(emulator)
    found = Truth(position(ram), {position(ram): 0})
    memory = {found.start: ram.wram}
    queue = deque([found.start])
    while queue:
        here = queue.popleft()
        for action in _STEPS:
            _put_back(emulator, memory[here])
            emulator.step(action, FRAME_SKIP)
            emulator.step(Action.NOP, 2)  # even: in water every second frame counts
            ram = _read_on(emulator, read_blocks(emulator))
            if _room(ram) != entry.room or not has_control(ram):
                _note_door(found, ram, entry.room, here)
                emulator.load_state(entry.state)
                continue
            there = position(ram)
            if there not in found.steps:
                found.steps[there], found.ways[there] = found.steps[here] + 1, (here, action)
                memory[there] = ram.wram
                queue.append(there)
        del memory[here]
    return found


def position(ram: RamBlocks) -> Pixel:
    """Position of the player, x and y."""
    return ram.u8(address("w1Link.xh")), ram.u8(address("w1Link.yh"))


def _note_door(found: Truth, ram: RamBlocks, room: tuple[int, int], here: Pixel) -> None:
    """Whether the player has lost control on another tile of the room, which then is a door."""
    if ram.u8(address("w1Link.state")) != 1 or is_scrolling(ram) or _room(ram) != room:
        return  # the player sinks, falls, or leaves the room
    tile = tile_of(*position(ram))
    if tile != tile_of(*here):
        found.doors.setdefault(tile, found.steps[here] + 1)


def _read_on(emulator: Emulator, ram: RamBlocks) -> RamBlocks:
    """Play a text or scene to its end; this does not count as a step."""
    for turn in range(_LONGEST_TEXT):
        by_itself = is_text(ram) or is_cutscene(ram)
        if not by_itself or is_fading(ram):
            break
        emulator.step(Action.NOP if turn % 2 else Action.A, FRAME_SKIP)
        ram = read_blocks(emulator)
    return ram


def _put_back(emulator: Emulator, wanted: bytes) -> None:
    emulator.step(Action.NOP, 1)  # the rest of the game's update would modify it
    now = np.frombuffer(emulator.wram(), dtype=np.uint8)
    memory = np.frombuffer(wanted, dtype=np.uint8)
    first = _GAME_STATE - WRAM_START
    for at in np.flatnonzero(now[first:] != memory[first:]).tolist():
        emulator.poke(None, _GAME_STATE + at, wanted[first + at])


def _emptied(emulator: Emulator) -> bytes:
    """Return the state after its scene, without enemies and treasures; play continues there."""
    kept = emulator.save_state()
    ram = read_blocks(emulator)
    for page in range(OBJECT_PAGES):
        enemy, thing = (first + page * OBJECT_STRIDE for first in (ENEMIES, INTERACTIONS))
        emulator.poke(None, enemy, 0)
        if ram.u8(thing + OBJECT_ID) in _TREASURES:
            emulator.poke(None, thing, 0)
        drop = PARTS + page * OBJECT_STRIDE
        if ram.u8(drop + OBJECT_ID) == PART_ITEM_DROP:
            emulator.poke(None, drop, 0)
    for _ in range(_SCENE_BEGINS):
        emulator.step(Action.NOP, FRAME_SKIP)
        _read_on(emulator, read_blocks(emulator))
    state = emulator.save_state()
    emulator.load_state(kept)
    return state


def _room(ram: RamBlocks) -> tuple[int, int]:
    return ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))


def _ground(ram: RamBlocks) -> bytes:
    size = 8 * 16
    tiles = ram.block(address("wRoomCollisions"), size) + ram.block(address("wRoomLayout"), size)
    return tiles + bytes([ram.bit(address("wObtainedTreasureFlags"), FLIPPERS)])
