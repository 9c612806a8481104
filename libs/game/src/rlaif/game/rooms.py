"""Rooms: which one this is, which ones were visited, and which lie next to it."""

from typing import NamedTuple

from rlaif.game.blocks import RamBlocks
from rlaif.game.memory_map import (
    DUNGEONS,
    ROOM_VISITED,
    RUPEE_ROOM_SCRATCH,
    address,
    room_flags_page,
)

_GROUP = address("wActiveGroup")
_ROOM = address("wActiveRoom")
_DUNGEON = address("wDungeonIndex")
_CELL = address("wDungeonMapPosition")
_FLOOR = address("wDungeonFloor")
_FLAGS_START, _FLAGS_END = 0xC700, 0xCB00
_SCRATCH, _SCRATCH_SIZE = RUPEE_ROOM_SCRATCH
_GRID = 8
_FLOOR_CELLS = 64


class Neighbours(NamedTuple):
    """Room ids around the current room in its group; None where there is no room."""

    north: int | None
    east: int | None
    south: int | None
    west: int | None


def dungeon_of(ram: RamBlocks) -> int | None:
    """The current dungeon, 0 to 11, or None outside."""
    index = ram.u8(_DUNGEON)
    return index if index < DUNGEONS else None


def room_flags(ram: RamBlocks, room: int) -> int:
    """The flags of a room in the current group, one byte."""
    return ram.u8(room_flags_page(ram.u8(_GROUP)) + room)


def neighbours(ram: RamBlocks) -> Neighbours:
    """The rooms that scrolling would lead to.

    Outside dungeons rooms lie on a 16x16 grid, one row is 0x10. Inside they lie on the 8x8 grid of
    the floor; where that grid does not show the current room (a cave, a side-scroll), the first
    rule holds.
    """
    room = ram.u8(_ROOM)
    if dungeon_of(ram) is not None:
        cell = ram.u8(_CELL) & (_FLOOR_CELLS - 1)
        floor = (ram.u8(_FLOOR) & 3) * _FLOOR_CELLS
        grid = ram.dungeon_layout[floor : floor + _FLOOR_CELLS]
        if room and grid[cell] == room:
            return _on_floor(grid, cell)
    return Neighbours(
        north=room - 0x10 if room >= 0x10 else None,
        east=room + 1 if room & 0x0F < 0x0F else None,
        south=room + 0x10 if room < 0xF0 else None,
        west=room - 1 if room & 0x0F else None,
    )


def _on_floor(grid: bytes, cell: int) -> Neighbours:
    column = cell % _GRID
    return Neighbours(
        north=(grid[cell - _GRID] or None) if cell >= _GRID else None,
        east=(grid[cell + 1] or None) if column < _GRID - 1 else None,
        south=(grid[cell + _GRID] or None) if cell < _FLOOR_CELLS - _GRID else None,
        west=(grid[cell - 1] or None) if column else None,
    )


def visited_around(ram: RamBlocks) -> tuple[bool, bool, bool, bool]:
    """Whether the rooms to the north, east, south and west were visited."""
    around = neighbours(ram)
    page = room_flags_page(ram.u8(_GROUP))
    return (
        _visited(ram, page, around.north),
        _visited(ram, page, around.east),
        _visited(ram, page, around.south),
        _visited(ram, page, around.west),
    )


def _visited(ram: RamBlocks, page: int, room: int | None) -> bool:
    return room is not None and ram.u8(page + room) & ROOM_VISITED != 0


def count_visited(ram: RamBlocks) -> int:
    """Rooms visited in this file, 0 to 1,008.

    Groups that share flags count a shared room id once.
    """
    flags = ram.block(_FLAGS_START, _FLAGS_END - _FLAGS_START).translate(_IS_VISITED)
    scratch = _SCRATCH - _FLAGS_START
    return flags.count(1) - flags.count(1, scratch, scratch + _SCRATCH_SIZE)


_IS_VISITED = bytes(byte & ROOM_VISITED != 0 for byte in range(256))
