"""Kinds of ground in a room, from its collision bytes and tile indices.

The tables are those of Oracle of Seasons (data/seasons/tile_properties and
code/bank0.s of the disassembly); the embedded cartridge keeps to the same numbers.
"""

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS, FLIPPERS

TILE = 16
"""Pixels of a tile; four quarters of 8x8."""

TILE_ROWS, TILE_COLUMNS = 12, 16
"""Tiles in the buffers; a small room uses 8x10 of them, a large one 11x15."""

_LAYOUT = address("wRoomLayout")
_MODE = address("wActiveCollisions")
_LARGE = address("wRoomIsLarge")
_TREASURES = address("wObtainedTreasureFlags")

SMALL_ROOM = (128, 160)
LARGE_ROOM = (176, 240)
"""Height and width in pixels."""

HOLES = {
    0: {0xF3, 0xF4},
    1: {0xF3, 0xF4},
    3: {0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xD0, 0x3F, 0x48, 0x49, 0x4A, 0x4B},
    4: {0xF3, 0xF4, 0xF5, 0xF6, 0xF7, 0xD0, 0x3F, 0x48, 0x49, 0x4A, 0x4B},
}
WATER = {
    0: {0xFD, 0xD1, 0xD2, 0xD3, 0xD4},
    3: {0xFD},
    4: {0xFD},
    5: set(range(0x1A, 0x20)),
}
LAVA = {
    0: set(range(0x7B, 0x80)),
    1: {*range(0x7B, 0x80), *range(0xC0, 0xD0)},
    3: set(range(0x61, 0x66)),
    4: set(range(0x61, 0x66)),
    5: {0x0C, 0x0D, 0x0E},
}
WARPS = {
    0: {0xE6, 0xE7, 0xE8, 0xE9, 0xEA, 0xEB, 0xED, 0xEE, 0xEF},
    1: {0xE6, 0xE7, 0xE8, 0xED, 0xEE, 0xEF},
    2: {0xE8, 0xEA, 0xEB, 0xEC, 0xED},
    3: {0x34, 0x36, 0x44, 0x45, 0x46, 0x47, 0x4F},
    4: {0x44, 0x45, 0x46, 0x47, 0x4F},
}
"""Tile indices by tile set (wActiveCollisions): 0 overworld, 1 Subrosia, 2 Maku tree,
3 indoors, 4 dungeons, 5 side view."""

LEDGES: dict[int, dict[Action, set[int]]] = {
    0: {
        Action.DOWN: {0x54, 0x94, 0x95, 0x9A, 0xCC, 0xCD, 0xCE, 0xCF, 0xFE, 0xFF},
        Action.LEFT: {0x25, 0x27},
        Action.RIGHT: {0x26, 0x28},
        Action.UP: {0x2A},
    },
    1: {Action.DOWN: {0xEA, 0xEB, 0x54}},
    3: {
        Action.DOWN: {0xB0, 0x06},
        Action.LEFT: {0xB1},
        Action.UP: {0xB2, 0x05},
        Action.RIGHT: {0xB3},
    },
    4: {
        Action.DOWN: {0xB0, 0x06},
        Action.LEFT: {0xB1},
        Action.UP: {0xB2, 0x05},
        Action.RIGHT: {0xB3},
    },
}
"""Cliffs: solid, but the player jumps off them in this direction and cannot come back."""

HAZARD_BYTE, _WALL = 0x10, 0x0F


@dataclass(frozen=True)
class Terrain:
    """A room's buffers."""

    collisions: npt.NDArray[np.uint8]  # `[12, 16]`, the game's collision byte of each tile
    layout: npt.NDArray[np.uint8]  # `[12, 16]`, tile indices
    mode: int = 0  # wActiveCollisions, the current tile set
    large: bool = False  # 11x15 tiles instead of 8x10
    swims: bool = False  # the player owns the flippers

    @property
    def size(self) -> tuple[int, int]:
        return LARGE_ROOM if self.large else SMALL_ROOM

    def deadly(self) -> npt.NDArray[np.bool_]:
        """`[12, 16]`: holes and lava, and unknown tiles that are hazards in the game."""
        known = self._are(HOLES) | self._are(LAVA)
        unknown = (self.collisions == HAZARD_BYTE) & ~self._are(WATER)
        deadly: npt.NDArray[np.bool_] = known | unknown
        return deadly

    def wet(self) -> npt.NDArray[np.bool_]:
        return self._are(WATER)

    def warps(self) -> npt.NDArray[np.bool_]:
        """`[12, 16]`: doors, stairs and cave mouths that can be entered."""
        warps: npt.NDArray[np.bool_] = self._are(WARPS) & (self.collisions != _WALL)
        return warps

    def ledges(self, direction: Action) -> npt.NDArray[np.bool_]:
        """`[12, 16]`: tiles off which the player jumps when walking in a direction."""
        return self._among(LEDGES.get(self.mode, {}).get(direction, set()))

    def _are(self, table: dict[int, set[int]]) -> npt.NDArray[np.bool_]:
        return self._among(table.get(self.mode, set()))

    def _among(self, indices: set[int]) -> npt.NDArray[np.bool_]:
        return np.isin(self.layout, np.fromiter(indices, dtype=np.uint8))


def terrain_of(ram: RamBlocks, closed: Iterable[tuple[int, int]] = ()) -> Terrain:
    """The current room; tiles (row, column) in `closed` are walls."""
    shape = (TILE_ROWS, TILE_COLUMNS)
    solids = np.frombuffer(ram.block(COLLISIONS, COLLISION_BYTES), dtype=np.uint8).copy()
    for row, column in closed:
        solids[row * TILE_COLUMNS + column] = _WALL
    return Terrain(
        collisions=solids.reshape(shape),
        layout=np.frombuffer(ram.block(_LAYOUT, COLLISION_BYTES), dtype=np.uint8).reshape(shape),
        mode=ram.u8(_MODE),
        large=ram.u8(_LARGE) != 0,
        swims=ram.bit(_TREASURES, FLIPPERS),
    )


def solid_pixels(collisions: npt.NDArray[np.uint8]) -> npt.NDArray[np.bool_]:
    """`[192, 256]`: which pixels stop the player.

    Below 0x10 the byte is a mask of quarters, bit 3 is the top left one. Bridges have edges of
    four pixels. The border (0xFF) is open, so that the player can walk off to the next room.
    """
    tiles = _MASKS[collisions]  # [12, 16, 16, 16]
    return tiles.transpose(0, 2, 1, 3).reshape(TILE_ROWS * TILE, TILE_COLUMNS * TILE)


def _masks() -> npt.NDArray[np.bool_]:
    y, x = np.mgrid[0:TILE, 0:TILE]
    left, right, top, bottom = x < 4, x >= 12, y < 4, y >= 12
    nothing, all_of_it = np.zeros_like(left), np.ones_like(left)
    special = {
        0x11: left | right, 0x12: left, 0x13: right, 0x15: left | right, 0x16: left | right,
        0x19: top | bottom, 0x1A: top, 0x1B: bottom, 0x1C: bottom, 0x1D: bottom | (y < 2),
        0x1E: all_of_it,
    }  # fmt: skip
    masks = np.empty((256, TILE, TILE), dtype=np.bool_)
    quarter = 3 - (2 * (y // 8) + x // 8)
    for byte in range(256):
        if byte < 0x10:
            masks[byte] = (byte >> quarter) & 1
        else:
            masks[byte] = special.get(0x10 | byte & 0x0F, nothing)
    return masks


_MASKS = _masks()
