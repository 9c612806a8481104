"""Puzzle elements of a room: things to push, press, hit or light.

RAM has no flag for puzzles. They are derived from the room: tiles whose index has a meaning in the
current tile table (wActiveCollisions), and orbs, which are parts.
"""

from typing import Literal, NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import parts
from rlaif.game.memory.memory_map import ROOM_EVENTS, ROOM_ITEM, TILE_STRIDE, address
from rlaif.game.memory.rooms import room_flags, room_size

PuzzleKind = Literal["button", "torch", "switch", "block", "orb"]

_LAYOUT = address("wRoomLayout")
_LAYOUT_SIZE = 192
_COLLISIONS = address("wActiveCollisions")
_ROOM = address("wActiveRoom")
_TILE_PIXELS = 16

_OVERWORLD_TILES: dict[int, PuzzleKind] = {0xB1: "switch", 0xD6: "block"}
_DUNGEON_TILES: dict[int, PuzzleKind] = {
    0x08: "torch",
    0x0A: "switch",
    0x0C: "button",
    **dict.fromkeys((0x18, 0x19, 0x1A, 0x1B, 0x1C, 0x25, 0x2A, 0x2C, 0x2D, 0x2F), "block"),
}
_TILES_BY_TABLE = {0: _OVERWORLD_TILES, 3: _DUNGEON_TILES, 4: _DUNGEON_TILES}
"""Undone tiles: an unlit torch, a button that is up, a switch that is off, a block that
can be pushed (constants/common/tileIndices.s of the disassembly)."""

_TO_DO = {
    table: bytes(index in tiles for index in range(256)) for table, tiles in _TILES_BY_TABLE.items()
}
_ORB_PARTS = frozenset({0x03, 0x0B})
"""Part ids of orbs, which stand on plain floor and so are not in the tiles."""


class PuzzleElement(NamedTuple):
    """Something that the player can push, press, hit or light, by its tile in the room."""

    kind: PuzzleKind
    column: int
    row: int


def puzzle_elements(ram: RamBlocks) -> tuple[PuzzleElement, ...]:
    """The elements of the room that are not done yet: tiles row by row, then orbs.

    A torch, button or switch whose tile shows that it is done is left out.
    """
    columns, rows = room_size(ram)
    table = ram.u8(_COLLISIONS)
    kinds = _TILES_BY_TABLE.get(table)
    found: list[PuzzleElement] = []
    if kinds is not None:
        tiles = ram.block(_LAYOUT, _LAYOUT_SIZE)
        to_do = tiles.translate(_TO_DO[table])
        at = to_do.find(1)
        while at >= 0:
            row, column = divmod(at, TILE_STRIDE)
            if column < columns and row < rows:
                found.append(PuzzleElement(kinds[tiles[at]], column, row))
            at = to_do.find(1, at + 1)
    found += [
        PuzzleElement("orb", part.x // _TILE_PIXELS, part.y // _TILE_PIXELS)
        for part in parts(ram)
        if part.id in _ORB_PARTS
    ]
    return tuple(found)


def is_settled(ram: RamBlocks) -> bool:
    """The item of the room was taken, or its event has happened: there is nothing left to solve."""
    return room_flags(ram, ram.u8(_ROOM)) & (ROOM_ITEM | ROOM_EVENTS) != 0
