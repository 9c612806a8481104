"""Shortens the parts of ways on several cores."""

from collections.abc import Callable, Sequence
from functools import partial

from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.curriculum.lineages import Part
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.curriculum.shortening import Shortener, WholePart
from rlaif.trainer.spreading import spread

Shortened = dict[str, Part]
"""What became of each part, by its key."""

_Job = tuple[str, WholePart]


def shorten(
    parts: Sequence[WholePart],
    rom: bytes,
    *,
    sound: bool,
    processes: int,
    tell: Callable[[int, int], None],
) -> Shortened:
    """Shorten parts, of which those that are alike are shortened once; 0 processes: in this one.

    `tell` is called with how many are done, and of how many, as each one is.

    Raises:
        LostProcessError: A process ended early.
    """
    # The longest first, or one process is left with it at the end.
    jobs = sorted({each.key: each for each in parts}.items(), key=lambda job: -job[1].steps)
    found: Shortened = {}

    def note(done: tuple[str, Part]) -> None:
        key, part = done
        found[key] = part
        tell(len(found), len(jobs))

    spread(partial(_shorten, rom, sound), jobs, processes, note)
    return found


def _shorten(
    rom: bytes, sound: bool, jobs: Sequence[_Job], tell: Callable[[tuple[str, Part]], None]
) -> None:
    emulator = PyBoyEmulator(rom, sound_emulated=sound)
    try:
        shortener = Shortener(Player(emulator))
        for key, whole in jobs:
            tell((key, shortener.shortened(whole)))
    finally:
        emulator.close()
