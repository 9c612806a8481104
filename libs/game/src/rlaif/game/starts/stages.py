"""Stages of a start: screen by screen, what to press and when it is over.

The buttons follow from the screen that the RAM shows, not from counted frames. Every screen has a
time limit; the error names the screen.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass

from rlaif.game.machine.actions import Action
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks

PRESS_FRAMES = 8
"""A button is down for so many frames, and up for as many before the next look."""


class NoStartError(Exception):
    """The game stayed on a screen; the message says on which and for how long."""


@dataclass(frozen=True)
class BootStage:
    """One screen, or several alike, on the way into a game."""

    screen: str  # for messages
    is_over: Callable[[RamBlocks], bool]
    press: Callable[[RamBlocks], Action]  # what to press now; NOP waits
    frames: int  # at most
    steady: int = 0  # frames without a button after which `is_over` must still hold


def play_stages(emulator: Emulator, stages: Sequence[BootStage]) -> None:
    """Play one stage after the other; NoStartError when one took longer than it may."""
    for stage in stages:
        for _ in range(stage.frames // (2 * PRESS_FRAMES)):
            if _is_left(emulator, stage):
                break
            emulator.step(stage.press(read_blocks(emulator)), PRESS_FRAMES)
            emulator.step(Action.NOP, PRESS_FRAMES)
        else:
            if not _is_left(emulator, stage):
                raise NoStartError(f"after {stage.frames} frames it still shows {stage.screen}")


def _is_left(emulator: Emulator, stage: BootStage) -> bool:
    """Whether the stage is over now, and still is after its steady frames."""
    if not stage.is_over(read_blocks(emulator)):
        return False
    for _ in range(stage.steady // PRESS_FRAMES):
        emulator.tick(PRESS_FRAMES)
        if not stage.is_over(read_blocks(emulator)):
            return False
    return True
