"""Whether a text or puzzle of Seedling Vale was resolved, determined from RAM alone.

It is independent of planner and executor, and reads the game's memory: flags of rooms, treasures,
coins, the tiles of the room.
"""

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

from rlaif.game.memory.blocks import RamBlocks, bcd16
from rlaif.game.memory.memory_map import ROOM_ITEM, TILE_STRIDE, address, room_flags_page
from rlaif.game.memory.predicates import has_control

_TREASURES, _RUPEES = address("wObtainedTreasureFlags"), address("wNumRupees")
_TEXT_ID, _LAYOUT = address("wTextIndex"), address("wRoomLayout")
_GROUP, _ROOM = address("wActiveGroup"), address("wActiveRoom")
_SWITCHES = address("wSwitchState")
_TORCHES = address("wNumTorchesLit")
_CHEST = 0xF1
_FIRST_TEXT = 0x0400


@dataclass(frozen=True)
class Puzzle:
    """A room with a puzzle, and the conditions that mark it as solved.

    Attributes:
        chest: Row and column of the chest that appears; None without one.
        torches: Number of torches that must burn; 0 if not applicable.
        switch: The bit of the lever.
        gives_item: Whether the room's item flag also marks it as solved.
    """

    group: int
    room: int
    chest: tuple[int, int] | None = None
    torches: int = 0
    switch: int | None = None
    gives_item: bool = True


PUZZLES: Mapping[tuple[int, int], Puzzle] = MappingProxyType(
    {
        (puzzle.group, puzzle.room): puzzle
        for puzzle in (
            Puzzle(5, 0xC7, chest=(2, 4)),  # Ember Cave: four torches, a chest
            Puzzle(4, 0x1B, chest=(1, 4)),  # Button Room: two buttons, a chest
            Puzzle(4, 0x1D, switch=0, gives_item=False),  # Hop Hall: a lever; its chest is another
            Puzzle(4, 0x13, torches=4),  # Torch Hall: four torches, a key drops
        )
    }
)
"""(Group, room) → its puzzle."""


def is_settled(ram: RamBlocks, puzzle: Puzzle) -> bool:
    """Whether the puzzle is solved: chest or key appeared, lever on or item taken."""
    if puzzle.gives_item and item_taken(ram, puzzle):
        return True
    if puzzle.switch is not None:
        return ram.bit(_SWITCHES, puzzle.switch)
    if (ram.u8(_GROUP), ram.u8(_ROOM)) != (puzzle.group, puzzle.room):
        return False
    if puzzle.chest is not None:
        row, column = puzzle.chest
        return ram.u8(_LAYOUT + row * TILE_STRIDE + column) == _CHEST
    return ram.u8(_TORCHES) >= puzzle.torches


def item_taken(ram: RamBlocks, puzzle: Puzzle) -> bool:
    """Whether the room's item was taken."""
    return bool(ram.u8(room_flags_page(puzzle.group) + puzzle.room) & ROOM_ITEM)


@dataclass(frozen=True)
class Offer:
    """A text that sells an item: its treasure and price, and whether the quest needs it."""

    treasure: int
    price: int
    needed: bool


OFFERS: Mapping[int, Offer] = MappingProxyType(
    {
        34: Offer(0x01, 20, needed=True),  # the shield
        35: Offer(0x03, 15, needed=True),  # bombs
        36: Offer(0x20, 10, needed=False),  # ember seeds: bushes drop them, too
    }
)
"""Text → its offer, from the tables of the cartridge (data/rooms.c); needs are the guide's."""


@dataclass(frozen=True)
class TextToResolve:
    """An open text and its initial conditions.

    Attributes:
        coins: Coins of the player.
        buys: Treasure that it sells, the quest needs and the player can afford, if any.
        asks: Whether it sells something for coins.
    """

    coins: int
    buys: int | None
    asks: bool


def text_to_resolve(ram: RamBlocks) -> TextToResolve:
    """Return the conditions for resolving the open text."""
    coins = bcd16(ram.u16(_RUPEES))
    offer = OFFERS.get(ram.u16(_TEXT_ID) - _FIRST_TEXT)
    wanted = (
        offer is not None
        and offer.needed
        and coins >= offer.price
        and not ram.bit(_TREASURES, offer.treasure)
    )
    buys = offer.treasure if offer is not None and wanted else None
    return TextToResolve(coins, buys, offer is not None)


def is_read(ram: RamBlocks, text: TextToResolve) -> bool:
    """Whether the text has ended and exactly what the quest needs was bought."""
    if not has_control(ram):
        return False
    if text.buys is not None:
        return ram.bit(_TREASURES, text.buys)
    return not text.asks or bcd16(ram.u16(_RUPEES)) >= text.coins
