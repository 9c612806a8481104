"""Moments of Seedling Vale in which a planner is asked: where they lie in, save states out.

A moment is kept as a frame of the walkthrough and the emulator steps that were pressed from there
on, not as bytes: the emulator plays it again in some hundredths of a second, and the digest says
whether it is the same moment still.
"""

import json
from collections import defaultdict
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

from rlaif.game.machine.actions import decode_actions
from rlaif.game.machine.emulator import Emulator
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed


class ChangedMomentError(Exception):
    """The game plays a kept moment otherwise than when it was kept: collect them again."""


@dataclass(frozen=True)
class SavedMoment:
    """One moment, and how to come there.

    Attributes:
        name: Such as `puzzle-07 Ember Cave`.
        mode: What the planner is asked about.
        frame: Frame of the walkthrough after which one's own presses begin.
        presses: A digit an emulator step, as in a capture.
        digest: SHA-256 of the game's memory at the moment.
        about: What is there, in words: the text, or what is left to do.
    """

    name: str
    mode: Literal["dialog", "puzzle"]
    frame: int
    presses: str
    digest: str
    about: str


def load_moments(path: Path) -> list[SavedMoment]:
    """The moments of a file, in its order."""
    return [SavedMoment(**told) for told in json.loads(path.read_text(encoding="utf-8"))]


def states_of(
    emulator: Emulator, inputs: Path, moments: Sequence[SavedMoment]
) -> Iterator[tuple[SavedMoment, bytes]]:
    """Each moment with its save state, in the order of the walkthrough; two seconds for a hundred.

    Args:
        emulator: At power-on.
        inputs: `libs/game/cartridge/walkthrough.json`.
        moments: Any.

    Raises:
        ChangedMomentError: One is not what it was.
    """
    at = defaultdict(list)
    for moment in moments:
        at[moment.frame].append(moment)
    for frame, action in enumerate(pressed(inputs), start=1):
        emulator.step(action, 1)
        if frame not in at:
            continue
        here = emulator.save_state()
        for moment in at[frame]:
            emulator.load_state(here)
            play(emulator, moment.presses)
            if emulator.ram_digest() != moment.digest:
                raise ChangedMomentError(f"{moment.name} is another moment than it was")
            yield moment, emulator.save_state()
        emulator.load_state(here)


def play(emulator: Emulator, presses: str) -> None:
    """Play emulator steps."""
    for action in decode_actions(presses):
        emulator.step(action, FRAME_SKIP)
