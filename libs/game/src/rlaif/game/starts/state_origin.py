"""Of which game a save state is: a note beside the state, because PyBoy's states do not say it.

`play` writes `game.state.rom.json` beside `game.state`. It counts only for the very bytes that it
was written for, so a state that was replaced is not judged by the note of another.
"""

import hashlib
from pathlib import Path

from pydantic import BaseModel, ConfigDict, ValidationError

from rlaif.contracts.ids import Sha256


class StateOrigin(BaseModel):
    """The game that a save state was made with."""

    model_config = ConfigDict(frozen=True)

    title: str
    rom_sha256: Sha256
    state_sha256: Sha256


def origin_path(state_file: Path) -> Path:
    """Where the note of a state is."""
    return state_file.with_name(f"{state_file.name}.rom.json")


def write_origin(state_file: Path, state: bytes, *, title: str, rom_sha256: Sha256) -> None:
    """Note of which game a state is."""
    origin = StateOrigin(
        title=title, rom_sha256=rom_sha256, state_sha256=hashlib.sha256(state).hexdigest()
    )
    origin_path(state_file).write_text(origin.model_dump_json(indent=2) + "\n", encoding="utf-8")


def read_origin(state_file: Path, state: bytes) -> StateOrigin | None:
    """What is noted of a state; None when nothing is, or not of these bytes."""
    try:
        origin = StateOrigin.model_validate_json(origin_path(state_file).read_bytes())
    except (OSError, ValidationError):
        return None
    return origin if origin.state_sha256 == hashlib.sha256(state).hexdigest() else None
