"""Loads save-state files of the user and checks that they fit the game and the emulator.

The emulator rejects states of other PyBoy versions and colour modes, but not those of other games.
So `play` records the ROM of each saved state in a file next to it (`write_origin`). A state
without a record is of another game if its cartridge RAM has another size, or if it contains the
save-file string of another game. The message of WrongStateError has the reason.
"""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.model import Sha256
from rlaif.game.captures.capture import LARGEST_STATE_BYTES
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import STATE_VERSION, Emulator, SaveStateError
from rlaif.game.machine.rom_checks import (
    CHECKSUM,
    HEADER_END,
    UnusableFileError,
    header_checksum,
    read_bounded,
)
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import AGES_SAVEFILE_STRING, SAVEFILE_STRING, address

SMALLEST_STATE_BYTES = 100_000
"""Every PyBoy state contains its picture, 5 bytes for each of 160x144 pixels."""

_RAM_BANK = 8 * 1024


class StateOrigin(BaseModel):
    """The game of a save state."""

    model_config = ConfigDict(frozen=True)

    title: str
    rom_sha256: Sha256
    state_sha256: Sha256


def origin_path(state_file: Path) -> Path:
    """The path of a state's origin record."""
    return state_file.with_name(f"{state_file.name}.rom.json")


def write_origin(state_file: Path, state: bytes, *, title: str, rom_sha256: Sha256) -> None:
    """Record the game of a state."""
    origin = StateOrigin(
        title=title, rom_sha256=rom_sha256, state_sha256=hashlib.sha256(state).hexdigest()
    )
    origin_path(state_file).write_text(origin.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_origin(state_file: Path, state: bytes) -> StateOrigin | None:
    """The record of a state; None if there is none, or if it is of other bytes."""
    try:
        origin = StateOrigin.model_validate_json(origin_path(state_file).read_bytes())
    except (OSError, ValidationError):
        return None
    return origin if origin.state_sha256 == hashlib.sha256(state).hexdigest() else None


_SAVEFILE, _ORACLE = address("wSavefileString"), "oracle-of-seasons"


class WrongStateError(SaveStateError):
    """The state is of another game."""


def is_state(data: bytes) -> bool:
    """Whether a file is more likely a save state than a ROM."""
    if len(data) >= HEADER_END and header_checksum(data) == data[CHECKSUM]:
        return data[0] == STATE_VERSION and len(data) % _RAM_BANK != 0
    return len(data) >= SMALLEST_STATE_BYTES and len(data) % _RAM_BANK != 0


def load_state_file(emulator: Emulator, cartridge: Cartridge, path: Path) -> bytes:
    """Load a save-state file into an emulator that runs `cartridge`; returns the state.

    Raises:
        WrongStateError: Of another game.
        SaveStateError: The file cannot be read, or is no complete state of this PyBoy version.
    """
    state = _read(path)
    _check_origin(state, cartridge, path)
    load_checked(emulator, cartridge, state, str(path))
    return state


def load_checked(emulator: Emulator, cartridge: Cartridge, state: bytes, name: str) -> None:
    """Load a save state into an emulator that runs `cartridge` and check that it is of this game.

    After an error the emulator's state is undefined: load another. `name` is for messages.

    Raises:
        WrongStateError: Of another game.
        SaveStateError: It is no complete state of this PyBoy version and colour mode.
    """
    extra = len(state) - len(emulator.save_state())
    if extra and extra % _RAM_BANK == 0:
        raise WrongStateError(
            f"{name} is a state of another game: it has {abs(extra) // 1024} KiB "
            f"{'more' if extra > 0 else 'less'} cartridge RAM than {cartridge.title}"
        )
    try:
        emulator.load_state(state)
    except SaveStateError as error:
        raise SaveStateError(f"{name}: {error}") from error
    _check_game(emulator, cartridge, name)


def _check_game(emulator: Emulator, cartridge: Cartridge, name: str) -> None:
    """Raise WrongStateError if the memory contains the save-file string of another game."""
    found = read_blocks(emulator).block(_SAVEFILE, len(SAVEFILE_STRING))
    oracles = {
        SAVEFILE_STRING: "Oracle of Seasons or the embedded game",
        AGES_SAVEFILE_STRING: "Oracle of Ages",
    }
    # The string is in the ROM of the game that writes it.
    own = found in cartridge.data or (found, cartridge.game) == (SAVEFILE_STRING, _ORACLE)
    if found in oracles and not own:
        raise WrongStateError(
            f"{name} is a state of {oracles[found]}, not of {cartridge.title}: give the ROM that "
            "it was made with"
        )


def _read(path: Path) -> bytes:
    try:
        return read_bounded(path, LARGEST_STATE_BYTES, "a PyBoy state")
    except FileNotFoundError:
        raise SaveStateError(f"no save state at {path}: correct the path") from None
    except UnusableFileError as error:
        raise SaveStateError(f"cannot read the save state {path}: {error}") from error


def _check_origin(state: bytes, cartridge: Cartridge, path: Path) -> None:
    origin = read_origin(path, state)
    if origin is not None and origin.rom_sha256 != cartridge.sha256:
        raise WrongStateError(
            f"{path} is a state of another game: it was made with {origin.title} "
            f"({origin.rom_sha256[:12]}), this is {cartridge.title} ({cartridge.sha256[:12]}); "
            "give the ROM that it was made with"
        )
