"""The part of an input that says what room this is and what lies in it; RAM in, a row out."""

from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import LARGE_ROOM, SMALL_ROOM, address, room_flags_page
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS
from rlaif.game.policy_input.layout import (
    DEEP,
    EDGE,
    ENEMIES_LEFT,
    FLOOR,
    OUTSIDE,
    SPECIAL,
    TILE_INDEXES,
    TILE_TABLES,
    TILES,
    TORCHES,
    WALL,
    Row,
    bits_of,
    reached,
)

_LAYOUT = address("wRoomLayout")
_GROUP, _ROOM, _LARGE = address("wActiveGroup"), address("wActiveRoom"), address("wRoomIsLarge")
_TABLE, _AREA = address("wActiveCollisions"), address("wTilesetFlags")
_TRIGGERS, _TORCHES = address("wActiveTriggers"), address("wNumTorchesLit")
_SWITCHES, _TOGGLES = address("wSwitchState"), address("wToggleBlocksState")
_ENEMIES = address("wNumEnemies")
_GROUPS = 8

_TABLES = np.array([0, 1, 0, 2, 2] + [3] * 251, dtype=np.int32)
"""By wActiveCollisions: overworld with the Maku tree, Subrosia, indoors with dungeons, others."""

_SOLID_QUARTERS, _ALL_SOLID, _HAZARD, _RISING = 0x10, 0x0F, 0x10, 0x1E


def scene(ram: RamBlocks) -> Row:
    """The block `SCENE` of the layout; read-only, kept for the next time that nothing differs."""
    group, room = ram.u8(_GROUP), ram.u8(_ROOM)
    facts = bytes(
        (
            group % _GROUPS,
            room,
            ram.u8(_AREA),
            ram.u8(room_flags_page(group) + room),
            ram.u8(_TRIGGERS),
            ram.u8(_SWITCHES),
            ram.u8(_TOGGLES),
            ram.u8(_TORCHES),
            ram.u8(_ENEMIES),
        )
    )
    return _scene(
        facts,
        ram.block(_LAYOUT, TILES),
        ram.block(COLLISIONS, COLLISION_BYTES),
        ram.u8(_TABLE),
        ram.u8(_LARGE) != 0,
    )


@lru_cache(maxsize=4096)
def _scene(facts: bytes, layout: bytes, collisions: bytes, table: int, large: bool) -> Row:
    group, room, area, flags, triggers, switches, toggles, torches, enemies = facts
    values: list[int] = [
        group << 8 | room,
        *bits_of(bytes((area, flags, triggers, switches, toggles))),
        *reached(torches, TORCHES),
        *reached(enemies, ENEMIES_LEFT),
    ]
    row = np.concatenate([np.array(values), tile_codes(layout, collisions, table, large=large)])
    made = row.astype(np.float32)
    made.flags.writeable = False
    return made


def tile_codes(
    layout: bytes, collisions: bytes, table: int, *, large: bool
) -> npt.NDArray[np.int32]:
    """`[192] int32`, the code of each tile of the buffers (`layout.TILE_CODES`).

    What lies beyond the room is one code, whatever the buffers hold there.
    """
    kinds = _COLLISION_KINDS[np.frombuffer(collisions, dtype=np.uint8)]
    index = np.frombuffer(layout, dtype=np.uint8).astype(np.int32)
    codes: npt.NDArray[np.int32] = (kinds * TILE_TABLES + _TABLES[table]) * TILE_INDEXES + index
    outside = _OUTSIDE_LARGE if large else _OUTSIDE_SMALL
    codes[outside] = OUTSIDE * TILE_TABLES * TILE_INDEXES
    return codes


def _collision_kinds() -> npt.NDArray[np.int32]:
    kinds = np.full(256, SPECIAL, dtype=np.int32)
    kinds[:_SOLID_QUARTERS] = EDGE
    kinds[0], kinds[_ALL_SOLID] = FLOOR, WALL
    for byte in range(_SOLID_QUARTERS, 256):
        special = _HAZARD | byte & _ALL_SOLID
        if special == _HAZARD:
            kinds[byte] = DEEP
        elif special == _RISING:
            kinds[byte] = WALL
    return kinds


def _outside(columns: int, rows: int) -> npt.NDArray[np.bool_]:
    outside = np.ones((TILE_ROWS, TILE_COLUMNS), dtype=np.bool_)
    outside[:rows, :columns] = False
    return outside.reshape(-1)


_COLLISION_KINDS = _collision_kinds()
"""By collision byte: below 0x10 a mask of solid quarters, else what `memory.walls` says."""

_OUTSIDE_SMALL, _OUTSIDE_LARGE = _outside(*SMALL_ROOM), _outside(*LARGE_ROOM)
