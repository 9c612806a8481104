"""Emulators that are lent to one replay at a time and used again.

Starting one takes far longer than loading a state into it.
"""

import contextlib
from collections import defaultdict
from collections.abc import Callable, Iterator

from rlaif.game.machine.emulator import Emulator


class EmulatorPool:
    """Lends emulators of one cartridge; makes one when none of the kind is free."""

    def __init__(self, start: Callable[[bool], Emulator]) -> None:
        """`start` makes an emulator; its argument says whether sound is emulated."""
        self._start = start
        self._free: defaultdict[bool, list[Emulator]] = defaultdict(list)

    @contextlib.contextmanager
    def lend(self, *, sound_emulated: bool) -> Iterator[Emulator]:
        """An emulator for one replay.

        One whose replay failed is not used again: its state may be half loaded.
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
        """Stop the emulators that are free."""
        for free in self._free.values():
            while free:
                free.pop().close()
