"""States of Seedling Vale in which a planner is asked, reconstructed from short descriptions.

A state is stored as a frame of the walkthrough and the emulator steps after it, not as bytes: the
emulator replays it within a few tens of ms, and the digest verifies the result.
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
    """Replaying a stored state gives a different result: collect the states again."""


@dataclass(frozen=True)
class SavedMoment:
    """One state, and how to reach it.

    Attributes:
        name: Such as `puzzle-07 Ember Cave`.
        mode: Mode of the planner's request.
        frame: Frame of the walkthrough after which `presses` begin.
        presses: One digit per emulator step, as in a capture.
        digest: SHA-256 of the game's memory in the state.
        about: Description: the text, or the remaining task.
    """

    name: str
    mode: Literal["dialog", "puzzle"]
    frame: int
    presses: str
    digest: str
    about: str


def load_moments(path: Path) -> list[SavedMoment]:
    """Read the states of a file, in file order."""
    return [SavedMoment(**saved) for saved in json.loads(path.read_text(encoding="utf-8"))]


def states_of(
    emulator: Emulator, inputs: Path, moments: Sequence[SavedMoment]
) -> Iterator[tuple[SavedMoment, bytes]]:
    """Yield each state and its save state in walkthrough order; about 20 ms per state.

    Args:
        emulator: At power-on.
        inputs: `libs/game/cartridge/walkthrough.json`.
        moments: States in any order.

    Raises:
        ChangedMomentError: A state differs from the stored digest.
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
