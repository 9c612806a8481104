"""Facts of the embedded game, read from its RAM by tests."""

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.predicates import has_control

SHIELD, BOMBS, SWORD, ROD, BRACELET = 0x01, 0x03, 0x05, 0x07, 0x16
FEATHER, SATCHEL, FLIPPERS, GNARLED_KEY = 0x17, 0x19, 0x2E, 0x42
WINTER = 3


def in_room(ram: RamBlocks, group: int, room: int) -> bool:
    """Whether the player is in that room and can move."""
    here = ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))
    return here == (group, room) and has_control(ram)


def owns(ram: RamBlocks, treasure: int) -> bool:
    """Whether the player owns a treasure."""
    return ram.bit(address("wObtainedTreasureFlags"), treasure)


def keys(ram: RamBlocks) -> int:
    """Number of small keys of the first dungeon."""
    return ram.u8(address("wDungeonSmallKeys") + 1)


def season(ram: RamBlocks) -> int:
    """Season of the room, from spring (0) to winter (3)."""
    return ram.u8(address("wRoomStateModifier"))


def index(ram: RamBlocks, column: int, row: int) -> int:
    """Index of the tile there."""
    return ram.u8(address("wRoomLayout") + row * TILE_STRIDE + column)
