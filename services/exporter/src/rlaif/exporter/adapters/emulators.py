"""Emulators that are lent to one replay at a time and used again.

Starting one takes far longer than loading a state into it.
"""

import contextlib
import threading
from collections.abc import Callable, Iterator

from rlaif.game.machine.emulator import Emulator


class EmulatorPool:
    """Lends emulators of one cartridge; makes one when none of the kind is free.

    There are never more than replays at once, which the worker bounds.

    Args:
        start: Starts an emulator; its argument says whether sound is emulated.
    """

    def __init__(self, start: Callable[[bool], Emulator]) -> None:
        self._start = start
        self._free: list[tuple[bool, Emulator]] = []
        self._lock = threading.Lock()

    @contextlib.contextmanager
    def lend(self, *, sound_emulated: bool) -> Iterator[Emulator]:
        """An emulator for one replay, for the calling thread alone.

        One whose replay failed is not used again: its state may be half loaded.
        """
        emulator = self._take(sound_emulated) or self._start(sound_emulated)
        try:
            yield emulator
        except BaseException:
            emulator.close()
            raise
        with self._lock:
            self._free.append((sound_emulated, emulator))

    def close(self) -> None:
        """Stop the emulators that are free."""
        with self._lock:
            free, self._free = self._free, []
        for _, emulator in free:
            emulator.close()

    def _take(self, sound_emulated: bool) -> Emulator | None:
        with self._lock:
            for place, (sound, emulator) in enumerate(self._free):
                if sound == sound_emulated:
                    del self._free[place]
                    return emulator
        return None
