"""Manual play: buttons of each frame in; frames, save states and recorded inputs out."""

import base64
import json
from collections.abc import Iterator
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import zstandard

from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import LARGEST_STATE_BYTES, pack_keyframe
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator, SaveStateError
from rlaif.game.machine.files import UnusableFileError, read_bounded
from rlaif.game.starts.savestates import load_state_file, write_origin

Held = frozenset[str]
"""Names of pressed buttons: up, down, left, right, a, b, start, select."""


class PlayedEmulator(Emulator):
    """An emulator for manual play: any combination of buttons, frame by frame."""

    def __init__(self, rom: bytes, *, sound_emulated: bool = False) -> None:
        super().__init__(rom, sound_emulated=sound_emulated)
        self._sounds = sound_emulated
        self._down: Held = frozenset()

    def frame(self, held: Held, *, render: bool = False) -> None:
        """Play one frame with exactly these buttons pressed."""
        for button in sorted(self._down - held):
            self._pyboy.button_release(button)
        for button in sorted(held - self._down):
            self._pyboy.button_press(button)
        self._down = held
        self._pyboy.tick(1, render, self._sounds)

    @property
    def sample_rate(self) -> int:
        """Samples per second."""
        return int(self._pyboy.sound.sample_rate)

    def samples(self) -> npt.NDArray[np.int8]:
        """The sound of the last frame, `[n, 2]` int8, left and right; `n` is 0 without sound."""
        if not self._sounds:
            return np.zeros((0, 2), dtype=np.int8)
        heard: npt.NDArray[np.int8] = self._pyboy.sound.ndarray.copy()
        return heard

    def load_state(self, state: bytes) -> None:
        """Load a state and release all buttons."""
        super().load_state(state)
        self._down = frozenset()


VERSION = 1
LARGEST_BYTES = 64 * 1024 * 1024
"""Maximum size of a file; hours of play take a few hundred kB."""

BUTTON_NAMES = ("up", "down", "left", "right", "a", "b", "start", "select")

Run = tuple[tuple[str, ...], int]
"""Pressed buttons and the number of frames."""


class RecordingError(ValueError):
    """Not a recording, one of another game, or its replay led to other RAM."""


class Inputs:
    """Collects inputs; consecutive frames with the same buttons form one run."""

    def __init__(self) -> None:
        self._runs: list[Run] = []

    @property
    def runs(self) -> tuple[Run, ...]:
        return tuple(self._runs)

    def add_frame(self, held: frozenset[str]) -> None:
        buttons = tuple(name for name in BUTTON_NAMES if name in held)
        if self._runs and self._runs[-1][0] == buttons:
            self._runs[-1] = (buttons, self._runs[-1][1] + 1)
        else:
            self._runs.append((buttons, 1))


@dataclass(frozen=True)
class Recording:
    """Recorded inputs from power-on or from a state."""

    title: str
    rom_sha256: str
    emulator: dict[str, Any]
    start: bytes | None  # the packed state, None for power-on
    inputs: tuple[Run, ...]
    end_ram_sha256: str  # after the last frame

    @property
    def frames(self) -> int:
        return sum(frames for _, frames in self.inputs)

    def held(self) -> Iterator[frozenset[str]]:
        for buttons, frames in self.inputs:
            yield from [frozenset(buttons)] * frames

    def prepare(self, player: PlayedEmulator, rom_sha256: str) -> None:
        """Bring a freshly booted emulator to the start; RecordingError for another ROM."""
        if self.rom_sha256 != rom_sha256:
            raise RecordingError(
                f"recorded on {self.title!r} ({self.rom_sha256[:12]}), this is "
                f"{rom_sha256[:12]}: give the ROM it was recorded on"
            )
        if self.start is not None:
            player.load_state(_unpacked(self.start))

    def check_end(self, player: PlayedEmulator) -> None:
        """Raise RecordingError if the replay led to other RAM."""
        found = player.ram_digest()
        if found != self.end_ram_sha256:
            raise RecordingError(
                f"after {self.frames} frames the RAM has digest {found}, recorded was "
                f"{self.end_ram_sha256}: another emulator version or sound setting"
            )

    def to_json(self) -> str:
        start = None if self.start is None else base64.b64encode(self.start).decode()
        runs = [[list(buttons), frames] for buttons, frames in self.inputs]
        return (
            json.dumps({"version": VERSION, **asdict(self), "start": start, "inputs": runs}) + "\n"
        )

    @classmethod
    def read(cls, path: Path) -> "Recording":
        """Read a file; RecordingError for anything else than a recording."""
        try:
            return cls.from_json(read_bounded(path, LARGEST_BYTES, "a recording").decode())
        except FileNotFoundError:
            raise RecordingError(f"no recording at {path}: correct the path") from None
        except (UnusableFileError, UnicodeDecodeError) as error:
            raise RecordingError(f"cannot read the recording {path}: {error}") from error

    @classmethod
    def from_json(cls, text: str) -> "Recording":
        """Parse the output of `to_json`; RecordingError for anything else."""
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


class Session:
    """Play from power-on or from a save state, with saving, loading and recording."""

    def __init__(
        self, emulator: PlayedEmulator, cartridge: Cartridge, state_file: Path | None = None
    ) -> None:
        self.emulator = emulator
        self._cartridge = cartridge
        self.frames = 0
        self._begin(load_state_file(emulator, cartridge, state_file) if state_file else None)

    def _begin(self, state: bytes | None) -> None:
        self._start = state
        self._inputs = Inputs()

    def play(self, held: Held, *, render: bool = True) -> npt.NDArray[np.uint8]:
        """Play one frame; returns the last drawn picture, `[144, 160, 3]` uint8."""
        self.emulator.frame(held, render=render)
        self._inputs.add_frame(held)
        self.frames += 1
        return self.emulator.screen()

    def save(self, path: Path) -> None:
        """Write a save state, and next to it the game that it belongs to."""
        state = self.emulator.save_state()
        write_whole(path, state)
        game = self._cartridge
        write_origin(path, state, title=game.title, rom_sha256=game.sha256)

    def load(self, path: Path) -> None:
        """Resume from a save state and restart the recording there.

        Raises:
            SaveStateError: The file is not a state of this game; the current play is unchanged.
        """
        here = self.emulator.save_state()
        try:
            state = load_state_file(self.emulator, self._cartridge, path)
        except SaveStateError:
            self.emulator.load_state(here)
            raise
        self._begin(state)

    def recording(self) -> Recording:
        """The inputs since power-on or since the last load."""
        return Recording(
            title=self._cartridge.title,
            rom_sha256=self._cartridge.sha256,
            emulator=self.emulator.identity.model_dump(),
            start=None if self._start is None else pack_keyframe(self._start).data,
            inputs=self._inputs.runs,
            end_ram_sha256=self.emulator.ram_digest(),
        )
