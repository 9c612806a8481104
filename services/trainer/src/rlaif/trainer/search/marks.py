"""Lasting progress, read off the RAM: what a player has for good, and what he has changed for good.

It is the save file of the game in names: treasures, levels of items, essences, seasons, what
belongs to dungeons, and the flags of rooms. Nothing says which of them a quest needs. That a room
was visited is no mark: cells know the room.
"""

from functools import lru_cache

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import ROOM_VISITED, RUPEE_ROOM_SCRATCH, address, symbol

Marks = frozenset[str]

_FLAGS_START, _FLAGS_SIZE = 0xC700, 0x400
_SCRATCH = RUPEE_ROOM_SCRATCH[0] - _FLAGS_START, RUPEE_ROOM_SCRATCH[1]
_WITHOUT_VISITED = bytes(byte & ~ROOM_VISITED for byte in range(256))

_SETS = {
    "treasure": "wObtainedTreasureFlags",
    "essence": "wEssencesObtained",
    "boss_key": "wDungeonBossKeys",
    "compass": "wDungeonCompasses",
    "map": "wDungeonMaps",
    "golden": "wKilledGoldenEnemies",
    "jewel": "wInsertedJewels",
}
"""Name of the mark → set of bits; a mark is `name:number`, in hexadecimal."""

_SEASONS = address("wObtainedSeasons")
_LEVELS = {
    "sword": "wSwordLevel",
    "shield": "wShieldLevel",
    "satchel": "wSeedSatchelLevel",
    "boomerang": "wBoomerangLevel",
    "slingshot": "wSlingshotLevel",
    "feather": "wFeatherLevel",
    "ring_box": "wRingBoxLevel",
}
"""A first level comes with the treasure; `sword:2` is a mark, and so on."""

_PLACES = tuple((symbol(name).address, symbol(name).size) for name in _SETS.values())
_LEVEL_PLACES = tuple(address(name) for name in _LEVELS.values())
_PAGE_NAMES = ("0", "1", "4", "5")
"""The first map group of each page of room flags."""

_UNDERGROUND = frozenset({"4", "5"})
_ITEM, _EVENT, _DOORS = 0x20, 0x80, 0x0F
_SMALL_TREASURES = frozenset({*range(0x20, 0x25), *range(0x28, 0x36), 0x37})
"""Seeds, money, hearts, rings, keys and what else one finds often."""

SMALL, HALF, WHOLE = 0.25, 0.5, 1.0
"""What a mark adds to the level: what there is much of and little depends on, little. Small marks
make no cells of their own: a state that has more of them is a better one of the same cell."""


def mark_bytes(ram: RamBlocks) -> bytes:
    """What `marks_of` depends on, as bytes to compare and to look up by; about 3 µs."""
    flags = bytearray(ram.block(_FLAGS_START, _FLAGS_SIZE).translate(_WITHOUT_VISITED))
    at, size = _SCRATCH
    flags[at : at + size] = bytes(size)
    parts = [ram.block(where, size) for where, size in _PLACES]
    parts.append(bytes(ram.u8(where) for where in _LEVEL_PLACES))
    parts.append(bytes((ram.u8(_SEASONS) & 0x0F,)))
    parts.append(bytes(flags))
    return b"".join(parts)


def marks_of(ram: RamBlocks) -> Marks:
    """The lasting progress that the RAM shows."""
    return marks_in(mark_bytes(ram))


@lru_cache(maxsize=4096)
def marks_in(found: bytes) -> Marks:
    """The marks of what `mark_bytes` gave."""
    marks: set[str] = set()
    at = 0
    for name, (_, size) in zip(_SETS, _PLACES, strict=True):
        marks |= {f"{name}:{bit:x}" for bit in _bits(found[at : at + size])}
        at += size
    for name, level in zip(_LEVELS, found[at : at + len(_LEVELS)], strict=True):
        marks |= {f"{name}:{reached}" for reached in range(2, min(level, 9) + 1)}
    at += len(_LEVELS)
    marks |= {f"season:{bit}" for bit in _bits(found[at : at + 1])}
    for place, flags in enumerate(found[at + 1 :]):
        if flags:
            page, room = divmod(place, 0x100)
            marks |= {
                f"room:{_PAGE_NAMES[page]}:{room:02x}:{1 << bit:02x}"
                for bit in _bits(bytes((flags,)))
            }
    return frozenset(marks)


@lru_cache(maxsize=4096)
def large(marks: Marks) -> Marks:
    """Those that are not small."""
    return frozenset(mark for mark in marks if weight_of(mark) > SMALL)


def level_of(marks: Marks) -> float:
    """How far a game is, as far as one can say without knowing the quest."""
    return sum(weight_of(mark) for mark in marks)


@lru_cache(maxsize=4096)
def weight_of(mark: str) -> float:
    """What a mark adds to the level, more than 0."""
    name, *rest = mark.split(":")
    if name == "treasure":
        return SMALL if int(rest[0], 16) in _SMALL_TREASURES else WHOLE
    if name in ("season", "map", "compass"):
        return HALF
    if name == "room":
        return _weight_of_flag(rest[0], int(rest[2], 16))
    return WHOLE


def _weight_of_flag(page: str, flag: int) -> float:
    """Events and doors of dungeons count whole.

    What a room gave is a treasure, which counts by itself, or money; underground it may be a key.
    """
    if flag == _EVENT:
        return WHOLE
    if page not in _UNDERGROUND:
        return SMALL
    if flag == _ITEM:
        return HALF
    return WHOLE if flag & _DOORS else SMALL


def _bits(found: bytes) -> list[int]:
    number = int.from_bytes(found, "little")
    return [bit for bit in range(number.bit_length()) if number >> bit & 1]
