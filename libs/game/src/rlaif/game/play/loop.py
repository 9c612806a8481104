"""The loop of a play: keys, one frame, picture, 59.7 times a second."""

import time
from collections.abc import Callable, Iterator
from itertools import count
from pathlib import Path

from rlaif.game.machine.emulator import SaveStateError
from rlaif.game.play.screens import HELP, Command, PlayScreen
from rlaif.game.play.session import Session

FRAMES_PER_SECOND = 59.73
_LATE = 0.25
"""Seconds behind after which the loop no longer tries to catch up."""


class FramePace:
    """Keeps to the speed of the console, or so many times it; 0 does not wait at all."""

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
    session: Session, screen: PlayScreen, pace: FramePace, state_file: Path, frames: int = 0
) -> None:
    """Play until the player quits, or for so many frames (0: without end)."""
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
                screen.say("no sound: M brings it back" if muted else HELP)
            else:
                screen.say(_carried_out(command, session, state_file))
        if not paused:
            screen.show(session.play(held))
            if not muted:
                _hear(session, screen)
        pace.wait()


def show_again(
    session: Session, screen: PlayScreen, pace: FramePace, held_by_frame: Iterator[frozenset[str]]
) -> bool:
    """Show recorded inputs; whether all of them were played, not stopped by the viewer."""
    for held in held_by_frame:
        _, commands = screen.poll()
        if Command.QUIT in commands:
            return False
        screen.show(session.play(held))
        _hear(session, screen)
        pace.wait()
    return True


def _hear(session: Session, screen: PlayScreen) -> None:
    samples = session.emulator.samples()
    if len(samples):
        screen.hear(samples, session.emulator.sample_rate)


def _carried_out(command: Command, session: Session, state_file: Path) -> str:
    try:
        if command is Command.SAVE:
            session.save(state_file)
            return f"saved {state_file}"
        if not state_file.exists():
            return "nothing saved yet: F5 saves"
        session.load(state_file)
        return f"loaded {state_file}"
    except (OSError, SaveStateError) as error:
        return str(error)
