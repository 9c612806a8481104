"""The walkthrough of Seedling Vale, in the form of exported segments.

For tests of judges, mock LLM and models on play that is known to be good.
"""

import json
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

from rlaif.contracts.game.segments import StateRecord
from rlaif.game.description.describe import describe
from rlaif.game.description.words import GameWords, words_of
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator, new_emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.state import decode

FRAME_SKIP, STEPS = 4, 75
"""Frames per emulator step, and emulator steps per segment."""


@dataclass(frozen=True)
class Look:
    """The game after one emulator step.

    Attributes:
        frame: Frames since power-on.
        action: Buttons held in its last frame.
        state: Its description, as in a line of states.jsonl.
        observation: `[128]` float32 in [0, 1].
    """

    frame: int
    action: str
    state: dict[str, Any]
    observation: npt.NDArray[np.float32]


def walkthrough(inputs: Path) -> Iterator[Look]:
    """Play the inputs from power-on and record from the start of play; takes seconds.

    Args:
        inputs: `libs/game/cartridge/walkthrough.json`.
    """
    cartridge = load_cartridge()
    words = words_of(cartridge.game, cartridge.data)
    emulator = new_emulator(cartridge)
    try:
        for frame, action in enumerate(pressed(inputs), start=1):
            emulator.step(action, 1)
            if frame % FRAME_SKIP:
                continue
            seen = look(emulator, frame, action, words)
            if seen.state.get("running", True):
                yield seen
    finally:
        emulator.close()


def look(emulator: Emulator, frame: int, action: Action, words: GameWords) -> Look:
    """The current state of the game after `frame` frames, with `action` held."""
    ram = read_blocks(emulator)
    described = json.loads(json.dumps(describe(decode(ram), words)))
    return Look(frame, action.name, described, encode(ram))


def records(looks: Sequence[Look]) -> list[StateRecord]:
    """The lines of states.jsonl of a segment of these states, at least one."""
    before = looks[0].frame - FRAME_SKIP
    return [
        StateRecord(step=at, frame=look.frame - before, action=look.action, state=look.state)
        for at, look in enumerate(looks)
    ]


def segments(looks: Sequence[Look], *, steps: int = STEPS) -> list[Sequence[Look]]:
    """Split the states into consecutive complete segments."""
    return [looks[at : at + steps] for at in range(0, len(looks) - steps + 1, steps)]


def pressed(inputs: Path) -> Iterator[Action]:
    """Buttons held in each frame."""
    for button, frames in json.loads(inputs.read_text(encoding="utf-8"))["steps"]:
        yield from [Action[button]] * frames
