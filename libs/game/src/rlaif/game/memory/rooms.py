"""Rooms: the current one, the visited ones, and the neighbours."""

import struct
from typing import NamedTuple

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import (
    DUNGEONS,
    LARGE_ROOM,
    ROOM_VISITED,
    RUPEE_ROOM_SCRATCH,
    SMALL_ROOM,
    address,
    room_flags_page,
)

_GROUP = address("wActiveGroup")
_ROOM = address("wActiveRoom")
_DUNGEON = address("wDungeonIndex")
_CELL = address("wDungeonMapPosition")
_FLOOR = address("wDungeonFloor")
_LARGE = address("wRoomIsLarge")
_CAMERA = address("hCameraY")
_FLAGS_START, _FLAGS_END = 0xC700, 0xCB00
_SCRATCH, _SCRATCH_SIZE = RUPEE_ROOM_SCRATCH
STATUS_BAR_PIXELS = 16
"""Rows at the top of the picture that show hearts and money, not the room."""

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


def room_size(ram: RamBlocks) -> tuple[int, int]:
    """Columns and rows of tiles: 10x8 that fill the screen, or 15x11 that the camera follows."""
    return LARGE_ROOM if ram.u8(_LARGE) else SMALL_ROOM


def camera(emulator: Emulator, ram: RamBlocks) -> tuple[int, int]:
    """Pixel (x, y) of the room in the top left corner of the screen; (0, 0) in a small room."""
    if not ram.u8(_LARGE):
        return 0, 0
    y, x = struct.unpack("<HH", emulator.read(_CAMERA, _CAMERA + 4))
    return x, y


def floor_grid(ram: RamBlocks) -> bytes | None:
    """Room ids of the current dungeon floor, 8x8, 0 none; None where no floor is known.

    Outside dungeons the grid in memory is stale, as it is in caves and side views that are part of
    a dungeon: there it does not contain the current room.
    """
    if dungeon_of(ram) is None:
        return None
    room = ram.u8(_ROOM)
    floor = (ram.u8(_FLOOR) & 3) * _FLOOR_CELLS
    grid = ram.dungeon_layout[floor : floor + _FLOOR_CELLS]
    cell = ram.u8(_CELL) & (_FLOOR_CELLS - 1)
    return grid if room and grid[cell] == room else None


class MapPlace(NamedTuple):
    """Position of the current room on the map of its dungeon; None if it is not on the map."""

    dungeon: int | None
    floor: int | None
    column: int | None
    line: int | None


def map_place(ram: RamBlocks) -> MapPlace:
    """Position of the current room; all None outside dungeons."""
    dungeon = dungeon_of(ram)
    if floor_grid(ram) is None:
        return MapPlace(dungeon, None, None, None)
    line, column = divmod(ram.u8(_CELL) & (_FLOOR_CELLS - 1), _GRID)
    return MapPlace(dungeon, ram.u8(_FLOOR) & 3, column, line)


def room_flags(ram: RamBlocks, room: int) -> int:
    """The flags of a room in the current group, one byte."""
    return ram.u8(room_flags_page(ram.u8(_GROUP)) + room)


def neighbours(ram: RamBlocks) -> Neighbours:
    """The rooms that scrolling leads to.

    Outside dungeons rooms lie on a 16x16 grid, one row is 0x10. Inside they lie on the 8x8 grid of
    the floor; where that grid does not contain the current room (a cave, a side view), the first
    rule applies.
    """
    room = ram.u8(_ROOM)
    grid = floor_grid(ram)
    if grid is not None:
        return _on_floor(grid, ram.u8(_CELL) & (_FLOOR_CELLS - 1))
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
