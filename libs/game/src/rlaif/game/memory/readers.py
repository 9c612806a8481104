"""Read a symbol by its encoding: bytes in, the value that they stand for out.

`decode` and the typed readers are for tools and tests; what runs every step (`encoder`, `state`)
reads addresses directly.
"""

from collections.abc import Callable
from typing import NamedTuple

from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, bcd, bcd16
from rlaif.game.memory.entities import ANGLES
from rlaif.game.memory.memory_map import symbol
from rlaif.game.memory.symbols import Encoding, Symbol

DIRECTIONS = ("up", "right", "down", "left")

_HIGH_RAM = 0xFF80
_BANKED = 0xD000
_NUMBERS = frozenset({"u8", "s8", "u16", "u32", "bcd8", "bcd16"})
_SETS = frozenset({"bits", "set"})


class Tile(NamedTuple):
    """A tile of 16 by 16 pixels of the room, counted from its top left corner."""

    column: int
    row: int


Value = int | str | bytes | frozenset[int] | tuple[int, ...] | Tile | None
"""int: numbers and angles. str: directions and texts. frozenset: numbers of the set bits. tuple:
pointers. bytes: one byte each. None: a direction or angle that points nowhere."""


def raw(source: RamBlocks | Emulator, place: Symbol) -> bytes:
    """The bytes of a symbol, from its own bank; ValueError when the blocks do not hold it."""
    if not isinstance(source, RamBlocks):
        return _from_emulator(source, place)
    if place.address >= _HIGH_RAM or place.bank > 2:
        raise ValueError(
            f"{place.name} is in bank {place.bank} at 0x{place.address:04X}, which the copied "
            "blocks do not hold: read it from the emulator"
        )
    if place.bank == 2:
        return source.dungeon_layout
    return source.block(place.address, place.size)


def read(source: RamBlocks | Emulator, name: str) -> Value:
    """The value of the symbol of this name; KeyError when there is none."""
    place = symbol(name)
    return decode(place, raw(source, place))


def number(source: RamBlocks | Emulator, name: str) -> int:
    """The value of a symbol that is a number, BCD or binary; TypeError when it is none."""
    place = _checked(name, _NUMBERS, "a number")
    value = decode(place, raw(source, place))
    assert isinstance(value, int)  # every encoding of _NUMBERS gives one
    return value


def members(source: RamBlocks | Emulator, name: str) -> frozenset[int]:
    """The numbers in a symbol that is a set of bits; TypeError when it is none."""
    place = _checked(name, _SETS, "a set")
    return _bits(raw(source, place))


def decode(place: Symbol, data: bytes) -> Value:
    """What the bytes of a symbol stand for; ValueError unless they are as many as it has."""
    if len(data) != place.size:
        raise ValueError(f"{place.name} has {place.size} bytes, got {len(data)}")
    return _DECODERS[place.encoding](data)


def _from_emulator(emulator: Emulator, place: Symbol) -> bytes:
    start, stop = place.address, place.address + place.size
    if start < _BANKED or start >= _HIGH_RAM:
        return emulator.read(start, stop)
    # Always by bank: unbanked, 0xD000 shows whichever bank the game has selected at this moment.
    if emulator.has_banks:
        return emulator.read_bank(place.bank, start, stop)
    return emulator.read(start, stop) if place.bank == 1 else bytes(place.size)


def _checked(name: str, encodings: frozenset[str], what: str) -> Symbol:
    place = symbol(name)
    if place.encoding not in encodings:
        raise TypeError(f"{name} is {place.encoding}, not {what}: use read()")
    return place


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
    "direction": lambda data: DIRECTIONS[data[0]] if data[0] < len(DIRECTIONS) else None,
    "angle": lambda data: data[0] if data[0] < ANGLES else None,
    "tile": lambda data: Tile(data[0] & 0x0F, data[0] >> 4),
    "pointers": _pointers,
    "bytes": bytes,
}
