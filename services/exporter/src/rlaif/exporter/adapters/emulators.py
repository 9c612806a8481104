"""Pool of emulators, each used by one replay at a time.

Starting one takes far longer than loading a state into it.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator

from rlaif.game.machine.emulator import Emulator


class EmulatorPool:
    """Lends emulators of one cartridge; starts one if none of the kind is free."""

    def __init__(self, start: Callable[[bool], Emulator]) -> None:
        """`start` creates an emulator; its argument selects sound emulation."""
        self._start = start
        self._free: defaultdict[bool, list[Emulator]] = defaultdict(list)

    @contextlib.contextmanager
    def lend(self, *, sound_emulated: bool) -> Iterator[Emulator]:
        """An emulator for one replay.

        After a failed replay it is discarded: its state may be partially loaded.
        """
        free = self._free[sound_emulated]
        emulator = free.pop() if free else self._start(sound_emulated)
        try:
            yield emulator
        except BaseException:
            emulator.close()
            raise
        free.append(emulator)

    def close(self) -> None:
        """Stop the idle emulators."""
        for free in self._free.values():
            while free:
                free.pop().close()
