"""One play by a person: what is held in each frame in, frames, saved states and a recording out."""

from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.files.whole import write_whole
from rlaif.game.captures.capture import pack_keyframe
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import PyBoyEmulator, SaveStateError
from rlaif.game.play.recording import Inputs, Recording
from rlaif.game.starts.savestates import load_state_file
from rlaif.game.starts.state_origin import write_origin

Held = frozenset[str]
"""Names of the buttons that are down: up, down, left, right, a, b, start, select."""


class PlayedEmulator(PyBoyEmulator):
    """An emulator for hands: any buttons together, frame by frame."""

    def __init__(self, rom: bytes, *, sound_emulated: bool = False) -> None:
        super().__init__(rom, sound_emulated=sound_emulated)
        self._sounds = sound_emulated
        self._down: Held = frozenset()

    def frame(self, held: Held, *, render: bool = False) -> None:
        """Play one frame with exactly these buttons down."""
        for button in sorted(self._down - held):
            self._pyboy.button_release(button)
        for button in sorted(held - self._down):
            self._pyboy.button_press(button)
        self._down = held
        self._pyboy.tick(1, render, self._sounds)

    @property
    def sample_rate(self) -> int:
        """Samples a second that `samples` gives."""
        return int(self._pyboy.sound.sample_rate)

    def samples(self) -> npt.NDArray[np.int8]:
        """The sound of the last frame, `[n, 2]` int8, left and right; `n` is 0 without sound."""
        if not self._sounds:
            return np.zeros((0, 2), dtype=np.int8)
        heard: npt.NDArray[np.int8] = self._pyboy.sound.ndarray.copy()
        return heard

    def load_state(self, state: bytes) -> None:
        """Go to a saved state with no button down."""
        super().load_state(state)
        self._down = frozenset()


class Session:
    """A play from power-on or from a save state; it can be saved, loaded and recorded."""

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
        """One frame; the picture `[144, 160, 3]` uint8, the last drawn one without `render`."""
        self.emulator.frame(held, render=render)
        self._inputs.add_frame(held)
        self.frames += 1
        return self.emulator.screen()

    def save(self, path: Path) -> None:
        """Write a save state, and beside it of which game it is; `inspect` reads it, too."""
        state = self.emulator.save_state()
        write_whole(path, state)
        game = self._cartridge
        write_origin(path, state, title=game.title, rom_sha256=game.sha256)

    def load(self, path: Path) -> None:
        """Resume from a save state; the recording starts anew there.

        Raises:
            SaveStateError: The file cannot be read, or holds no state of this game; play stands
                where it stood.
        """
        here = self.emulator.save_state()
        try:
            state = load_state_file(self.emulator, self._cartridge, path)
        except SaveStateError:
            self.emulator.load_state(here)
            raise
        self._begin(state)

    def recording(self) -> Recording:
        """What was played since power-on or since the last load."""
        return Recording(
            title=self._cartridge.title,
            rom_sha256=self._cartridge.sha256,
            emulator=self.emulator.identity.model_dump(),
            start=None if self._start is None else pack_keyframe(self._start).data,
            inputs=self._inputs.runs,
            end_ram_sha256=self.emulator.ram_digest(),
        )
