"""Recorded inputs: what was held for how many frames, stored as JSON, and played again."""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any, Protocol

import zstandard

from rlaif.game.captures.capture import LARGEST_STATE_BYTES
from rlaif.game.machine.files import UnusableFileError, read_bounded

VERSION = 1
LARGEST_BYTES = 64 * 1024 * 1024
"""Of a file: hours of play have a few hundred kB."""

BUTTON_NAMES = ("up", "down", "left", "right", "a", "b", "start", "select")

Run = tuple[tuple[str, ...], int]
"""Buttons that are down and for how many frames."""


class RecordingError(ValueError):
    """Not a recording, one of another game, or its replay led to other RAM."""


class Player(Protocol):
    """What plays a recording: `rlaif.game.play.session.PlayedEmulator`."""

    def frame(self, held: frozenset[str], *, render: bool = False) -> None:
        """Play one frame with exactly these buttons down."""
        ...

    def load_state(self, state: bytes) -> None:
        """Go to a saved state."""
        ...

    def ram_digest(self) -> str:
        """SHA-256 of the memory in which a game keeps its state."""
        ...


class Inputs:
    """Collects inputs, frames with the same buttons together."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    @property
    def runs(self) -> tuple[Run, ...]:
        """All runs so far."""
        return tuple(self._runs)

    def add_frame(self, held: frozenset[str]) -> None:
        """One more frame."""
        buttons = tuple(name for name in BUTTON_NAMES if name in held)
        if self._runs and self._runs[-1][0] == buttons:
            self._runs[-1] = (buttons, self._runs[-1][1] + 1)
        else:
            self._runs.append((buttons, 1))


@dataclass(frozen=True)
class Recording:
    """A play from power-on or from a state."""

    title: str
    rom_sha256: str
    emulator: dict[str, Any]
    start: bytes | None  # the packed state it starts from, None from power-on
    inputs: tuple[Run, ...]
    end_ram_sha256: str  # after the last frame

    @property
    def frames(self) -> int:
        """Frames in all."""
        return sum(frames for _, frames in self.inputs)

    def held(self) -> Iterator[frozenset[str]]:
        """What is down, frame by frame."""
        for buttons, frames in self.inputs:
            yield from [frozenset(buttons)] * frames

    def prepare(self, player: Player, rom_sha256: str) -> None:
        """Bring a freshly booted player to the start; RecordingError on another ROM."""
        if self.rom_sha256 != rom_sha256:
            raise RecordingError(
                f"recorded on {self.title!r} ({self.rom_sha256[:12]}), this is "
                f"{rom_sha256[:12]}: give the ROM it was recorded on"
            )
        if self.start is not None:
            player.load_state(_unpacked(self.start))

    def check_end(self, player: Player) -> None:
        """Raise RecordingError when the replay led to other RAM."""
        found = player.ram_digest()
        if found != self.end_ram_sha256:
            raise RecordingError(
                f"after {self.frames} frames the RAM has digest {found}, recorded was "
                f"{self.end_ram_sha256}: another emulator version or sound setting"
            )

    def to_json(self) -> str:
        """As JSON; the state in it is base64."""
        start = None if self.start is None else base64.b64encode(self.start).decode()
        runs = [[list(buttons), frames] for buttons, frames in self.inputs]
        return (
            json.dumps({"version": VERSION, **asdict(self), "start": start, "inputs": runs}) + "\n"
        )

    @classmethod
    def read(cls, path: Path) -> "Recording":
        """The recording in a file; RecordingError when it holds something else."""
        try:
            return cls.from_json(read_bounded(path, LARGEST_BYTES, "a recording").decode())
        except FileNotFoundError:
            raise RecordingError(f"no recording at {path}: correct the path") from None
        except (UnusableFileError, UnicodeDecodeError) as error:
            raise RecordingError(f"cannot read the recording {path}: {error}") from error

    @classmethod
    def from_json(cls, text: str) -> "Recording":
        """What `to_json` wrote; RecordingError when it is something else."""
        try:
            stored = json.loads(text)
            if stored["version"] != VERSION:
                raise RecordingError(f"recording version {stored['version']}, expected {VERSION}")
            start = stored["start"]
            return cls(
                title=str(stored["title"]),
                rom_sha256=str(stored["rom_sha256"]),
                emulator=dict(stored["emulator"]),
                start=None if start is None else base64.b64decode(start, validate=True),
                inputs=tuple(_run(run) for run in stored["inputs"]),
                end_ram_sha256=str(stored["end_ram_sha256"]),
            )
        except RecordingError:
            raise
        except (KeyError, TypeError, ValueError, AttributeError, RecursionError) as error:
            raise RecordingError(f"not a recording: {error!r}") from error


def _run(stored: Any) -> Run:
    buttons, frames = stored
    if not set(buttons) <= set(BUTTON_NAMES) or not isinstance(frames, int) or frames < 1:
        raise RecordingError(f"not a run of inputs: {stored!r}")
    return tuple(buttons), frames


def _unpacked(start: bytes) -> bytes:
    try:
        size = zstandard.frame_content_size(start)
        if not 0 <= size <= LARGEST_STATE_BYTES:
            raise RecordingError(f"the start claims {size} bytes, at most {LARGEST_STATE_BYTES}")
        state: bytes = zstandard.ZstdDecompressor().decompress(start)
    except zstandard.ZstdError as error:
        raise RecordingError(f"the start is not readable: {error}") from error
    return state
