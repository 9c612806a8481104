"""Minimizes the parts of trajectories on several cores."""

from collections.abc import Callable, Sequence
from functools import partial

from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.trainer.curriculum.minimization import Minimizer, WholePart
from rlaif.trainer.curriculum.player import Player
from rlaif.trainer.curriculum.trajectories import Part
from rlaif.trainer.spreading import spread

Minimized = dict[str, Part]
"""The result of each part, by its key."""

_Job = tuple[str, WholePart]


def minimize(
    parts: Sequence[WholePart],
    rom: bytes,
    *,
    sound: bool,
    processes: int,
    on_done: Callable[[int, int], None],
) -> Minimized:
    """Minimize parts in worker processes, equal ones once; with 0 processes, in this one.

    `on_done` is called after each part with the numbers of finished and of all parts.

    Raises:
        LostProcessError: A process ended early.
    """
    # The longest first, so that it does not start last and keep one process busy alone.
    jobs = sorted({each.key: each for each in parts}.items(), key=lambda job: -job[1].steps)
    found: Minimized = {}

    def note(done: tuple[str, Part]) -> None:
        key, part = done
        found[key] = part
        on_done(len(found), len(jobs))

    spread(partial(_minimize, rom, sound), jobs, processes, note)
    return found


def _minimize(
    rom: bytes, sound: bool, jobs: Sequence[_Job], on_done: Callable[[tuple[str, Part]], None]
) -> None:
    emulator = PyBoyEmulator(rom, sound_emulated=sound)
    try:
        minimizer = Minimizer(Player(emulator))
        for key, whole in jobs:
            on_done((key, minimizer.minimized(whole)))
    finally:
        emulator.close()
