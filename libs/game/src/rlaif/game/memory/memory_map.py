"""Addresses of the memory map: look-ups in `symbols`, and constants without a symbol.

Note: money, bombs and seeds are BCD. Small keys are one byte per dungeon. wShieldLevel is 1 on a
new file without a shield: ownership is a treasure bit. Bit 7 of wScrollMode is the camera of a
large room, not a transition. w1Link.health is not the player's health. wScreenTransitionState is 2
when idle. wDungeonRoomProperties never changes and has nothing to do with puzzles.
"""

from rlaif.game.memory.symbols import SYMBOLS, Symbol

_BY_NAME = {symbol.name: symbol for symbol in SYMBOLS}

OBJECT_STRIDE = 0x100
"""Sixteen pages 0xD000, 0xD100 ... each hold one object of every kind."""

OBJECT_PAGES = 16
LINK, COMPANION = 0xD000, 0xD100
INTERACTIONS, ENEMIES, PARTS = 0xD040, 0xD080, 0xD0C0
"""First object of each kind (bank 1)."""

OBJECT_ID, OBJECT_SUBID = 0x01, 0x02
OBJECT_DIRECTION, OBJECT_ANGLE = 0x08, 0x09
OBJECT_Y, OBJECT_X, OBJECT_HEALTH = 0x0B, 0x0D, 0x29
"""Fields of an object: offsets from its first byte."""

ROOM_VISITED, ROOM_ITEM, ROOM_EVENTS = 0x10, 0x20, 0xC0
"""Bits of a room's flags."""

RUPEE_ROOM_SCRATCH = (0xC8F0, 16)
"""Address and size of flags of groups 1-3 that dungeons 2 and 6 use for other purposes."""

SAVEFILE_STRING = b"Z11216-0"
AGES_SAVEFILE_STRING = b"Z21216-0"
"""Start of a loaded file, in Oracle of Seasons and in Oracle of Ages (same address)."""

TREASURE_SHIELD = 0x01
ITEM_SWORD = 0x05
DUNGEONS = 12

SMALL_ROOM, LARGE_ROOM = (10, 8), (15, 11)
"""Columns and rows of tiles of 16 pixels."""

TILE_STRIDE = 16
"""Bytes per row of wRoomLayout and wRoomCollisions."""


def symbol(name: str) -> Symbol:
    """The symbol with this name; KeyError if there is none."""
    return _BY_NAME[name]


def address(name: str) -> int:
    """The address of a symbol; KeyError if there is none with this name."""
    return _BY_NAME[name].address


def room_flags_page(group: int) -> int:
    """Address of the room flags of a map group; groups above 7 wrap, as in the game.

    Groups 1, 2 and 3 share a page, as do 4 and 6, and 5 and 7.
    """
    return (0xC700, 0xC800, 0xC800, 0xC800, 0xC900, 0xCA00, 0xC900, 0xCA00)[group & 7]
