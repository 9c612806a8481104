"""Cells of the search archive, and the score by which one state per cell is kept.

A cell consists of a room, the exits that the player can reach, the large flags and the temporary
state of the room: season, buttons, levers, torches, a carried object. Reachable exits are the
general form of a lifted rock, a burnt bush, ice or a bridge. Quantities do not distinguish cells,
because one direction is always better: of two states of a cell, the one with more hearts, supplies
and small flags and with fewer enemies is kept.
"""

import hashlib
import math
from functools import lru_cache
from typing import NamedTuple

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.entities import enemies
from rlaif.game.memory.memory_map import address
from rlaif.game.motion.things import edges, things
from rlaif.trainer.search.marks import large, mark_bytes, marks_in, marks_of

_MONEY = address("wNumRupees"), address("wNumOreChunks")
_SUPPLIES = tuple(
    address(name)
    for name in (
        "wNumBombs",
        "wNumEmberSeeds",
        "wNumScentSeeds",
        "wNumPegasusSeeds",
        "wNumGaleSeeds",
        "wNumMysterySeeds",
    )
)

_PUZZLE = tuple(
    address(name)
    for name in (
        "wActiveTriggers",
        "wSwitchState",
        "wToggleBlocksState",
        "wSpinnerState",
        "wNumTorchesLit",
    )
)
_ENEMIES = address("wNumEnemies")
_OUTDOORS = 0
_MAX_SUPPLIES = 5


def money_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the amount of each kind of money."""
    return tuple(bcd16(ram.u16(where)) for where in _MONEY)


def coins_of(ram: RamBlocks) -> int:
    """Return the larger amount of money in steps of 5, at most 20 of them."""
    return min(max(money_of(ram)), _MAX_COINS) // _COINS_PER_STEP


def supplies_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the number of bombs, and of seeds of each kind."""
    return tuple(bcd(ram.u8(where)) for where in _SUPPLIES)


_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_SEASON, _GRAB = address("wRoomStateModifier"), address("wLinkGrabState")
_DUNGEON, _KEYS = address("wDungeonIndex"), address("wDungeonSmallKeys")
_HEALTH, _MAX_HEALTH = address("wLinkHealth"), address("wLinkMaxHealth")
_TALKABLE, _TALKABLE_SIZE = address("wAButtonSensitiveObjectList"), 32
_NO_PEOPLE = bytes(_TALKABLE_SIZE)
_COINS_PER_STEP, _MAX_COINS = 5, 100


class Cell(NamedTuple):
    """The equivalence class of a game state."""

    group: int
    room: int
    exits: tuple[int, ...]  # edges 0 to 3; doors as 0x100 + (row << 4 | column)
    marks: bytes  # digest of the large flags, 8 bytes
    moment: bytes  # season, puzzle state, keys of the dungeon, whether something is carried

    @property
    def place(self) -> bytes:
        """Digest of the cell without its flags, 8 bytes."""
        return _digest(repr((*self[:3], self.moment)).encode())

    @property
    def key(self) -> bytes:
        """Digest of the cell, 8 bytes, equal in every process."""
        return _digest(repr(tuple(self)).encode())


class Worth(NamedTuple):
    """Score of a state, compared within a cell."""

    strength: float  # `strength_of`
    frames: int  # of the game since power-on

    def better_than(self, other: "Worth") -> bool:
        return (self.strength, -self.frames) > (other.strength, -other.frames)

    def much_better_than(self, other: "Worth", stronger: float, sooner: float) -> bool:
        """Whether it exceeds `other` by `stronger`, or equals it with `sooner` of its frames."""
        if self.strength >= other.strength + stronger:
            return True
        return self.strength >= other.strength and self.frames <= other.frames * sooner


def cell_of(ram: RamBlocks) -> Cell:
    """Return the cell of a state in which the player has control."""
    group = ram.u8(_GROUP)
    return Cell(
        group=group,
        room=ram.u8(_ROOM),
        exits=_exits(ram),
        marks=_large_marks(mark_bytes(ram)),
        moment=_moment(ram, group),
    )


def strength_of(ram: RamBlocks) -> float:
    """Score a state in comparison with other states of its cell.

    Health counts up to 4 (square root of its share, so that the last hearts count most), money up
    to 6, each kind of supply up to 1 and each small flag 0.3. Each enemy that the room counts
    subtracts 0.75, their total health up to 4.
    """
    share = ram.u8(_HEALTH) / max(1, ram.u8(_MAX_HEALTH))
    marks = marks_of(ram)
    supplies = (min(supply, _MAX_SUPPLIES) for supply in supplies_of(ram))
    return (
        4 * math.sqrt(min(1.0, share))
        + coins_of(ram) * 0.3
        + sum(supply / _MAX_SUPPLIES for supply in supplies)
        + 0.3 * (len(marks) - len(large(marks)))
        - 0.75 * ram.u8(_ENEMIES)
        - 0.1 * min(40, sum(enemy.health for enemy in enemies(ram)))
    )


def _exits(ram: RamBlocks) -> tuple[int, ...]:
    ram = _without_people(ram)
    doors = [
        0x100 + (thing.tile.row << 4 | thing.tile.column)
        for thing in things(ram)
        if thing.kind == "door" and thing.reachable
    ]
    return (*(way for way, leads in enumerate(edges(ram)) if leads), *doors)


def _without_people(ram: RamBlocks) -> RamBlocks:
    """Remove people from the RAM: they move, so an exit that one blocks is still reachable."""
    if ram.block(_TALKABLE, _TALKABLE_SIZE) == _NO_PEOPLE:
        return ram
    at = _TALKABLE - WRAM_START
    wram = ram.wram[:at] + _NO_PEOPLE + ram.wram[at + _TALKABLE_SIZE :]
    return RamBlocks(wram, ram.dungeon_layout)


def _moment(ram: RamBlocks, group: int) -> bytes:
    season = ram.u8(_SEASON) & 3 if group == _OUTDOORS else 0xFF
    dungeon = ram.u8(_DUNGEON)
    keys = ram.u8(_KEYS + dungeon) if dungeon < 12 else 0
    return bytes((season, keys, bool(ram.u8(_GRAB)), *(ram.u8(where) for where in _PUZZLE)))


@lru_cache(maxsize=4096)
def _large_marks(found: bytes) -> bytes:
    return _digest(",".join(sorted(large(marks_in(found)))).encode())


def _digest(found: bytes) -> bytes:
    return hashlib.blake2b(found, digest_size=8).digest()
