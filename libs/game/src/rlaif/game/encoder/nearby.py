"""The part of an observation about nearby objects: enemies, people, things."""

import math

from rlaif.contracts.game.observation import ENEMY_SLOTS, LAYOUT, slot_index
from rlaif.game.encoder.scene import CHEST
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import (
    Entity,
    enemies,
    interactions,
    nearest,
    talkables,
    things,
)
from rlaif.game.memory.memory_map import TILE_STRIDE, address

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
    """The slots of this part, each in [0, 1]; the player is at (x, y), in pixels."""
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
    """1 when pressing A would talk, read or open."""
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
