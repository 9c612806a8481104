"""The part of an observation that shows what is nearby: enemies, people, things.

It reads the object pages byte by byte: an `Entity` for each object would cost more than all the
rest of an observation. A test compares it with `rlaif.game.memory.entities`, which tools use.
"""

import math
from collections.abc import Callable
from operator import itemgetter
from typing import NamedTuple

from rlaif.contracts.observation import ENEMY_SLOTS, LAYOUT, slot_index
from rlaif.game.encoder.scene import CHEST
from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.entities import HARMLESS_ENEMY_IDS, INTERACTION_TREASURE, PART_ITEM_DROP
from rlaif.game.memory.memory_map import (
    OBJECT_ANGLE,
    OBJECT_HEALTH,
    OBJECT_ID,
    OBJECT_X,
    OBJECT_Y,
    TILE_STRIDE,
    address,
)

Places = tuple[int, ...]
"""Where objects are in the work RAM, in slot order."""


class Roster(NamedTuple):
    """Which objects are in the room, without where they stand."""

    enemies: Places
    people: Places  # what is listed, or all people where nothing is
    things: Places  # what can be picked up; where there is none, buttons and the like
    listed: Places  # what reacts to A


SIGN = 0xF2
REACH = 10
"""Pixels from the player's position to the point that A tries (bank0.s of the disassembly,
linkInteractWithAButtonSensitiveObjects)."""

OBJECT_SIZE = 0x40
_KINDS = 4
_INTERACTION, _ENEMY, _PART = 1, 2, 3
"""Kind of an object by its place in its page; 0 is the player and its items."""

OBJECTS = 0xD000 - WRAM_START
"""Where the 64 objects are in work RAM, `OBJECT_SIZE` each."""

A_LIST = address("wAButtonSensitiveObjectList") - WRAM_START
A_LIST_SIZE = 32
"""Addresses of the objects that react to A, two bytes each."""

_PAGES = range(0xD0, 0xE0)
RADIUS_Y, RADIUS_X = 0x26, 0x27
TILES = address("wRoomLayout") - WRAM_START
TILE_ROWS = 12
GRAB_STATE = address("wLinkGrabState") - WRAM_START
LINK_DIRECTION = address("w1Link.direction") - WRAM_START
_AHEAD = ((0, -REACH), (REACH, 0), (0, REACH), (-REACH, 0))
FACING_UP = 0

SPAN = LAYOUT[slot_index("npc_dx")].scale
"""Pixels from the middle of a distance slot to its ends, twice."""

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

_NO_ENEMIES = (0.0,) * 6 * ENEMY_SLOTS
_NOTHING = (0.0,) * 3


ROSTER_KEY: Callable[[bytes], tuple[bytes, bytes, bytes]] = itemgetter(
    slice(OBJECTS, None, OBJECT_SIZE),
    slice(OBJECTS + OBJECT_ID, None, OBJECT_SIZE),
    slice(A_LIST, A_LIST + A_LIST_SIZE),
)
"""Called with work RAM: the 64 objects' enabled bytes, their ids, and what reacts to A."""


def roster(enabled: bytes, ids: bytes, pointers: bytes) -> Roster:
    """Who is in the room, from what `ROSTER_KEY` gives."""
    kinds: tuple[list[int], ...] = ([], [], [], [])
    for number, on in enumerate(enabled):
        if on:
            kinds[number % _KINDS].append(number)
    people, parts = kinds[_INTERACTION], kinds[_PART]
    enemies = [number for number in kinds[_ENEMY] if ids[number] not in HARMLESS_ENEMY_IDS]
    drops = [number for number in parts if ids[number] == PART_ITEM_DROP]
    drops += [number for number in people if ids[number] == INTERACTION_TREASURE]
    listed = [
        (high & 0x0F) * _KINDS + low // OBJECT_SIZE
        for low, high in zip(pointers[::2], pointers[1::2], strict=True)
        if high in _PAGES
    ]
    listed = [number for number in listed if enabled[number]]
    return Roster(
        _places(enemies), _places(listed or people), _places(drops or parts), _places(listed)
    )


def _places(numbers: list[int]) -> Places:
    return tuple(OBJECTS + number * OBJECT_SIZE for number in sorted(numbers))


def nearby(wram: bytes, x: int, y: int, present: Roster) -> list[float]:
    """The slots of this part, each in [0, 1]; the player stands at (x, y), pixels."""
    slots: list[float] = []
    for _, at in _by_distance(wram, x, y, present.enemies)[:ENEMY_SLOTS]:
        angle = wram[at + OBJECT_ANGLE]
        slots += (
            1.0,
            0.5 + (wram[at + OBJECT_X] - x) / SPAN,
            0.5 + (wram[at + OBJECT_Y] - y) / SPAN,
            HEALTH[wram[at + OBJECT_HEALTH]],
            DIR_X[angle],
            DIR_Y[angle],
        )
    slots += _NO_ENEMIES[len(slots) :]
    for kind in (present.people, present.things):
        if kind:
            at = kind[0] if len(kind) == 1 else _by_distance(wram, x, y, kind)[0][1]
            slots += (
                1.0,
                0.5 + (wram[at + OBJECT_X] - x) / SPAN,
                0.5 + (wram[at + OBJECT_Y] - y) / SPAN,
            )
        else:
            slots += _NOTHING
    slots.append(_answers(wram, x, y, present.listed))
    return slots


def _by_distance(wram: bytes, x: int, y: int, places: Places) -> list[tuple[int, int]]:
    """(square of the distance, place), the nearest first; of equal distances the first slot."""
    found = [((wram[at + OBJECT_X] - x) ** 2 + (wram[at + OBJECT_Y] - y) ** 2, at) for at in places]
    if len(found) > 1:
        found.sort()
    return found


def _answers(wram: bytes, x: int, y: int, listed: Places) -> float:
    """1 when pressing A would talk, read or open."""
    if wram[GRAB_STATE]:
        return 0.0
    facing = wram[LINK_DIRECTION] & 3
    ahead_x, ahead_y = _AHEAD[facing]
    x, y = x + ahead_x, y + ahead_y
    for at in listed:
        off_x, off_y = abs(wram[at + OBJECT_X] - x), abs(wram[at + OBJECT_Y] - y)
        if off_x < wram[at + RADIUS_X] and off_y < wram[at + RADIUS_Y]:
            return 1.0
    column, row = x >> 4, y >> 4
    if not (0 <= column < TILE_STRIDE and 0 <= row < TILE_ROWS):
        return 0.0
    tile = wram[TILES + row * TILE_STRIDE + column]
    return 1.0 if tile == SIGN or (tile == CHEST and facing == FACING_UP) else 0.0
