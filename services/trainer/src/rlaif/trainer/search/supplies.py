"""Consumables: money, bombs and seeds."""

from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.memory_map import address

_MONEY = address("wNumRupees"), address("wNumOreChunks")
_SUPPLIES = tuple(
    address(name)
    for name in (
        "wNumBombs",
        "wNumEmberSeeds",
        "wNumScentSeeds",
        "wNumPegasusSeeds",
        "wNumGaleSeeds",
        "wNumMysterySeeds",
    )
)


def money_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the amount of each kind of money."""
    return tuple(bcd16(ram.u16(where)) for where in _MONEY)


def supplies_of(ram: RamBlocks) -> tuple[int, ...]:
    """Return the number of bombs, and of seeds of each kind."""
    return tuple(bcd(ram.u8(where)) for where in _SUPPLIES)
