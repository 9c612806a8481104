"""Walls: the collision bytes of the room as a grid of half tiles (8 px)."""

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import RAY_LENGTH, WALLS_RADIUS
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import LARGE_ROOM, SMALL_ROOM, address

FREE, HAZARD, SOLID = 0, 1, 2
"""Kinds of half tiles. A hazard (hole, water, lava) does not stop the player."""

ROWS, COLUMNS = 24, 32
"""Half tiles in the collision buffer of 12x16 tiles; the used part is 16x20 or 22x30."""

COLLISION_BYTES = 192
"""One byte per tile, 12 rows of 16."""

COLLISIONS = address("wRoomCollisions")
"""Address of the collision bytes."""

_LARGE = address("wRoomIsLarge")
_TREASURES = address("wObtainedTreasureFlags")
FLIPPERS = 0x2E
"""The treasure with which the player can swim."""

_HAZARD_TILE, _RISING_FLOOR = 0x10, 0x1E
_LEFT_PROBE, _RIGHT_PROBE = -3, 2
_TOP_PROBE, _BOTTOM_PROBE = -3, 7
"""Where the game probes for walls, in pixels from the player (link.s of the disassembly)."""

_SIDE = 2 * WALLS_RADIUS + 1
_GRID_CELLS = _SIDE * _SIDE
_OUTSIDE = ROWS * COLUMNS
STOP = 4 * _OUTSIDE
"""Index of a cell that is always solid: the end of every ray."""


def _quarters_by_byte() -> npt.NDArray[np.uint8]:
    """`[256, 4]` uint8: kinds of the quarters of a tile, by collision byte.

    Order: top left, top right, bottom left, bottom right. Below 0x10 the byte is a mask, bit 3
    first. Bridges and stairs have thin edges, finer than a half tile: free. 0xFF is the border:
    free, so that the player can walk off to the next room.
    """
    table = np.zeros((256, 4), dtype=np.uint8)
    for byte in range(0x10):
        table[byte] = [SOLID * (byte >> bit & 1) for bit in (3, 2, 1, 0)]
    for byte in range(0x10, 0x100):
        special = 0x10 | (byte & 0x0F)
        table[byte] = {_HAZARD_TILE: HAZARD, _RISING_FLOOR: SOLID}.get(special, FREE)
    return table


_QUARTERS = _quarters_by_byte()


def half_tiles(ram: RamBlocks) -> npt.NDArray[np.uint8]:
    """The room as `[24, 32]` uint8 of FREE, HAZARD or SOLID; row 0 is the top edge."""
    collisions = np.frombuffer(ram.block(COLLISIONS, COLLISION_BYTES), dtype=np.uint8)
    quarters = _QUARTERS[collisions].reshape(ROWS // 2, COLUMNS // 2, 2, 2)
    return quarters.transpose(0, 2, 1, 3).reshape(ROWS, COLUMNS)


def room_cells(collisions: bytes) -> npt.NDArray[np.uint8]:
    """The cells that `look_around` reads, computed once per room from its 192 collision bytes.

    All half tiles, those of one tile together, then the outside of the buffer (free) and one
    cell that is always solid: `[3073]` uint8.
    """
    cells = np.zeros(STOP + 1, dtype=np.uint8)
    cells[:_OUTSIDE] = _QUARTERS[np.frombuffer(collisions, dtype=np.uint8)].reshape(-1)
    cells[STOP] = SOLID
    return cells


def look_around(
    cells: npt.NDArray[np.uint8], x: int, y: int
) -> tuple[npt.NDArray[np.uint8], npt.NDArray[np.intp]]:
    """The surroundings of the point (x, y), pixels 0 to 255, in the `room_cells` of a room.

    Returns:
        The half tiles around it, `[25]` uint8, row by row (the center is its own), and the
        number of free half tiles to the north, east, south and west, `[4]`, 0 to 8. A half tile is
        free if the player's whole body fits.
    """
    seen = cells[np.minimum(CELL_CODES_BY_Y[y] + CELL_CODES_BY_X[x], STOP)]
    rays = seen[_GRID_CELLS:].reshape(4, RAY_LENGTH + 1, 2)
    free = (rays[:, :, 0] | rays[:, :, 1]).astype(np.bool_).argmax(axis=1)
    return seen[:_GRID_CELLS], free


def open_sides(ram: RamBlocks) -> tuple[bool, bool, bool, bool]:
    """Whether the room's edge to the north, east, south and west has an exit.

    An exit is a gap of two half tiles, wide enough for the player, through the outermost tiles.
    Water counts as one if the player owns the flippers. Whether a path leads from the player to
    the gap is not checked.
    """
    columns, rows = LARGE_ROOM if ram.u8(_LARGE) else SMALL_ROOM
    passable = HAZARD if ram.bit(_TREASURES, FLIPPERS) else FREE
    free = half_tiles(ram)[: 2 * rows, : 2 * columns] <= passable
    return (
        _has_gap(free[0] & free[1]),
        _has_gap(free[:, -1] & free[:, -2]),
        _has_gap(free[-1] & free[-2]),
        _has_gap(free[:, 0] & free[:, 1]),
    )


def _has_gap(lane: npt.NDArray[np.bool_]) -> bool:
    return bool((lane[:-1] & lane[1:]).any())


def _row_code(half_row: int) -> int:
    """The part of a cell's index from its row; quarters of one tile are adjacent."""
    if not 0 <= half_row < ROWS:
        return _OUTSIDE
    return (half_row >> 1) * COLUMNS * 2 + (half_row & 1) * 2


def _column_code(half_column: int) -> int:
    if not 0 <= half_column < COLUMNS:
        return _OUTSIDE
    return (half_column >> 1) * 4 + (half_column & 1)


def _codes_by_y(y: int) -> list[int]:
    """Rows of the 25 cells of the grid, then of four rays of 9 steps and 2 lanes."""
    middle, top, bottom = y >> 3, y + _TOP_PROBE >> 3, y + _BOTTOM_PROBE >> 3
    steps = range(1, RAY_LENGTH + 1)
    grid = [_row_code(middle + d - WALLS_RADIUS) for d in range(_SIDE) for _ in range(_SIDE)]
    north = [_row_code(top - step) for step in steps for _ in range(2)]
    south = [_row_code(bottom + step) for step in steps for _ in range(2)]
    beams = [_row_code(lane) for _ in steps for lane in (top, bottom)]
    stop = [STOP, STOP]
    return [*grid, *north, *stop, *beams, *stop, *south, *stop, *beams, *stop]


def _codes_by_x(x: int) -> list[int]:
    middle, left, right = x >> 3, x + _LEFT_PROBE >> 3, x + _RIGHT_PROBE >> 3
    steps = range(1, RAY_LENGTH + 1)
    grid = [_column_code(middle + d - WALLS_RADIUS) for _ in range(_SIDE) for d in range(_SIDE)]
    east = [_column_code(right + step) for step in steps for _ in range(2)]
    west = [_column_code(left - step) for step in steps for _ in range(2)]
    lanes = [_column_code(lane) for _ in steps for lane in (left, right)]
    stop = [STOP, STOP]
    return [*grid, *lanes, *stop, *east, *stop, *lanes, *stop, *west, *stop]


CELL_CODES_BY_Y = np.array([_codes_by_y(y) for y in range(256)], dtype=np.int16)
CELL_CODES_BY_X = np.array([_codes_by_x(x) for x in range(256)], dtype=np.int16)
"""`[256, 97]`: the sum of a row of each, clipped at `STOP`, has the indices in `room_cells` of the
surroundings of (x, y): 25 half tiles, then four rays of 9 steps and 2 lanes."""
