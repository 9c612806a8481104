"""Checks whether a file is a complete ROM; errors identify the file in one sentence.

CartridgeError              missing, unreadable, truncated, damaged, or not supported
└── UnsupportedGameError    complete, but a game that cannot be trained on
"""

import stat
from pathlib import Path
from typing import NamedTuple

HEADER_END = 0x150
COLOUR_FLAG = 0x143
CARTRIDGE_TYPE, SIZE_CODE, RAM_SIZE_CODE, CHECKSUM = 0x147, 0x148, 0x149, 0x14D

_LOGO = slice(0x104, 0x10C)
_LOGO_START = bytes.fromhex("ceed6666cc0d000b")
_TITLE = slice(0x134, 0x143)
_CHECKED = slice(0x134, 0x14D)
_SMALLEST = 32 * 1024
_LARGEST_SIZE_CODE = 8
_BATTERY_SAVE_SIZES = (0x2000, 0x2030)
"""8 KiB of battery RAM, alone or with the clock that some emulators add."""

_ARCHIVES = {
    b"PK\x03\x04": "a ZIP archive",
    b"\x1f\x8b": "a gzip archive",
    b"7z\xbc\xaf": "a 7-Zip archive",
    b"Rar!": "a RAR archive",
}
_ORACLE_TITLE_LENGTH = 11

LARGEST_ROM_BYTES = _SMALLEST << _LARGEST_SIZE_CODE
"""8 MiB, size code 8."""

CARTRIDGE_TYPES = frozenset(
    {
        *(0x00, 0x08, 0x09),  # no mapper
        *(0x01, 0x02, 0x03),  # MBC1
        *(0x05, 0x06),  # MBC2
        *(0x0F, 0x10, 0x11, 0x12, 0x13),  # MBC3
        *(0x19, 0x1A, 0x1B, 0x1C, 0x1D, 0x1E),  # MBC5
    }
)
"""Byte 0x147 of the cartridges that PyBoy can run."""

RAM_SIZE_CODES = frozenset(range(6))
"""Byte 0x149 of the cartridges that PyBoy can run."""


class CartridgeError(ValueError):
    """The ROM cannot be used; the message has the reason and a remedy."""


class UnsupportedGameError(CartridgeError):
    """A complete ROM that can be played but not trained on: its memory layout differs."""


class OracleHeader(NamedTuple):
    """The header of one of the two Oracle games."""

    title: str  # ZELDA DIN for Seasons, ZELDA NAYRU for Ages
    game_code: str  # AZ7E is Seasons for the USA; the last letter is the region


def check_rom(data: bytes, name: str) -> None:
    """Raise CartridgeError unless this is a complete ROM that the emulator can run; 10 µs."""
    if not data:
        raise CartridgeError(f"{name} is empty: copy the ROM again")
    for start, what in _ARCHIVES.items():
        if data.startswith(start):
            raise CartridgeError(f"{name} is {what}: unpack it and give the .gbc file in it")
    if len(data) in _BATTERY_SAVE_SIZES:
        raise CartridgeError(
            f"{name} has {len(data)} bytes, the size of a battery save, too few for a ROM: "
            "give the .gbc file"
        )
    if len(data) < HEADER_END:
        raise CartridgeError(
            f"{name} has {len(data)} bytes, too few for a Game Boy ROM: give the .gbc or .gb file"
        )
    _check_header(data, name)
    code = data[SIZE_CODE]
    if code > _LARGEST_SIZE_CODE:
        raise CartridgeError(
            f"{name} has the unknown ROM size code 0x{code:02X} at 0x148: get a clean copy"
        )
    if len(data) != _SMALLEST << code:
        what = "cut off or trimmed" if len(data) < _SMALLEST << code else "padded"
        raise CartridgeError(
            f"{name} has {len(data)} bytes, its header says {_SMALLEST << code}: "
            f"the file is {what}; copy it again"
        )
    if data[CARTRIDGE_TYPE] not in CARTRIDGE_TYPES:
        raise CartridgeError(
            f"{name} is a cartridge of type 0x{data[CARTRIDGE_TYPE]:02X}, which PyBoy cannot run "
            "(it knows MBC1, 2, 3, 5 and none): give another ROM"
        )
    if data[RAM_SIZE_CODE] not in RAM_SIZE_CODES:
        raise CartridgeError(
            f"{name} has the unknown RAM size code 0x{data[RAM_SIZE_CODE]:02X} at 0x149: "
            "get a clean copy"
        )


def header_checksum(data: bytes | bytearray) -> int:
    """The checksum that the header of these bytes should have at 0x14D."""
    checksum = 0
    for byte in data[_CHECKED]:
        checksum = checksum - byte - 1 & 0xFF
    return checksum


def rom_title(data: bytes) -> str:
    """The title in the header, up to the first zero byte, printable characters only."""
    return _printable(data[_TITLE].split(b"\0")[0])


def oracle_header(data: bytes) -> OracleHeader | None:
    """Title and game code if the header is that of an Oracle game, else None."""
    title = data[_TITLE][:_ORACLE_TITLE_LENGTH].rstrip(b"\0")
    if title not in (b"ZELDA DIN", b"ZELDA NAYRU"):
        return None
    return OracleHeader(title.decode(), _printable(data[_TITLE][_ORACLE_TITLE_LENGTH:]))


def _check_header(data: bytes, name: str) -> None:
    computed = header_checksum(data)
    if computed == data[CHECKSUM]:
        return
    # Free games may omit the logo, so its absence alone is no evidence.
    what = "is damaged" if data[_LOGO] == _LOGO_START else "is not a Game Boy ROM"
    raise CartridgeError(
        f"{name} {what}: its header checksum is 0x{data[CHECKSUM]:02X}, computed "
        f"0x{computed:02X}; get a clean copy"
    )


def _printable(raw: bytes) -> str:
    return "".join(chr(byte) for byte in raw if 0x20 <= byte < 0x7F)


class UnusableFileError(Exception):
    """The file cannot be read; the message completes `cannot read the ROM /x: …`."""


def read_bounded(path: Path, largest: int, what: str) -> bytes:
    """Read a file of unknown kind, such as a device, an endless pipe, or 2 GB.

    A file of more than `largest` bytes is not read; `what` is its expected kind, for messages.

    Raises:
        FileNotFoundError: The file does not exist.
        UnusableFileError: It is not a plain file, too large, or cannot be read.
    """
    try:
        info = path.stat()
        if stat.S_ISDIR(info.st_mode):
            raise UnusableFileError("it is a folder; give the file in it")
        if not stat.S_ISREG(info.st_mode):
            raise UnusableFileError("it is a device, pipe or socket; give a plain file")
        if info.st_size > largest:
            raise UnusableFileError(
                f"it has {info.st_size} bytes, {what} has at most {largest}; give another file"
            )
        return path.read_bytes()
    except FileNotFoundError:
        raise
    except (OSError, ValueError) as error:
        reason = error.strerror if isinstance(error, OSError) else None
        raise UnusableFileError(reason or str(error)) from error
