"""Keys of a terminal: bytes in, buttons that are down out.

A terminal tells of presses and repeats, never of releases. So a press counts for some frames, and a
key that repeats counts on for as long as it repeats.
"""

from rlaif.game.play.screens import Command

TAP_FRAMES = 8
"""A single press of a direction walks so many pixels: half a tile."""

BUTTON_FRAMES = 4
REPEAT_FRAMES = 9
"""Keyboards repeat 25 to 30 times a second, every second frame; some terminals are slower."""

REPEAT_WITHIN = 40
"""Frames after a press in which the same key is a repeat: the usual delay is 250 to 500 ms."""

_DIRECTIONS = frozenset({"up", "down", "left", "right"})
_BUTTONS = {
    b"\x1b[A": "up", b"\x1b[B": "down", b"\x1b[C": "right", b"\x1b[D": "left",
    b"\x1bOA": "up", b"\x1bOB": "down", b"\x1bOC": "right", b"\x1bOD": "left",
    b"w": "up", b"s": "down", b"d": "right", b"a": "left",
    b"z": "a", b"x": "b", b"\r": "start", b"\n": "start", b"\t": "select", b" ": "a",
}  # fmt: skip
_COMMANDS = {
    b"\x1b[15~": Command.SAVE, b"5": Command.SAVE,
    b"\x1b[19~": Command.LOAD, b"8": Command.LOAD,
    b"p": Command.PAUSE, b"q": Command.QUIT, b"\x03": Command.QUIT,
}  # fmt: skip
_ESCAPE = b"\x1b"


def split_keys(data: bytes) -> tuple[list[bytes], bytes]:
    """Cut what was read into keys; the second part is an escape sequence that is not whole yet."""
    keys: list[bytes] = []
    at = 0
    while at < len(data):
        if data[at : at + 1] != _ESCAPE:
            keys.append(data[at : at + 1])
            at += 1
            continue
        end = _end_of_sequence(data, at)
        if end is None:
            return keys, data[at:]
        keys.append(data[at:end])
        at = end
    return keys, b""


def _end_of_sequence(data: bytes, start: int) -> int | None:
    if start + 1 >= len(data):
        return None
    if data[start + 1 : start + 2] not in (b"[", b"O"):
        return start + 1  # the Escape key alone
    for at in range(start + 2, len(data)):
        if 0x40 <= data[at] <= 0x7E:
            return at + 1
    return None


class TerminalKeys:
    """Turns keys into buttons, frame by frame."""

    def __init__(self) -> None:
        self._left: dict[str, int] = {}
        self._pressed_at: dict[str, int] = {}
        self._frame = 0
        self._rest = b""

    def frame(self, data: bytes) -> tuple[frozenset[str], list[Command]]:
        """Read what came since the last frame.

        Returns:
            The buttons that are down in this frame, and commands.
        """
        self._frame += 1
        keys, self._rest = split_keys(self._rest + data)
        commands = []
        for key in keys:
            if (button := _BUTTONS.get(key.lower())) or (button := _BUTTONS.get(key)):
                self._press(button)
            elif command := _COMMANDS.get(key.lower(), _COMMANDS.get(key)):
                commands.append(command)
        held = frozenset(self._left)
        self._left = {name: left - 1 for name, left in self._left.items() if left > 1}
        return held, commands

    def _press(self, button: str) -> None:
        repeated = self._frame - self._pressed_at.get(button, -REPEAT_WITHIN) < REPEAT_WITHIN
        self._pressed_at[button] = self._frame
        if button not in _DIRECTIONS:
            self._left[button] = BUTTON_FRAMES
            return
        for other in _DIRECTIONS - {button}:
            self._left.pop(other, None)
        self._left[button] = REPEAT_FRAMES if repeated else TAP_FRAMES
