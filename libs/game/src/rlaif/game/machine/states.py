"""Saves and loads PyBoy states, with compiled code where the process has numba."""

import io
import logging
import sys
import threading
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from rlaif.game.machine.fast_states import FastStates

logger = logging.getLogger(__name__)


class States:
    """Saves and loads the states of all emulators of a process.

    The first state is saved both by PyBoy's own function and by `FastStates`. If the bytes are the
    same, `FastStates` saves and loads from then on. It needs numba, which takes 70 MB: a process
    that has not loaded it, such as a replay of the exporter, keeps PyBoy's functions.
    """

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._fast: FastStates | None = None
        self._was_tried = False

    def save(self, pyboy: Any, clean: Callable[[bytes], bytes] = bytes) -> bytes:
        """The state after `clean`, which removes bytes that differ each time."""
        with self._lock:
            if self._fast is not None:
                return clean(self._fast.save(pyboy))
            buffer = io.BytesIO()
            pyboy.save_state(buffer)
            state = clean(buffer.getvalue())
            if not self._was_tried and "numba" in sys.modules:
                self._was_tried = True
                self._fast = _fast_states(lambda fast: clean(fast.save(pyboy)) == state)
            return state

    def load(self, pyboy: Any, state: bytes) -> None:
        """Load a state; PyBoyException or ValueError if it is not of this game and PyBoy."""
        with self._lock:
            if self._fast is not None:
                self._fast.load(pyboy, state)
            else:
                pyboy.load_state(io.BytesIO(state))


def _fast_states(saves_the_same: "Callable[[FastStates], bool]") -> "FastStates | None":
    from rlaif.game.machine.fast_states import FastStates, UnknownPyBoyError

    try:
        fast = FastStates()
        if saves_the_same(fast):
            return fast
        reason = "compiled saving gives other bytes"
    except UnknownPyBoyError as error:
        reason = str(error)
    logger.warning("a save state takes 18 ms, not 0.4: %s", reason)
    return None
