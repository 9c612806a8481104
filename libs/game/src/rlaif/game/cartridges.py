"""The cartridge: which game is played, checked before it is played.

CartridgeError    missing, unreadable, cut off, damaged, or a game that is not supported
"""

import hashlib
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rlaif.contracts.captures import GameIdentity

ORACLE_OF_SEASONS_SHA1 = "ba1268290fb2b1b70505d2d7b5825fc8a4816a4b"
"""Oracle of Seasons (USA, Australia), No-Intro."""

UNSUPPORTED_SHA1 = {
    "360b9408e569ba826212eac1ebea1b09573cb48c": "Oracle of Seasons (Europe)",
    "08bf49d7e225c695f64d38131cb720decb84b663": "Oracle of Seasons (Japan)",
    "880374fb978b18af4aa529e2e32f7ffb4d7dd2f4": "Oracle of Ages (USA)",
}
"""Games whose RAM is laid out otherwise, so that every number read would be wrong."""

_HEADER_END = 0x150
_LOGO = slice(0x104, 0x10C)
_LOGO_START = bytes.fromhex("ceed6666cc0d000b")
_TITLE = slice(0x134, 0x143)
_CHECKED = slice(0x134, 0x14D)
_CHECKSUM = 0x14D
_SIZE_CODE = 0x148
_SMALLEST = 32 * 1024
_LARGEST_SIZE_CODE = 8


class CartridgeError(ValueError):
    """The ROM cannot be used; the message says why and what to do."""


@dataclass(frozen=True)
class Cartridge:
    """A ROM that passed the checks.

    Attributes:
        path: Where it came from, for messages.
        data: Its bytes.
        sha256: Their digest, 64 hexadecimal digits.
        title: Title in its header.
        is_oracle_of_seasons: It is Oracle of Seasons (US), not the embedded game or another.
    """

    path: Path
    data: bytes
    sha256: str
    title: str
    is_oracle_of_seasons: bool

    @property
    def needs_sound(self) -> bool:
        """Whether the sound chip must be emulated: Oracle of Seasons waits for it in some warps."""
        return self.is_oracle_of_seasons

    @property
    def identity(self) -> GameIdentity:
        """What a capture stores of it."""
        return GameIdentity(title=self.title, rom_sha256=self.sha256)


def load_cartridge(path: Path | None = None) -> Cartridge:
    """Read and check a ROM.

    Args:
        path: The ROM file; None for the embedded game.

    Raises:
        CartridgeError: It is missing, unreadable, cut off, damaged or not supported.
    """
    where, data = _embedded() if path is None else (path, _read(path))
    check_rom(data, str(where))
    sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    if wrong := UNSUPPORTED_SHA1.get(sha1):
        raise CartridgeError(
            f"{where} is {wrong}; its memory differs. Use Oracle of Seasons (USA), "
            f"SHA-1 {ORACLE_OF_SEASONS_SHA1}, or no ROM for the embedded game."
        )
    return Cartridge(
        path=where,
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        title=rom_title(data),
        is_oracle_of_seasons=sha1 == ORACLE_OF_SEASONS_SHA1,
    )


def check_rom(data: bytes, name: str) -> None:
    """See that the bytes are a whole Game Boy ROM.

    Raises:
        CartridgeError: They are not.
    """
    if len(data) < _HEADER_END:
        raise CartridgeError(f"{name} has {len(data)} bytes, too few for a Game Boy ROM")
    checksum = 0
    for byte in data[_CHECKED]:
        checksum = checksum - byte - 1 & 0xFF
    if checksum != data[_CHECKSUM]:
        # Free games may leave the logo out, so its absence alone says nothing.
        what = "is damaged" if data[_LOGO] == _LOGO_START else "is not a Game Boy ROM"
        raise CartridgeError(
            f"{name} {what}: its header checksum is 0x{data[_CHECKSUM]:02X}, computed "
            f"0x{checksum:02X}; get a clean copy"
        )
    code = data[_SIZE_CODE]
    if code > _LARGEST_SIZE_CODE:
        raise CartridgeError(f"{name} has the unknown ROM size code 0x{code:02X} at 0x148")
    if len(data) != _SMALLEST << code:
        raise CartridgeError(
            f"{name} has {len(data)} bytes, its header says {_SMALLEST << code}: "
            "the file is cut off or padded; copy it again"
        )


def rom_title(data: bytes) -> str:
    """The title in the header, up to the first zero byte, printable characters only."""
    raw = data[_TITLE].split(b"\0")[0]
    return "".join(chr(byte) for byte in raw if 0x20 <= byte < 0x7F)


def _read(path: Path) -> bytes:
    try:
        return path.read_bytes()
    except FileNotFoundError:
        raise CartridgeError(
            f"no ROM at {path}: correct the path, or give none to play the embedded game"
        ) from None
    except OSError as error:
        raise CartridgeError(f"cannot read the ROM {path}: {error.strerror}") from error


def _embedded() -> tuple[Path, bytes]:
    folder = resources.files("rlaif.game") / "roms"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".gbc")]
    if len(found) != 1:
        raise CartridgeError(
            f"the package holds {len(found)} embedded games, expected one: install rlaif-game again"
        )
    return Path(str(found[0])), found[0].read_bytes()
