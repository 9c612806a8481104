"""Encodes RAM as an observation: 128 float32 in [0, 1], `rlaif.contracts.game.observation`.

A pure function of the RAM. The trainer computes the same bits by `numba_look`; the exporter calls
this module while replaying.

The slots have four parts: the player, the scene (room, items, flags, puzzle, exploration: all that
rarely changes), the walls around the player, and nearby objects.
"""

import math
from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import (
    ENEMY_SLOTS,
    LAYOUT,
    OBSERVATION_SIZE,
    WALLS_RADIUS,
    slot_index,
)
from rlaif.game.encoder.scene import CHEST, scene_values
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import (
    Entity,
    enemies,
    interactions,
    nearest,
    player_position,
    talkables,
    things,
)
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS, SOLID, look_around, room_cells

SIGN = 0xF2
REACH = 10
"""Pixels from the player's position to the point that A tries (bank0.s of the disassembly,
linkInteractWithAButtonSensitiveObjects)."""

OBJECT_SIZE = 0x40
OBJECTS = 0xD000 - WRAM_START
"""Offset in work RAM of the 64 objects, `OBJECT_SIZE` bytes each."""

A_LIST = address("wAButtonSensitiveObjectList") - WRAM_START
A_LIST_SIZE = 32
"""Addresses of the objects that react to A, two bytes each."""

RADIUS_Y, RADIUS_X = 0x26, 0x27
TILES = address("wRoomLayout") - WRAM_START
TILE_ROWS = 12
LINK_DIRECTION = address("w1Link.direction") - WRAM_START
_GRAB_STATE = address("wLinkGrabState") - WRAM_START
_AHEAD = ((0, -REACH), (REACH, 0), (0, REACH), (-REACH, 0))
FACING_UP = 0

SPAN = LAYOUT[slot_index("npc_dx")].scale
"""Pixels from one end of a distance slot to the other."""

HEALTH = tuple(min(n / LAYOUT[slot_index("enemy_1_health")].scale, 1.0) for n in range(256))
"""The slot by the enemy's health byte."""

_ANGLES = 32
DIR_X = tuple(
    0.5 + 0.5 * math.sin(2 * math.pi * a / _ANGLES) if a < _ANGLES else 0.5 for a in range(256)
)
DIR_Y = tuple(
    0.5 - 0.5 * math.cos(2 * math.pi * a / _ANGLES) if a < _ANGLES else 0.5 for a in range(256)
)
"""The direction slots by the enemy's angle byte."""


def nearby(ram: RamBlocks, x: int, y: int) -> list[float]:
    """The slots of nearby objects, each in [0, 1]; the player is at (x, y), in pixels."""
    slots: list[float] = []
    for enemy in nearest(enemies(ram), x, y)[:ENEMY_SLOTS]:
        slots += _sighting(enemy, x, y)
        slots += (HEALTH[enemy.health], DIR_X[enemy.angle], DIR_Y[enemy.angle])
    slots += [0.0] * (6 * ENEMY_SLOTS - len(slots))
    listed = talkables(ram)
    for kind in (listed or interactions(ram), things(ram)):
        slots += _sighting(nearest(kind, x, y)[0], x, y) if kind else (0.0, 0.0, 0.0)
    slots.append(_answers(ram.wram, x, y, listed))
    return slots


def _sighting(entity: Entity, x: int, y: int) -> tuple[float, float, float]:
    return 1.0, 0.5 + (entity.x - x) / SPAN, 0.5 + (entity.y - y) / SPAN


def _answers(wram: bytes, x: int, y: int, listed: list[Entity]) -> float:
    if wram[_GRAB_STATE]:
        return 0.0
    facing = wram[LINK_DIRECTION] & 3
    ahead_x, ahead_y = _AHEAD[facing]
    x, y = x + ahead_x, y + ahead_y
    for it in listed:
        at = it.slot - WRAM_START
        if abs(it.x - x) < wram[at + RADIUS_X] and abs(it.y - y) < wram[at + RADIUS_Y]:
            return 1.0
    column, row = x >> 4, y >> 4
    if not (0 <= column < TILE_STRIDE and 0 <= row < TILE_ROWS):
        return 0.0
    tile = wram[TILES + row * TILE_STRIDE + column]
    return 1.0 if tile == SIGN or (tile == CHEST and facing == FACING_UP) else 0.0


Observation = npt.NDArray[np.float32]
"""`[128]` float32 in [0, 1]."""

PLAYER = slice(0, slot_index("group_bit_0"))
SCENE = slice(PLAYER.stop, slot_index("wall_n2w2"))
WALLS = slice(SCENE.stop, slot_index("enemy_1_present"))
NEARBY = slice(WALLS.stop, OBSERVATION_SIZE)
"""The parts of an observation, which cover all of it."""

POSE_ADDRESSES = tuple(
    address(name)
    for name in (
        "w1Link.zh", "w1Link.direction", "wLinkSwimmingState", "wLinkInAir", "wLinkGrabState",
        "w1Link.invincibilityCounter", "wLinkPushingDirection",
    )
)  # fmt: skip

_SCALES = tuple(slot.scale for slot in LAYOUT)
_FACINGS = 4
NOT_CENTRE = np.delete(
    np.arange((2 * WALLS_RADIUS + 1) ** 2), 2 * WALLS_RADIUS * (WALLS_RADIUS + 1)
)
"""Indices of the 25 half tiles around the player that are slots: all but its own."""

_FREE_SCALE = np.float32(1.0 / LAYOUT[slot_index("free_north")].scale)
_WALL_SCALE = np.float32(1.0 / SOLID)


def encode(ram: RamBlocks) -> Observation:
    """The observation of one state, `[128]` float32 in [0, 1]."""
    out = np.empty(OBSERVATION_SIZE, dtype=np.float32)
    encode_into(ram, out)
    return out


def encode_into(ram: RamBlocks, out: Observation) -> None:
    """Write the observation into `out`, `[128]` float32; about 0.1 ms."""
    x, y = player_position(ram)
    out[PLAYER] = scaled((x, y, *_pose(*(ram.u8(where) for where in POSE_ADDRESSES))), PLAYER)
    out[SCENE] = scaled(scene_values(ram), SCENE)
    grid, free = look_around(room_cells(ram.block(COLLISIONS, COLLISION_BYTES)), x, y)
    around = WALLS.start + len(NOT_CENTRE)
    out[WALLS.start : around] = grid[NOT_CENTRE].astype(np.float32) * _WALL_SCALE
    out[around : WALLS.stop] = free.astype(np.float32) * _FREE_SCALE
    out[NEARBY] = nearby(ram, x, y)


def _pose(
    height: int, direction: int, swimming: int, in_air: int, grab: int, hurt: int, pushing: int
) -> tuple[float, ...]:
    return (
        0x100 - height if height >= 0x80 else 0,
        *(direction == facing for facing in range(_FACINGS)),
        swimming & 0x0F != 0,
        in_air & 0x0F != 0,
        grab != 0,
        hurt if hurt < 0x80 else 0,
        pushing != 0xFF,
    )


def scaled(values: Iterable[float], part: slice) -> Observation:
    """Slots `part` of an observation from their values."""
    scales = _SCALES[part]
    scaled = [min(value / scale, 1.0) for value, scale in zip(values, scales, strict=True)]
    return np.array(scaled, dtype=np.float32)
