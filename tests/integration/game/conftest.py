"""The committed walkthrough of the embedded game, played once for all tests that look at it."""

import json
from dataclasses import dataclass, field
from pathlib import Path

import numpy as np
import pytest

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.game.description.describe import describe
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.state import decode
from rlaif.game.stories.milestones import MilestoneLatch
from rlaif.game.stories.story_lookup import story_of

CARTRIDGE = Path(__file__).parents[3] / "libs/game/cartridge"
LOOK_EVERY = 4
"""Frames between two looks: a decision step of the trainer."""


@dataclass
class Walked:
    """What was seen on the way.

    Attributes:
        latch: The milestones.
        reached: Milestone names in the order in which they were reached.
        low: Least value of each observation slot, `[128]`.
        high: Greatest value of each slot, `[128]`.
        rooms: (group, room) in the order of the first visit.
        seasons: Seasons seen in play.
        game_overs: How often the game-over screen came up.
        controlled_after: Control came back after the last game-over screen.
        longest_description: Characters of the longest JSON that `describe` gave.
        ram: RAM at the end.
    """

    latch: MilestoneLatch
    ram: RamBlocks
    reached: list[str] = field(default_factory=list)
    low: np.ndarray = field(default_factory=lambda: np.full(OBSERVATION_SIZE, np.inf))
    high: np.ndarray = field(default_factory=lambda: np.full(OBSERVATION_SIZE, -np.inf))
    rooms: list[tuple[int, int]] = field(default_factory=list)
    seasons: set[str | None] = field(default_factory=set)
    game_overs: int = 0
    controlled_after: bool = False
    longest_description: int = 0
    _was_over: bool = False

    def look(self, ram: RamBlocks) -> None:
        self.ram = ram
        self.reached += [milestone.name for milestone in self.latch.update(ram)]
        seen = encode(ram)
        self.low = np.minimum(self.low, seen)
        self.high = np.maximum(self.high, seen)
        state = decode(ram)
        if not state.running:
            return
        told = json.dumps(describe(state), separators=(",", ":"))
        self.longest_description = max(self.longest_description, len(told))
        self._look_for_game_over(ram, control=state.has_control)
        if state.has_control:
            self.seasons.add(state.season)
            if (state.group, state.room) not in self.rooms:
                self.rooms.append((state.group, state.room))

    def _look_for_game_over(self, ram: RamBlocks, *, control: bool) -> None:
        is_over = ram.u8(address("wGameOverScreenTrigger")) != 0
        self.game_overs += is_over and not self._was_over
        self.controlled_after = control or (self.controlled_after and not is_over)
        self._was_over = is_over


@pytest.fixture(scope="session")
def walked() -> Walked:
    """The whole walkthrough from power-on, about six seconds."""
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    start = read_blocks(emulator)
    seen = Walked(MilestoneLatch(story_of(cartridge.game), start), start)
    frame = 0
    for button, frames in json.loads((CARTRIDGE / "walkthrough.json").read_text())["steps"]:
        for _ in range(frames):
            emulator.step(Action[button], 1)
            frame += 1
            if frame % LOOK_EVERY == 0:
                seen.look(read_blocks(emulator))
    seen.look(read_blocks(emulator))
    emulator.close()
    return seen


@pytest.fixture(scope="session")
def cartridge_folder() -> Path:
    """Sources and tools of the embedded game."""
    return CARTRIDGE
