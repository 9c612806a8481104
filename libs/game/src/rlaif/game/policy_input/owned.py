"""The part of the policy input about possessions and progress."""

from functools import lru_cache

from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.memory_map import DUNGEONS, address
from rlaif.game.policy_input.layout import (
    CHUNKS,
    COINS,
    COUNTED,
    ITEM_CODES,
    KEYS,
    LEVELS,
    MAX_HEALTH,
    POLICY_INPUT,
    Row,
    amount,
    bits_of,
    reached,
    read_only,
)

_FIRST, _HEALTH = address("wInventoryB"), address("wLinkHealth")
_AFTER_HEALTH = _HEALTH + 1
_END = address("wGlobalFlags") + 16
_DUNGEON, _KEYS = address("wDungeonIndex"), address("wDungeonSmallKeys")
_NO_KEYS = 0
_INVENTORY = 16
_TREASURES = 16
_OTHER_SEEDS = 5
_RINGS = 64
_HIGHEST_LEVEL = 3

_LEVELS = (
    "wSwordLevel", "wShieldLevel", "wBoomerangLevel", "wSlingshotLevel", "wFeatherLevel",
    "wSeedSatchelLevel", "wRingBoxLevel",
)  # fmt: skip
_STORES = (
    "wNumBombs", "wNumBombchus", "wNumEmberSeeds", "wNumScentSeeds", "wNumPegasusSeeds",
    "wNumGaleSeeds", "wNumMysterySeeds", "wNumGashaSeeds",
)  # fmt: skip
assert len(_LEVELS) == len(LEVELS)


def owned(ram: RamBlocks) -> Row:
    """The block `OWNED` of the layout; read-only, kept for the next time that nothing differs.

    The health is left out of what it depends on: it changes more often than all the rest.
    """
    return _owned(
        ram.block(_FIRST, _HEALTH - _FIRST),
        ram.block(_AFTER_HEALTH, _END - _AFTER_HEALTH),
        _small_keys(ram),
    )


def item_code(item: int) -> int:
    """The code of an item id."""
    return min(item, ITEM_CODES - 1)


def _small_keys(ram: RamBlocks) -> int:
    dungeon = ram.u8(_DUNGEON)
    return ram.u8(_KEYS + dungeon) if dungeon < DUNGEONS else _NO_KEYS


@lru_cache(maxsize=1024)
def _owned(before: bytes, after: bytes, keys: int) -> Row:
    saved = before + b"\0" + after

    def at(name: str, size: int = 1) -> bytes:
        start = address(name) - _FIRST
        return saved[start : start + size]

    def u8(name: str) -> int:
        return at(name)[0]

    def money(name: str) -> int:
        low, high = at(name, 2)
        return bcd16(high << 8 | low)

    values = [
        item_code(u8("wInventoryB")),
        item_code(u8("wInventoryA")),
        *map(item_code, at("wInventoryStorage", _INVENTORY)),
        min(u8("wSatchelSelectedSeeds"), _OTHER_SEEDS),
        min(u8("wShooterSelectedSeeds"), _OTHER_SEEDS),
        _ring(u8("wActiveRing")),
        *bits_of(at("wObtainedTreasureFlags", _TREASURES)),
        *(min(u8(name), _HIGHEST_LEVEL) / _HIGHEST_LEVEL for name in _LEVELS),
        *bits_of(at("wEssencesObtained")),
        *bits_of(at("wObtainedSeasons"))[:4],
        *bits_of(at("wGlobalFlags", 16)),
        *reached(money("wNumRupees"), COINS),
        *reached(money("wNumOreChunks"), CHUNKS),
        amount(money("wNumOreChunks")),
        *(told for name in _STORES for told in _store(bcd(u8(name)))),
        *reached(u8("wLinkMaxHealth"), MAX_HEALTH),
        *reached(keys, KEYS),
    ]
    return read_only(values)


def _store(number: int) -> tuple[float, ...]:
    return *reached(number, COUNTED), amount(number)


def _ring(worn: int) -> int:
    """0 without a ring: 0xFF, or any number that no ring has."""
    return worn + 1 if worn < _RINGS else 0


assert POLICY_INPUT["ring"].codes == _RINGS + 1
