"""Read any symbol of the memory map by its encoding; for tools, as it is slow."""

from collections.abc import Callable
from typing import NamedTuple

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import bcd, bcd16
from rlaif.game.memory.entities import ANGLES
from rlaif.game.memory.symbols import Encoding, Symbol

_DIRECTIONS = ("up", "right", "down", "left")
_HIGH_RAM = 0xFF80
_BANKED = 0xD000


class Tile(NamedTuple):
    """A tile of 16 by 16 pixels of the room, counted from its top left corner."""

    column: int
    row: int


Value = int | str | bytes | frozenset[int] | tuple[int, ...] | Tile | None
"""int: numbers and angles. str: directions and texts. frozenset: numbers of the set bits. tuple:
pointers. bytes: one byte each. None: a direction or angle that points nowhere."""


def raw(emulator: Emulator, place: Symbol) -> bytes:
    """The bytes of a symbol, from its own bank; zeros if the game has no such bank."""
    start, stop = place.address, place.address + place.size
    if start < _BANKED or start >= _HIGH_RAM:
        return emulator.read(start, stop)
    if place.bank > 1 and not emulator.has_banks:
        return bytes(place.size)
    # By bank: unbanked, 0xD000 shows whichever bank the game has selected.
    return emulator.read_bank(place.bank, start, stop)


def decode(place: Symbol, data: bytes) -> Value:
    """The value of a symbol's bytes; ValueError for another number of bytes."""
    if len(data) != place.size:
        raise ValueError(f"{place.name} has {place.size} bytes, got {len(data)}")
    return _DECODERS[place.encoding](data)


def _bits(data: bytes) -> frozenset[int]:
    whole = int.from_bytes(data, "little")
    return frozenset(bit for bit in range(8 * len(data)) if whole >> bit & 1)


def _text(data: bytes) -> str:
    return "".join(chr(byte) if 0x20 <= byte < 0x7F else "?" for byte in data.split(b"\0")[0])


def _unsigned(data: bytes) -> int:
    return int.from_bytes(data, "little")


def _pointers(data: bytes) -> tuple[int, ...]:
    found = zip(data[::2], data[1::2], strict=True)
    return tuple(low | high << 8 for low, high in found if low or high)


_DECODERS: dict[Encoding, Callable[[bytes], Value]] = {
    "u8": _unsigned,
    "u16": _unsigned,
    "u32": _unsigned,
    "s8": lambda data: int.from_bytes(data, "little", signed=True),
    "bcd8": lambda data: bcd(data[0]),
    "bcd16": lambda data: bcd16(_unsigned(data)),
    "bits": _bits,
    "set": _bits,
    "text": _text,
    "direction": lambda data: _DIRECTIONS[data[0]] if data[0] < len(_DIRECTIONS) else None,
    "angle": lambda data: data[0] if data[0] < ANGLES else None,
    "tile": lambda data: Tile(data[0] & 0x0F, data[0] >> 4),
    "pointers": _pointers,
    "bytes": bytes,
}
