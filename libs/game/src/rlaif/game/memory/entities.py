"""Objects in the room: enemies, people, things, from the game's object pages.

Sixteen pages 0xD000, 0xD100 ... 0xDF00 of work RAM bank 1 hold four objects each: the player, his
companion and items at +0x00, interactions at +0x40, enemies at +0x80, parts at +0xC0.
"""

from collections.abc import Container
from typing import NamedTuple

from rlaif.game.machine.emulator import WRAM_START
from rlaif.game.memory.blocks import RamBlocks, once_per_ram
from rlaif.game.memory.memory_map import (
    COMPANION,
    ENEMIES,
    INTERACTIONS,
    LINK,
    OBJECT_ANGLE,
    OBJECT_DIRECTION,
    OBJECT_HEALTH,
    OBJECT_ID,
    OBJECT_PAGES,
    OBJECT_STRIDE,
    OBJECT_SUBID,
    OBJECT_X,
    OBJECT_Y,
    PARTS,
    address,
)

HARMLESS_ENEMY_IDS = frozenset({0x33, 0x37, 0x38, 0x53, 0x56, 0x58, 0x59, 0x5A})
"""Objects in enemy slots that are not monsters: cucco, butterfly, fairy, dragonfly, bubble, bush,
drop producer, seed tree (enemy ids of the disassembly)."""

_ALL_IDS = range(256)
_MONSTERS = frozenset(_ALL_IDS) - HARMLESS_ENEMY_IDS

PART_ITEM_DROP = 0x01
INTERACTION_TREASURE = 0x60

_TALKABLE = address("wAButtonSensitiveObjectList")
_TALKABLE_SIZE = 32
_LINK_OBJECT = address("wLinkObjectIndex") - WRAM_START
_LINK_X, _LINK_Y = LINK - WRAM_START + OBJECT_X, LINK - WRAM_START + OBJECT_Y
_ANIMAL_X, _ANIMAL_Y = COMPANION - WRAM_START + OBJECT_X, COMPANION - WRAM_START + OBJECT_Y
_COMPANION_PAGE = COMPANION >> 8
_OBJECT_MASK = 0xFFC0
_NO_POINTERS = bytes(_TALKABLE_SIZE)
_ALL_FREE = bytes(OBJECT_PAGES)
_FIRST_OBJECT, _LAST_OBJECT = 0xD000, 0xDFC0


class Entity(NamedTuple):
    """One object of the room; x and y are pixels from its top left corner."""

    slot: int  # address of its object, its identity while it exists
    id: int  # in the id list of its kind
    subid: int
    x: int
    y: int
    health: int  # 0 for objects without health
    direction: int = 0  # 0 up, 1 right, 2 down, 3 left; other values by kind
    angle: int = 0xFF  # 0 up, 8 right, 16 down, 24 left; 32 and above: no direction


def is_riding(ram: RamBlocks) -> bool:
    """The player sits on an animal or in a minecart, which then has the true position."""
    return ram.wram[_LINK_OBJECT] == _COMPANION_PAGE


def player_position(ram: RamBlocks) -> tuple[int, int]:
    """(x, y) in pixels of the room: of the player, or of the animal it rides."""
    wram = ram.wram
    if wram[_LINK_OBJECT] == _COMPANION_PAGE:
        return wram[_ANIMAL_X], wram[_ANIMAL_Y]
    return wram[_LINK_X], wram[_LINK_Y]


@once_per_ram
def enemies(ram: RamBlocks) -> list[Entity]:
    """Monsters, in slot order; not to be modified."""
    return _enabled(ram, ENEMIES, _MONSTERS)


def are_enemies_near(ram: RamBlocks, x: int, y: int, reach: int) -> bool:
    """Whether an object in an enemy slot is within `reach` of a pixel on both axes; 1 µs."""
    first, wram = ENEMIES - WRAM_START, ram.wram
    enabled = wram[first::OBJECT_STRIDE]
    if enabled == _ALL_FREE:
        return False
    xs = wram[first + OBJECT_X :: OBJECT_STRIDE]
    ys = wram[first + OBJECT_Y :: OBJECT_STRIDE]
    for slot, at_x, at_y in zip(enabled, xs, ys, strict=True):
        if slot and abs(at_x - x) <= reach and abs(at_y - y) <= reach:
            return True
    return False


def interactions(ram: RamBlocks, ids: Container[int] = _ALL_IDS) -> list[Entity]:
    """People, treasures and invisible triggers with these ids, in slot order."""
    return _enabled(ram, INTERACTIONS, ids)


def parts(ram: RamBlocks, ids: Container[int] = _ALL_IDS) -> list[Entity]:
    """Drops, projectiles, buttons, torches, switches with these ids, in slot order."""
    return _enabled(ram, PARTS, ids)


@once_per_ram
def talkables(ram: RamBlocks) -> list[Entity]:
    """Objects that react to A: people and signs, in the game's order; not to be modified."""
    pointers = ram.block(_TALKABLE, _TALKABLE_SIZE)
    if pointers == _NO_POINTERS:
        return []
    found = []
    for low, high in zip(pointers[::2], pointers[1::2], strict=True):
        slot = (high << 8 | low) & _OBJECT_MASK
        if _FIRST_OBJECT <= slot <= _LAST_OBJECT and ram.u8(slot):
            found.append(_entity(ram, slot))
    return found


def things(ram: RamBlocks) -> list[Entity]:
    """Things that can be picked up; without any, all parts, such as buttons."""
    found = parts(ram, (PART_ITEM_DROP,)) + interactions(ram, (INTERACTION_TREASURE,))
    return found or parts(ram)


def nearest(found: list[Entity], x: int, y: int) -> list[Entity]:
    """The objects, nearest to (x, y) first; equal distances by slot."""
    if len(found) < 2:
        return found
    return sorted(found, key=lambda e: ((e.x - x) ** 2 + (e.y - y) ** 2, e.slot))


def _enabled(ram: RamBlocks, first: int, ids: Container[int]) -> list[Entity]:
    enabled = ram.wram[first - WRAM_START :: OBJECT_STRIDE]
    if enabled == _ALL_FREE:
        return []
    numbers = ram.wram[first - WRAM_START + OBJECT_ID :: OBJECT_STRIDE]
    return [
        _entity(ram, first + page * OBJECT_STRIDE)
        for page in range(OBJECT_PAGES)
        if enabled[page] and numbers[page] in ids
    ]


def _entity(ram: RamBlocks, slot: int) -> Entity:
    at = slot - WRAM_START
    wram = ram.wram
    return Entity(
        slot,
        wram[at + OBJECT_ID],
        wram[at + OBJECT_SUBID],
        wram[at + OBJECT_X],
        wram[at + OBJECT_Y],
        wram[at + OBJECT_HEALTH],
        wram[at + OBJECT_DIRECTION],
        wram[at + OBJECT_ANGLE],
    )
