"""One play by a person: what is held in each frame in, frames, saved states and a recording out."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.game.capture import pack_keyframe
from rlaif.game.emulator import PyBoyEmulator
from rlaif.game.play.recording import Inputs, Recording

Held = frozenset[str]
"""Names of the buttons that are down: up, down, left, right, a, b, start, select."""


class PlayedEmulator(PyBoyEmulator):
    """An emulator for hands: any buttons together, frame by frame."""

    def __init__(self, rom: bytes, *, sound_emulated: bool = False) -> None:
        """Boot a ROM; see `PyBoyEmulator`."""
        super().__init__(rom, sound_emulated=sound_emulated)
        self._down: Held = frozenset()

    def frame(self, held: Held, *, render: bool = False) -> None:
        """Play one frame with exactly these buttons down."""
        for button in sorted(self._down - held):
            self._pyboy.button_release(button)
        for button in sorted(held - self._down):
            self._pyboy.button_press(button)
        self._down = held
        self._pyboy.tick(1, render, False)

    def load_state(self, state: bytes) -> None:
        """Go to a saved state with no button down."""
        super().load_state(state)
        self._down = frozenset()


class Session:
    """A play that can be saved, loaded and recorded."""

    def __init__(
        self, emulator: PlayedEmulator, *, title: str, rom_sha256: str, state: bytes | None = None
    ) -> None:
        """Start from power-on, or from `state`.

        Raises:
            SaveStateError: The state is not one of this game.
        """
        self.emulator = emulator
        self._title, self._rom_sha256 = title, rom_sha256
        self.frames = 0
        self._begin(state)

    def _begin(self, state: bytes | None) -> None:
        if state is not None:
            self.emulator.load_state(state)
        self._start = state
        self._inputs = Inputs()

    def play(self, held: Held, *, render: bool = True) -> npt.NDArray[np.uint8]:
        """One frame; the picture `[144, 160, 3]` uint8, the last drawn one without `render`."""
        self.emulator.frame(held, render=render)
        self._inputs.add(held)
        self.frames += 1
        return self.emulator.screen()

    def save(self, path: Path) -> None:
        """Write a save state; `python -m rlaif.game inspect` reads it, too."""
        path.parent.mkdir(parents=True, exist_ok=True)
        partial = path.with_name(path.name + ".part")
        partial.write_bytes(self.emulator.save_state())
        partial.replace(path)

    def load(self, path: Path) -> None:
        """Go on from a save state; the recording starts anew there.

        Raises:
            OSError: The file cannot be read.
            SaveStateError: It is not a save state of this game.
        """
        self._begin(path.read_bytes())

    def recording(self) -> Recording:
        """What was played since power-on or since the last load."""
        return Recording(
            title=self._title,
            rom_sha256=self._rom_sha256,
            emulator=self.emulator.identity.model_dump(),
            start=None if self._start is None else pack_keyframe(self._start).data,
            inputs=self._inputs.runs,
            end_ram_sha256=self.emulator.ram_digest(),
        )
