"""Manual play, frame by frame, with saving and loading of states."""

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.rates import EXACT_FRAMES_PER_SECOND
from rlaif.files.whole import write_whole
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.machine.emulator import Emulator, SaveStateError
from rlaif.game.play.window import HELP, Command, WindowScreen
from rlaif.game.starts.savestates import load_state_file, write_origin

Held = frozenset[str]
"""Names of pressed buttons: up, down, left, right, a, b, start, select."""

_LATE = 0.25
"""Maximum lag in seconds that the loop catches up."""


class PlayedEmulator(Emulator):
    """An emulator for manual play: any combination of buttons, frame by frame."""

    def __init__(self, rom: bytes, *, sound_emulated: bool = False) -> None:
        super().__init__(rom, sound_emulated=sound_emulated)
        self._sounds = sound_emulated
        self._down: Held = frozenset()

    def frame(self, held: Held, *, render: bool = False) -> None:
        for button in sorted(self._down - held):
            self._pyboy.button_release(button)
        for button in sorted(held - self._down):
            self._pyboy.button_press(button)
        self._down = held
        self._pyboy.tick(1, render, self._sounds)

    @property
    def sample_rate(self) -> int:
        return int(self._pyboy.sound.sample_rate)

    def samples(self) -> npt.NDArray[np.int8]:
        """The sound of the last frame, `[n, 2]` int8, left and right; `n` is 0 without sound."""
        if not self._sounds:
            return np.zeros((0, 2), dtype=np.int8)
        heard: npt.NDArray[np.int8] = self._pyboy.sound.ndarray.copy()
        return heard

    def load_state(self, state: bytes) -> None:
        super().load_state(state)
        self._down = frozenset()


class Session:
    """Play from power-on or from a save state, with saving and loading."""

    def __init__(
        self, emulator: PlayedEmulator, cartridge: Cartridge, state_file: Path | None = None
    ) -> None:
        self.emulator = emulator
        self._cartridge = cartridge
        self.frames = 0
        if state_file:
            load_state_file(emulator, cartridge, state_file)

    def play(self, held: Held, *, render: bool = True) -> npt.NDArray[np.uint8]:
        """Play one frame; returns the last drawn picture, `[144, 160, 3]` uint8."""
        self.emulator.frame(held, render=render)
        self.frames += 1
        return self.emulator.screen()

    def save(self, path: Path) -> None:
        """Write a save state, and next to it the game that it belongs to."""
        state = self.emulator.save_state()
        write_whole(path, state)
        game = self._cartridge
        write_origin(path, state, title=game.title, rom_sha256=game.sha256)

    def load(self, path: Path) -> None:
        """Resume from a save state.

        Raises:
            SaveStateError: The file is not a state of this game; the current play is unchanged.
        """
        here = self.emulator.save_state()
        try:
            load_state_file(self.emulator, self._cartridge, path)
        except SaveStateError:
            self.emulator.load_state(here)
            raise


class FramePace:
    """Limits the speed to that of the console times a factor; 0: unlimited."""

    def __init__(
        self,
        speed: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._frame = 1 / (EXACT_FRAMES_PER_SECOND * speed) if speed else 0.0
        self._clock, self._sleep = clock, sleep
        self._due = clock()

    def wait(self) -> None:
        if not self._frame:
            return
        self._due += self._frame
        early = self._due - self._clock()
        if early > 0:
            self._sleep(early)
        elif early < -_LATE:
            self._due = self._clock()


def play(
    session: Session, screen: WindowScreen, pace: FramePace, state_file: Path, frames: int = 0
) -> None:
    """Play until the player quits, or for a number of frames (0: unlimited)."""
    paused = muted = False
    for _ in range(frames) if frames else count():
        held, commands = screen.poll()
        for command in commands:
            if command is Command.QUIT:
                return
            if command is Command.PAUSE:
                paused = not paused
                screen.say("paused: P resumes" if paused else HELP)
            elif command is Command.MUTE:
                muted = not muted
                screen.say("muted: M unmutes" if muted else HELP)
            else:
                screen.say(_carried_out(command, session, state_file))
        if not paused:
            screen.show(session.play(held))
            if not muted:
                _hear(session, screen)
        pace.wait()


def _hear(session: Session, screen: WindowScreen) -> None:
    samples = session.emulator.samples()
    if len(samples):
        screen.hear(samples, session.emulator.sample_rate)


def _carried_out(command: Command, session: Session, state_file: Path) -> str:
    try:
        if command is Command.SAVE:
            session.save(state_file)
            return f"saved {state_file}"
        if not state_file.exists():
            return "nothing saved yet: press F5 to save"
        session.load(state_file)
        return f"loaded {state_file}"
    except (OSError, SaveStateError) as error:
        return str(error)
