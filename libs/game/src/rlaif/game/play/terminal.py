"""Play in a terminal: half blocks in colour, keys from standard input without Enter."""

import os
import select
import shutil
import sys
import termios
import tty

import numpy as np
import numpy.typing as npt

from rlaif.game.play.screens import HELP, Command, ScreenError
from rlaif.game.play.terminal_keys import TerminalKeys
from rlaif.game.play.terminal_picture import (
    BACK_SCREEN,
    CLEAR,
    HIDE_CURSOR,
    OWN_SCREEN,
    SHOW_CURSOR,
    TerminalPicture,
    fitted,
)

SHOW_EVERY = 3
"""Frames between pictures: 20 a second, as much as terminals keep up with."""

_READ_BYTES = 1024
_TEXT_LINES = 2


class TerminalScreen:
    """A terminal, changed back when closed."""

    def __init__(self, *, true_colour: bool) -> None:
        """Take over the terminal.

        Raises:
            ScreenError: Standard input or output is no terminal.
        """
        if not (sys.stdin.isatty() and sys.stdout.isatty()):
            raise ScreenError(
                "no window and no terminal to play in: run it in a terminal, or set DISPLAY"
            )
        self._input, self._output = sys.stdin.fileno(), sys.stdout.fileno()
        self._before = termios.tcgetattr(self._input)
        tty.setcbreak(self._input)
        keys = termios.tcgetattr(self._input)
        keys[3] &= ~termios.ISIG  # Ctrl-C comes as a key, so that the terminal is given back
        termios.tcsetattr(self._input, termios.TCSADRAIN, keys)
        self._keys = TerminalKeys()
        self._picture = TerminalPicture(true_colour=true_colour)
        self._shown, self._said = 0, HELP
        self._size = (0, 0)
        self._write(OWN_SCREEN + HIDE_CURSOR)

    def poll(self) -> tuple[frozenset[str], list[Command]]:
        """Keys since the last frame."""
        data = b""
        while select.select([self._input], [], [], 0)[0]:
            part = os.read(self._input, _READ_BYTES)
            if not part:
                return frozenset(), [Command.QUIT]  # the terminal is gone
            data += part
        return self._keys.frame(data)

    def show(self, picture: npt.NDArray[np.uint8]) -> None:
        """Every third picture, where it changed."""
        self._shown += 1
        if self._shown % SHOW_EVERY != 1:
            return
        size = shutil.get_terminal_size()
        if (size.columns, size.lines) != self._size:
            self._size = (size.columns, size.lines)
            self._picture.forget()
            self._write(CLEAR)
            self.say(self._said)
        small = fitted(picture, size.columns, size.lines - _TEXT_LINES)
        self._write(self._picture.text(small))

    def hear(self, samples: npt.NDArray[np.int8], rate: int) -> None:
        """A terminal has no sound."""

    def say(self, text: str) -> None:
        """A line at the bottom."""
        self._said = text
        columns, lines = self._size
        if lines:
            self._write(f"\x1b[{lines};1H\x1b[2K{text[: columns - 1]}")

    def close(self) -> None:
        """Give the terminal back as it was."""
        self._write(SHOW_CURSOR + BACK_SCREEN)
        termios.tcsetattr(self._input, termios.TCSADRAIN, self._before)

    def _write(self, text: str) -> None:
        data = text.encode()
        while data:
            data = data[os.write(self._output, data) :]
