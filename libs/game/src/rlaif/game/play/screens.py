"""What a play is shown on and controlled with: the port of the window, and of tests' scripts."""

from enum import Enum
from typing import Protocol

import numpy as np
import numpy.typing as npt

HELP = (
    "arrows/WASD walk, Z/X are A/B, Enter START, Tab SELECT, F5 save, F8 load, P pause, M mute, "
    "Q quit"
)


class Command(Enum):
    """What a player asks for beside the buttons."""

    QUIT = "quit"
    SAVE = "save"
    LOAD = "load"
    PAUSE = "pause"
    MUTE = "mute"


class ScreenError(Exception):
    """There is nothing to play on; the message says what to do."""


class PlayScreen(Protocol):
    """Shows pictures, plays sound and reads keys."""

    def poll(self) -> tuple[frozenset[str], list[Command]]:
        """The buttons that are down in the coming frame, and the commands since the last call."""
        ...

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        """Show `[144, 160, 3]` uint8 RGB."""
        ...

    def hear(self, samples: npt.NDArray[np.int8], rate: int) -> None:
        """Play `[n, 2]` int8 samples, left and right, `rate` a second, where there is a speaker."""
        ...

    def say(self, text: str) -> None:
        """Show a line of text."""
        ...

    def close(self) -> None:
        """Give back what was opened."""
        ...
