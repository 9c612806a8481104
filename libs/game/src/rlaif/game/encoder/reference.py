"""RAM in, observation out: 128 float32 in [0, 1], layout `rlaif.contracts.game.observation`.

A pure function of the RAM. The trainer computes the same bits by `numba_look`; the exporter calls
this module while replaying.

The slots have four parts: the player, the scene (room, items, flags, puzzle, exploration: all that
seldom changes), the walls around the player, and nearby objects.
"""

from collections.abc import Iterable

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.observation import LAYOUT, OBSERVATION_SIZE, WALLS_RADIUS, slot_index
from rlaif.game.encoder.nearby import nearby
from rlaif.game.encoder.scene import scene_values
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import player_position
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS, SOLID, look_around, room_cells

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
    """The player's values after its position, from the bytes at `POSE_ADDRESSES`."""
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
