"""Shortens several ways on several cores."""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial

from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.curriculum.lineages import Part
from rlaif.trainer.curriculum.looking_over import Walked
from rlaif.trainer.curriculum.playing import Player
from rlaif.trainer.curriculum.shortening import Shortener
from rlaif.trainer.search.marks import Marks
from rlaif.trainer.spreading import spread


@dataclass(frozen=True)
class ToShorten:
    """A way, by its number among others, with the marks that count."""

    number: int
    walked: Walked
    needed: Marks


Shortened = tuple[int, tuple[Part, ...]]
"""Number of a way, and its parts."""


def shorten(
    ways: Sequence[ToShorten],
    rom: bytes,
    *,
    sound: bool,
    processes: int,
    tell: Callable[[Shortened], None],
) -> None:
    """Shorten ways, each of which is told when it is done; 0 processes: in this one.

    Raises:
        LostProcessError: A process ended early.
    """
    spread(partial(_shorten, rom, sound), ways, processes, tell)


def _shorten(
    rom: bytes, sound: bool, ways: Sequence[ToShorten], tell: Callable[[Shortened], None]
) -> None:
    emulator = PyBoyEmulator(rom, sound_emulated=sound)
    try:
        shortener = Shortener(Player(emulator))
        for each in ways:
            tell((each.number, shortener.shortened(each.walked, each.needed)))
    finally:
        emulator.close()
