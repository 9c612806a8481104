"""The loop of manual play: keys, one frame, picture, 59.7 times per second."""

import time
from collections.abc import Callable
from itertools import count
from pathlib import Path

from rlaif.game.machine.emulator import SaveStateError
from rlaif.game.play.session import Session
from rlaif.game.play.window import HELP, Command, WindowScreen

FRAMES_PER_SECOND = 59.73
_LATE = 0.25
"""Maximum lag in seconds that the loop catches up."""


class FramePace:
    """Waits for the speed of the console times a factor; 0 never waits."""

    def __init__(
        self,
        speed: float,
        clock: Callable[[], float] = time.monotonic,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self._frame = 1 / (FRAMES_PER_SECOND * speed) if speed else 0.0
        self._clock, self._sleep = clock, sleep
        self._due = clock()

    def wait(self) -> None:
        """Wait until the next frame is due."""
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
