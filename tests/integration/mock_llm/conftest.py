"""What the real game shows along its walkthrough, looked at once a decision step."""

import json
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt
import pytest

from rlaif.contracts.game.items import NAMED_ITEMS
from rlaif.contracts.judging.evidence import Moment
from rlaif.game.description.describe import describe
from rlaif.game.description.words import words_of
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge, load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.state import GameState, decode
from rlaif.game.motion.terrain import terrain_of
from rlaif.game.stories.milestones import MilestoneLatch
from rlaif.game.stories.story_lookup import story_of

CARTRIDGE = Path(__file__).parents[3] / "libs/game/cartridge"
LOOK_EVERY = 4
"""Frames between two looks: a decision step of the trainer."""


@dataclass(frozen=True)
class Look:
    """One state of the game: its description for a judge, and the cartridge's memory.

    Attributes:
        described: The description of the state, as the exporter writes it.
        reached: Milestones reached since the last look.
        collisions: `[8, 10]` uint8, the collision byte of each tile of the room.
    """

    moment: Moment
    described: dict[str, Any]
    control: bool
    scrolling: bool
    game_over: bool
    lever: bool
    no_enemies: bool
    reached: tuple[str, ...]
    collisions: npt.NDArray[np.uint8]


@pytest.fixture(scope="session")
def walkthrough() -> list[Look]:
    """The whole walkthrough from power-on, about six seconds."""
    steps = json.loads((CARTRIDGE / "walkthrough.json").read_text())["steps"]
    return list(_looks(load_cartridge(), steps))


@pytest.fixture(scope="session")
def looks_along() -> Callable[[Cartridge, Iterable[tuple[str, int]]], Iterator[Look]]:
    """`_looks` for any cartridge."""
    return _looks


@pytest.fixture(scope="session")
def cartridge_folder() -> Path:
    return CARTRIDGE


def _looks(cartridge: Cartridge, steps: Iterable[tuple[str, int]]) -> Iterator[Look]:
    """What is seen while these buttons are held for so many frames from power-on."""
    emulator = Emulator(cartridge.data)
    words = words_of(cartridge.game, cartridge.data)
    story = story_of(cartridge.game, cartridge.data)
    latch = MilestoneLatch(story, read_blocks(emulator))
    frame = 0
    for button, frames in steps:
        for _ in range(frames):
            emulator.step(Action[button], 1)
            frame += 1
            if frame % LOOK_EVERY:
                continue
            ram = read_blocks(emulator)
            state = decode(ram)
            if not state.running or state.room == 0:
                continue  # the title, and the new game that is not on the screen yet
            terrain = terrain_of(ram)
            yield Look(
                moment=_moment(state),
                described=describe(state, words),
                control=state.has_control,
                scrolling=state.scrolling,
                game_over=ram.u8(address("wGameOverScreenTrigger")) != 0,
                lever=state.switches != 0,
                no_enemies=state.enemies_left == 0,
                reached=tuple(step.name for step in latch.update(ram)),
                collisions=terrain.collisions[:8, :10].copy(),
            )
    emulator.close()


def _moment(state: GameState) -> Moment:
    return Moment(
        room=f"{state.group}/{state.room}",
        at=(state.x, state.y),
        rupees=state.rupees,
        keys=state.keys,
        boss_key=state.boss_key,
        essences=state.essences.bit_count(),
        season=state.season,
        items=tuple(name for name, bit in NAMED_ITEMS.items() if state.owns(bit)),
    )
