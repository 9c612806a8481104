"""Decouples a cartridge's clock from host time, so that a resumed state counts the same seconds.

PyBoy counts the clock (MBC3 with timer) in emulated cycles, but on loading a state it adds the host
time since the save, and all cycles since power-on once more. Both would make a replay differ from
the play. So a state is saved with an up-to-date clock and without host time, and loaded with the
clock stopped, which adds neither, and then started again.

A PyBoy state does not contain latched values that the game has not read yet; they are lost.
"""

import struct
from typing import Any

from rlaif.game.machine.rom_checks import CARTRIDGE_TYPE, RAM_SIZE_CODE

_TYPES_WITH_CLOCK = frozenset({0x0F, 0x10})
_RAM_BANKS = {0x03: 4, 0x04: 16, 0x05: 8}
_RAM_BANK_SIZE = 0x2000
_MBC_FIELDS = 4
"""Bytes before the cartridge RAM in a state: ROM bank, RAM bank, RAM enabled, memory model."""

_ENABLE, _SELECT, _LATCH, _WINDOW = 0x0000, 0x4000, 0x6000, 0xA000
_ENABLED, _DAY_HIGH, _NO_COMMAND = 0x0A, 0x0C, 0xFF

_FROM_END = 10_450
"""Offset from the end of a PyBoy state (version 29) to the clock. It contains: host
time (double), halt, carry, seconds, minutes, hours, day (2), halt, carry, cycles (8), host time."""

_HOST_TIMES, _HALTS = (0, 25), (8, 15)
_DAY_TOP, _HALT, _CARRY = 14, 15, 16

NO_HOST_TIME = 1e12
"""Replaces the host time in a state: far ahead, so that plain PyBoy adds nothing either."""


def has_clock(rom: bytes) -> bool:
    """Whether the cartridge has a clock."""
    return rom[CARTRIDGE_TYPE] in _TYPES_WITH_CLOCK


class RealTimeClock:
    """Controls the clock of one PyBoy whose cartridge has one."""

    def __init__(self, pyboy: Any, rom: bytes) -> None:
        self._pyboy, self._memory = pyboy, pyboy.memory
        self._ram_size = _RAM_BANKS.get(rom[RAM_SIZE_CODE], 1) * _RAM_BANK_SIZE
        self._counted_at: int | None = None

    def count(self) -> None:
        """Count the cycles since the game last accessed the clock; to be called before saving."""
        if self._counted_at != self._pyboy.frame_count:
            # At most once per frame: without a cycle in between PyBoy would count host time.
            self._memory[_LATCH] = _NO_COMMAND
            self._counted_at = self._pyboy.frame_count

    def without_host_time(self, state: bytes) -> bytes:
        """A state as saved by PyBoy, but without the host's time."""
        cleaned = bytearray(state)
        for offset in _HOST_TIMES:
            struct.pack_into("<d", cleaned, len(state) - _FROM_END + offset, NO_HOST_TIME)
        return bytes(cleaned)

    def stopped(self, state: bytes) -> bytes:
        stopped = bytearray(state)
        for offset in _HALTS:
            stopped[len(state) - _FROM_END + offset] = 1
        return bytes(stopped)

    def resume(self, state: bytes) -> None:
        """Start the clock if it runs in `state`; to be called after `stopped(state)` was loaded."""
        self._memory[_LATCH] = _NO_COMMAND
        clock = state[len(state) - _FROM_END :]
        mapper = state[len(state) - _FROM_END - self._ram_size - _MBC_FIELDS :]
        self._memory[_ENABLE] = _ENABLED
        self._memory[_SELECT] = _DAY_HIGH
        self._memory[_WINDOW] = clock[_DAY_TOP] & 1 | clock[_HALT] << 6 | clock[_CARRY] << 7
        self._memory[_SELECT] = mapper[1]
        self._memory[_ENABLE] = _ENABLED if mapper[2] else 0
        self._counted_at = self._pyboy.frame_count
