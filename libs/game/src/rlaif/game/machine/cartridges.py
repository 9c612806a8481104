"""Reads, checks and identifies the cartridge before it is played.

Only this module reads and checks ROMs, for the trainer, the exporter, `make demo` and every
command.
"""

import hashlib
import re
from dataclasses import dataclass
from importlib import resources
from pathlib import Path

from rlaif.contracts.game.captures import GameIdentity
from rlaif.game.machine.rom_checks import (
    LARGEST_ROM_BYTES,
    CartridgeError,
    UnsupportedGameError,
    UnusableFileError,
    check_rom,
    oracle_header,
    read_bounded,
    rom_title,
)

ORACLE_OF_SEASONS_SHA1 = "ba1268290fb2b1b70505d2d7b5825fc8a4816a4b"
"""Oracle of Seasons (USA, Australia), No-Intro, 1,048,576 bytes."""

UNSUPPORTED_SHA1 = {
    "360b9408e569ba826212eac1ebea1b09573cb48c": "Oracle of Seasons (Europe)",
    "08bf49d7e225c695f64d38131cb720decb84b663": "Oracle of Seasons (Japan)",
    "880374fb978b18af4aa529e2e32f7ffb4d7dd2f4": "Oracle of Ages (USA)",
}
"""Games with another layout of RAM, for which every decoded number would be wrong."""

_SEASONS_TITLE, _SEASONS_US_CODE = "ZELDA DIN", "AZ7E"

Game = str
"""Name of a game: `seedling-vale`, `oracle-of-seasons`, a generated world such as `world-7-30`, or
`other` for unknown games."""

_WORLD_HEADER = re.compile(rb"W([0-9]{1,5})-([0-9]{2,3})\0+SDLV")
"""Title and maker in the header of a generated world."""

__all__ = ["Cartridge", "CartridgeError", "Game", "UnsupportedGameError", "load_cartridge"]


@dataclass(frozen=True)
class Cartridge:
    """A ROM that passed the checks."""

    path: Path  # for messages
    data: bytes
    sha256: str
    title: str
    is_oracle_of_seasons: bool  # the US one
    is_embedded: bool = False  # the game of this package
    is_modified: bool = False  # Oracle of Seasons (US) with changed bytes, accepted on request

    @property
    def game(self) -> Game:
        if self.is_embedded:
            return "seedling-vale"
        return "oracle-of-seasons" if self.is_oracle_of_seasons else _world(self.data) or "other"

    @property
    def needs_sound(self) -> bool:
        """Whether the sound chip must be emulated: the Oracle games wait for it in some warps."""
        return self.is_oracle_of_seasons or oracle_header(self.data) is not None

    @property
    def identity(self) -> GameIdentity:
        return GameIdentity(title=self.title, rom_sha256=self.sha256)


def load_cartridge(
    path: Path | None = None, *, allow_modified: bool = False, allow_unsupported: bool = False
) -> Cartridge:
    """Read and check a ROM; a few milliseconds.

    Args:
        path: The ROM file; None for the embedded game. `world-SEED-SIZE/world.gbc` in any folder
            is generated if it is missing.
        allow_modified: Also accept a randomizer or a hack of Oracle of Seasons (US). Its RAM is
            read with the original's memory map, which a hack may have changed.
        allow_unsupported: Also accept games that cannot be trained on, as `other`.

    Raises:
        UnsupportedGameError: It is a game that cannot be trained on.
        CartridgeError: It is missing, unreadable, truncated, damaged or cannot be run.
    """
    if path is not None and not path.exists():
        # Imported here, as it imports stories and guides, which play does not need.
        from rlaif.game.worlds.making import WORLD_FILE, provide

        try:
            if path.name == WORLD_FILE:
                provide(path.parent)
        except ValueError as error:
            raise CartridgeError(f"no ROM at {path}: {error}") from error
    where, data = _embedded() if path is None else (path, _read(path))
    check_rom(data, str(where))
    sha1 = hashlib.sha1(data, usedforsecurity=False).hexdigest()
    is_original = sha1 == ORACLE_OF_SEASONS_SHA1
    is_modified = False
    if not is_original:
        try:
            is_modified = _check_other(data, sha1, str(where), allow_modified)
        except UnsupportedGameError:
            if not allow_unsupported:
                raise
    return Cartridge(
        path=where,
        data=data,
        sha256=hashlib.sha256(data).hexdigest(),
        title=_world(data) or rom_title(data),
        is_oracle_of_seasons=is_original or is_modified,
        is_embedded=path is None or data == _embedded()[1],
        is_modified=is_modified,
    )


def _check_other(data: bytes, sha1: str, name: str, allow_modified: bool) -> bool:
    """Reject unsupported Oracle games; returns True for an accepted modified one."""
    if wrong := UNSUPPORTED_SHA1.get(sha1):
        raise _another_game(name, wrong)
    header = oracle_header(data)
    if header is None:
        return False
    if header.title != _SEASONS_TITLE:
        raise _another_game(name, f"Oracle of Ages (game code {header.game_code})")
    if header.game_code != _SEASONS_US_CODE:
        raise _another_game(name, f"Oracle of Seasons of another region ({header.game_code})")
    if not allow_modified:
        raise UnsupportedGameError(
            f"{name} has the title of Oracle of Seasons (USA) but SHA-1 {sha1}, not "
            f"{ORACLE_OF_SEASONS_SHA1}: a randomizer, a hack or a bad copy. Use the original, or "
            "allow modified ROMs if its memory layout is known to be the same"
        )
    return True


def _world(data: bytes) -> str | None:
    found = _WORLD_HEADER.fullmatch(data[0x134:0x143])
    return None if found is None else f"world-{int(found[1])}-{int(found[2])}"


def _another_game(name: str, wrong: str) -> UnsupportedGameError:
    return UnsupportedGameError(
        f"{name} is {wrong}; its memory differs. Use Oracle of Seasons (USA), "
        f"SHA-1 {ORACLE_OF_SEASONS_SHA1}, or no ROM for the embedded game."
    )


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, LARGEST_ROM_BYTES, "a Game Boy ROM")
    except FileNotFoundError:
        raise CartridgeError(
            f"no ROM at {path}: correct the path, or omit it to play the embedded game"
        ) from None
    except UnusableFileError as error:
        raise CartridgeError(f"cannot read the ROM {path}: {error}") from error


def _embedded() -> tuple[Path, bytes]:
    folder = resources.files("rlaif.game") / "roms"
    found = [entry for entry in folder.iterdir() if entry.name.endswith(".gbc")]
    if len(found) != 1:
        raise CartridgeError(
            f"the package holds {len(found)} embedded games, expected one: install rlaif-game again"
        )
    return Path(str(found[0])), found[0].read_bytes()
