"""Where an episode starts: a given save state, or the game brought from power-on to play."""

from pathlib import Path

from rlaif.game.actions import Action
from rlaif.game.blocks import read_blocks
from rlaif.game.emulator import Emulator
from rlaif.game.predicates import has_control

_PRESS_FRAMES = 8
_BOOT_FRAMES_MAX = 6_000
"""100 seconds of game: longer than any boot screen, shorter than an intro."""


class NoStartError(Exception):
    """The game did not come to a point where the player can act."""


def initial_state(emulator: Emulator, path: Path | None) -> bytes:
    """The save state at which episodes start; the emulator is left in it.

    Without a path the game is started from power-on, START pressed now and then, until the player
    has control. The same ROM gives the same state.

    Raises:
        NoStartError: No control within 100 seconds of game: pass a save state.
        SaveStateError: The file is not a save state of this emulator version.
        OSError: The file cannot be read.
    """
    if path is not None:
        state = path.read_bytes()
        emulator.load_state(state)
        return state
    for _ in range(_BOOT_FRAMES_MAX // (2 * _PRESS_FRAMES)):
        emulator.step(Action.START, _PRESS_FRAMES)
        emulator.step(Action.NOP, _PRESS_FRAMES)
        if has_control(read_blocks(emulator)):
            emulator.tick(_PRESS_FRAMES)
            return emulator.save_state()
    raise NoStartError(
        f"the player had no control within {_BOOT_FRAMES_MAX} frames of power-on: make a save "
        "state in play and set TRAINER_INITIAL_STATE_PATH to it"
    )
