"""What counts as the same place in the game, and which of two states there is better.

A cell is a room, the ways out of it that can be walked to from where the player is, his large
marks, and what is set for the moment: season, buttons, levers, torches, something carried.
"Which ways out can I reach" is the general form of a lifted rock, a burnt bush, ice and a bridge.
Of what one can have more or less of, one end is better, so it makes no cells: of two states of a
cell the one with more hearts, supplies and small marks and fewer enemies is kept.
"""

import hashlib
import math
from functools import lru_cache
from typing import NamedTuple

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies
from rlaif.game.memory.memory_map import address
from rlaif.game.motion.things import edges, things
from rlaif.trainer.search.marks import large, mark_bytes, marks_in, marks_of
from rlaif.trainer.search.supplies import money_of, supplies_of

_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_SEASON, _GRAB = address("wRoomStateModifier"), address("wLinkGrabState")
_DUNGEON, _KEYS = address("wDungeonIndex"), address("wDungeonSmallKeys")
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
_HEALTH, _MAX_HEALTH = address("wLinkHealth"), address("wLinkMaxHealth")
_ENEMIES = address("wNumEnemies")
_TALKABLE, _TALKABLE_SIZE = address("wAButtonSensitiveObjectList"), 32
_NOBODY = bytes(_TALKABLE_SIZE)
_OUTDOORS = 0
_COINS_A_STEP, _MOST_COINS = 5, 100
_SUPPLIES_ENOUGH = 5


class Cell(NamedTuple):
    """Where in the game a state is."""

    group: int
    room: int
    ways_out: tuple[int, ...]  # edges 0 to 3 and tiles of doors, row << 4 | column, from 0x100 up
    marks: bytes  # the large ones, 8 bytes of a digest
    moment: bytes  # season, puzzle, keys in hand, carrying

    @property
    def place(self) -> bytes:
        """Eight bytes that name it but for the marks."""
        return _digest(repr((*self[:3], self.moment)).encode())

    @property
    def key(self) -> bytes:
        """Eight bytes that name it, the same in every process."""
        return _digest(repr(tuple(self)).encode())


class Worth(NamedTuple):
    """Which of two states of a cell is to be kept."""

    strength: float  # `strength_of`
    frames: int  # of the game since power-on

    def better_than(self, other: "Worth") -> bool:
        """It is stronger, or as strong and was reached sooner."""
        return (self.strength, -self.frames) > (other.strength, -other.frames)

    def much_better_than(self, other: "Worth", stronger: float, sooner: float) -> bool:
        """It is so much stronger, or as strong and reached in such a share of the frames."""
        if self.strength >= other.strength + stronger:
            return True
        return self.strength >= other.strength and self.frames <= other.frames * sooner


def cell_of(ram: RamBlocks) -> Cell:
    """The cell of a moment at which the player has control."""
    group = ram.u8(_GROUP)
    return Cell(
        group=group,
        room=ram.u8(_ROOM),
        ways_out=_ways_out(ram),
        marks=_large_marks(mark_bytes(ram)),
        moment=_moment(ram, group),
    )


def strength_of(ram: RamBlocks) -> float:
    """How well the player stands, for states of one cell.

    Full health counts 4, of which the last hearts count most; money up to 6; each kind of supply up
    to 1, each small mark 0.3; each enemy that a room counts takes 0.75, their health up to 4.
    """
    share = ram.u8(_HEALTH) / max(1, ram.u8(_MAX_HEALTH))
    money = max(money_of(ram))
    marks = marks_of(ram)
    supplies = (min(supply, _SUPPLIES_ENOUGH) for supply in supplies_of(ram))
    return (
        4 * math.sqrt(min(1.0, share))
        + min(money, _MOST_COINS) // _COINS_A_STEP * 0.3
        + sum(supply / _SUPPLIES_ENOUGH for supply in supplies)
        + 0.3 * (len(marks) - len(large(marks)))
        - 0.75 * ram.u8(_ENEMIES)
        - 0.1 * min(40, sum(enemy.health for enemy in enemies(ram)))
    )


def _ways_out(ram: RamBlocks) -> tuple[int, ...]:
    ram = _without_people(ram)
    doors = [
        0x100 + (thing.tile.row << 4 | thing.tile.column)
        for thing in things(ram)
        if thing.kind == "door" and thing.reachable
    ]
    return (*(way for way, leads in enumerate(edges(ram)) if leads), *doors)


def _without_people(ram: RamBlocks) -> RamBlocks:
    """The same room as if nobody stood in the way: people walk about, and that shuts no door."""
    if ram.block(_TALKABLE, _TALKABLE_SIZE) == _NOBODY:
        return ram
    at = _TALKABLE - WRAM_START
    wram = ram.wram[:at] + _NOBODY + ram.wram[at + _TALKABLE_SIZE :]
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
