"""The committed walkthrough of the embedded game, played once for all tests that look at it."""

import json
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import TypeAdapter

from rlaif.contracts.game.observation import OBSERVATION_SIZE
from rlaif.contracts.planning.plans import Macro
from rlaif.game.decisions.catalog import DECISIONS, Arm
from rlaif.game.decisions.mask import allowed
from rlaif.game.decisions.playing import carry_out
from rlaif.game.description.describe import describe
from rlaif.game.encoder.reference import encode
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import is_dying, is_running, is_text
from rlaif.game.memory.state import decode
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import MacroOutcome, PlanExecutor
from rlaif.game.skills.script import Choice, Option, OptionLimits
from rlaif.game.stories.milestones import MilestoneLatch
from rlaif.game.stories.story_lookup import story_of
from rlaif.testing.data.read_ram import (
    BOMBS,
    BRACELET,
    FEATHER,
    FLIPPERS,
    GNARLED_KEY,
    ROD,
    SATCHEL,
    SWORD,
    WINTER,
    in_room,
    keys,
    owns,
    season,
)
from rlaif.testing.data.walkthrough import FRAME_SKIP, pressed

CARTRIDGE = Path(__file__).parents[3] / "libs/game/cartridge"
LOOK_EVERY = 4
"""Frames between two looks: a decision step of the trainer."""

MOMENTS: dict[str, Callable[[RamBlocks], bool]] = {
    "village": lambda ram: in_room(ram, 0, 0x77),
    "village, with the blade": lambda ram: in_room(ram, 0, 0x77) and owns(ram, SWORD),
    "house, with the blade": lambda ram: in_room(ram, 3, 0x10) and owns(ram, SWORD),
    "meadow": lambda ram: in_room(ram, 0, 0x76) and owns(ram, SWORD),
    "death": lambda ram: is_running(ram) and is_dying(ram),
    "orchard": lambda ram: in_room(ram, 0, 0x66) and owns(ram, SWORD),
    "shop": lambda ram: in_room(ram, 3, 0x11),
    "field": lambda ram: in_room(ram, 0, 0x78) and owns(ram, BOMBS),
    "stair": lambda ram: in_room(ram, 0, 0x68) and owns(ram, BOMBS),
    "quarry cave": lambda ram: in_room(ram, 5, 0xA1),
    "hut": lambda ram: in_room(ram, 3, 0x12),
    "lane": lambda ram: in_room(ram, 0, 0x87) and owns(ram, BRACELET),
    "shrine": lambda ram: in_room(ram, 0, 0x86) and owns(ram, ROD),
    "windy cave": lambda ram: in_room(ram, 5, 0xB4) and owns(ram, FEATHER),
    "orchard in winter": lambda ram: in_room(ram, 0, 0x66) and season(ram) == WINTER,
    "dry hollow": lambda ram: in_room(ram, 0, 0x88) and owns(ram, SATCHEL),
    "ember cave": lambda ram: in_room(ram, 5, 0xC7),
    "lake": lambda ram: in_room(ram, 0, 0x79) and owns(ram, FLIPPERS),
    "root gate": lambda ram: in_room(ram, 0, 0x59) and owns(ram, GNARLED_KEY),
    "button room": lambda ram: in_room(ram, 4, 0x1B),
    "root cave, with a key": lambda ram: in_room(ram, 4, 0x1C) and keys(ram) == 1,
    "hop hall": lambda ram: in_room(ram, 4, 0x1D),
    "torch hall": lambda ram: in_room(ram, 4, 0x13),
    "vault": lambda ram: in_room(ram, 4, 0x15),
    "cross hall, with the thorn key": lambda ram: (
        in_room(ram, 4, 0x14) and ram.u8(address("wDungeonBossKeys")) == 2
    ),
    "seed hall": lambda ram: in_room(ram, 4, 0x04),
}
"""Moments of the walkthrough, in its order."""


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
        reported = json.dumps(describe(state), separators=(",", ":"))
        self.longest_description = max(self.longest_description, len(reported))
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


class Play:
    """The embedded game from a moment of the walkthrough; records what was pressed."""

    def __init__(self, moments: dict[str, bytes]) -> None:
        self._moments = moments
        self.moments = tuple(moments)
        self.emulator = Emulator(load_cartridge().data)
        self.frame_skip = FRAME_SKIP
        self.pressed: list[int] = []
        self.saw_text = False

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self.emulator)

    def at(self, moment: str) -> "Play":
        self.emulator.load_state(self._moments[moment])
        self.pressed, self.saw_text = [], False
        return self

    def until_over(self, option: Option) -> Choice:
        """Press the option's buttons until it is over."""
        while not (choice := option.next(self.ram)).over:
            assert choice.action in list(Action)
            self.pressed.append(choice.action)
            self.emulator.step(choice.action, self.frame_skip)
            self.saw_text |= is_text(self.ram)
        return choice

    def decide(self, number: int, *arms: Arm) -> str:
        """Play a decision that is possible in all these action sets; its end, in words."""
        for arm in arms:
            assert allowed(self.ram, arm)[number], f"{DECISIONS[number].name} is not in {arm} now"
        choice = self.until_over(carry_out(number, self.ram, graph=RoomGraph()))
        return f"{DECISIONS[number].name}: {choice.status} {choice.reason}"

    def plan(
        self, *macros: dict[str, Any], limits: OptionLimits | None = None
    ) -> tuple[MacroOutcome, ...]:
        read = [TypeAdapter[Macro](Macro).validate_python(macro) for macro in macros]
        executor = PlanExecutor(read, graph=RoomGraph(), limits=limits)
        self.until_over(executor)
        return executor.finished


@pytest.fixture(scope="session")
def moments() -> dict[str, bytes]:
    """Save states of the walkthrough by the name of the moment."""
    emulator = Emulator(load_cartridge().data)
    waiting, found = dict(MOMENTS), {}
    for frame, action in enumerate(pressed(CARTRIDGE / "walkthrough.json"), start=1):
        emulator.step(action, 1)
        if waiting and frame % FRAME_SKIP == 0:
            ram = read_blocks(emulator)
            for name in [name for name, is_now in waiting.items() if is_now(ram)]:
                found[name] = emulator.save_state()
                del waiting[name]
    emulator.close()
    assert not waiting
    return found


@pytest.fixture
def play(moments: dict[str, bytes]) -> Iterator[Play]:
    playing = Play(moments)
    yield playing
    playing.emulator.close()


@pytest.fixture
def cartridge_program(cartridge_folder: Path) -> Callable[..., str]:
    """Runs a program of the cartridge's folder, which must succeed; gives its output."""

    def run(script: str, *options: str) -> str:
        if script == "build.py" and shutil.which("sdcc") is None:
            pytest.skip("sdcc is not installed: on Debian, apt-get install sdcc")
        done = subprocess.run(
            [sys.executable, script, *options],
            cwd=cartridge_folder,
            capture_output=True,
            text=True,
            check=False,
        )
        assert done.returncode == 0, done.stdout + done.stderr
        return done.stdout

    return run
