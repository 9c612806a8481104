"""The RAM in which a game keeps its state: copied from the emulator, or in place."""

from collections.abc import Callable
from dataclasses import dataclass
from functools import wraps
from typing import TypeVar

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.emulator import WRAM_SIZE, WRAM_START, Emulator
from rlaif.game.memory.memory_map import address

_LAYOUT = address("w2DungeonLayout")
_LAYOUT_OFFSET = 2 * 0x1000 + (_LAYOUT & 0x0FFF)
"""Offset in the concatenation of all banks."""

DUNGEON_LAYOUT_SIZE = 256
_NO_LAYOUT = np.zeros(DUNGEON_LAYOUT_SIZE, dtype=np.uint8)

_T = TypeVar("_T")


@dataclass(frozen=True)
class RamBlocks:
    """A copy of the RAM in which the game keeps its state."""

    wram: bytes  # 0xC000-0xDFFF with bank 1 at 0xD000, 8,192 bytes
    dungeon_layout: bytes = bytes(DUNGEON_LAYOUT_SIZE)  # of bank 2; zeros without banks

    def __post_init__(self) -> None:
        """Reject blocks of another size, which would shift every address."""
        if len(self.wram) != WRAM_SIZE or len(self.dungeon_layout) != DUNGEON_LAYOUT_SIZE:
            raise ValueError(
                f"RAM blocks of {len(self.wram)} and {len(self.dungeon_layout)} bytes, "
                f"expected {WRAM_SIZE} and {DUNGEON_LAYOUT_SIZE}"
            )

    def u8(self, where: int) -> int:
        return self.wram[where - WRAM_START]

    def u16(self, where: int) -> int:
        return self.u8(where) | self.u8(where + 1) << 8

    def block(self, where: int, size: int) -> bytes:
        return self.wram[where - WRAM_START : where - WRAM_START + size]

    def bit(self, where: int, number: int) -> bool:
        return bool(self.u8(where + (number >> 3)) >> (number & 7) & 1)

    def array(self) -> npt.NDArray[np.uint8]:
        return np.frombuffer(self.wram, dtype=np.uint8)


def once_per_ram(read: Callable[[RamBlocks], _T]) -> Callable[[RamBlocks], _T]:
    """Cache the result of `read` in the RAM that it was read from; it must not be None."""
    name = f"{read.__module__}.{read.__qualname__}"

    @wraps(read)
    def reader(ram: RamBlocks) -> _T:
        kept = ram.__dict__
        found: _T | None = kept.get(name)
        if found is None:
            found = kept[name] = read(ram)
        return found

    return reader


def read_blocks(emulator: Emulator) -> RamBlocks:
    """Copy the RAM of an emulator; about 1 µs."""
    if not emulator.has_banks:
        return RamBlocks(emulator.wram())
    return _blocks(emulator.wram(), emulator.read_bank(2, _LAYOUT, _LAYOUT + DUNGEON_LAYOUT_SIZE))


def _blocks(wram: bytes, dungeon_layout: bytes) -> RamBlocks:
    ram = object.__new__(RamBlocks)  # skips the check of sizes, which takes as long as reading
    kept = ram.__dict__
    kept["wram"], kept["dungeon_layout"] = wram, dungeon_layout
    return ram


class LiveRam:
    """The RAM of an emulator in place, as read-only arrays for use on every step.

    Attributes:
        wram: As in `RamBlocks`, `[8192]` uint8.
        dungeon_layout: As in `RamBlocks`, `[256]` uint8.
    """

    def __init__(self, emulator: Emulator) -> None:
        self.wram = emulator.work_ram[:WRAM_SIZE]
        layout = emulator.work_ram[_LAYOUT_OFFSET : _LAYOUT_OFFSET + DUNGEON_LAYOUT_SIZE]
        self.dungeon_layout = layout if emulator.has_banks else _NO_LAYOUT
        self._bytes = self.wram.data, self.dungeon_layout.data

    def copy(self) -> RamBlocks:
        """A copy of the current content; 0.5 µs."""
        wram, layout = self._bytes
        return _blocks(wram.tobytes(), layout.tobytes())


def bcd(byte: int) -> int:
    """A BCD byte as a number: 0x25 is 25."""
    return (byte >> 4) * 10 + (byte & 0x0F)


def bcd16(word: int) -> int:
    """Two BCD bytes as a number: 0x0123 is 123."""
    return bcd(word >> 8) * 100 + bcd(word & 0xFF)
