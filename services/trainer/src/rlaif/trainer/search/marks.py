"""Permanent flags in the RAM: what the player has acquired and what it has changed for good.

They are the game's save file as names: treasures, levels of items, essences, seasons, dungeon items
and flags of rooms. Nothing here states which of them a quest needs. The flag "room visited" is left
out, because cells contain the room.
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
"""Name of the flags → bit set in RAM; a flag is called `name:number`, with a hexadecimal number."""

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
"""Level 1 is implied by the treasure; `sword:2` is a flag, and so on."""

_PLACES = tuple((symbol(name).address, symbol(name).size) for name in _SETS.values())
_LEVEL_PLACES = tuple(address(name) for name in _LEVELS.values())
_PAGE_NAMES = ("0", "1", "4", "5")
"""The first map group of each page of room flags."""

_UNDERGROUND = frozenset({"4", "5"})
_ITEM, _EVENT, _DOORS = 0x20, 0x80, 0x0F
_SMALL_TREASURES = frozenset({*range(0x20, 0x25), *range(0x28, 0x36), 0x37})
"""Seeds, money, hearts, rings, keys and other treasures that are found often."""

SMALL, HALF, WHOLE = 0.25, 0.5, 1.0
"""Contribution of a flag to the level; flags that are frequent and of little consequence count
least. Small flags do not distinguish cells: a state that has more of them is a better state of the
same cell."""


def mark_bytes(ram: RamBlocks) -> bytes:
    """Return the bytes that determine `marks_of`, for comparison and lookup; takes about 3 µs."""
    flags = bytearray(ram.block(_FLAGS_START, _FLAGS_SIZE).translate(_WITHOUT_VISITED))
    at, size = _SCRATCH
    flags[at : at + size] = bytes(size)
    parts = [ram.block(where, size) for where, size in _PLACES]
    parts.append(bytes(ram.u8(where) for where in _LEVEL_PLACES))
    parts.append(bytes((ram.u8(_SEASONS) & 0x0F,)))
    parts.append(bytes(flags))
    return b"".join(parts)


def marks_of(ram: RamBlocks) -> Marks:
    """Return the permanent flags that are set in the RAM."""
    return marks_in(mark_bytes(ram))


@lru_cache(maxsize=4096)
def marks_in(found: bytes) -> Marks:
    """Decode a result of `mark_bytes`."""
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
    """Return the flags that are not small."""
    return frozenset(mark for mark in marks if weight_of(mark) > SMALL)


def level_of(marks: Marks) -> float:
    """Return the progress of a game, estimated without knowledge of the quest."""
    return sum(weight_of(mark) for mark in marks)


@lru_cache(maxsize=4096)
def weight_of(mark: str) -> float:
    """Return a flag's contribution to the level, greater than 0."""
    name, *rest = mark.split(":")
    if name == "treasure":
        return SMALL if int(rest[0], 16) in _SMALL_TREASURES else WHOLE
    if name in ("season", "map", "compass"):
        return HALF
    if name == "room":
        return _weight_of_flag(rest[0], int(rest[2], 16))
    return WHOLE


def _weight_of_flag(page: str, flag: int) -> float:
    """Return the weight of a room flag.

    Events and dungeon doors have full weight. A room's item flag counts little, because its
    treasure is a flag of its own, or money; underground it may be a key.
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
