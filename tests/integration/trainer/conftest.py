"""The built-in game from states of its walkthrough, played by scripts and paid by all presets."""

import json
from collections import Counter
from collections.abc import Callable, Generator, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_menu, is_puzzle_state, is_text
from rlaif.game.motion.grid import TilePlace
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.things import things
from rlaif.game.skills.walk import go_to, leave, stand_before, stand_on
from rlaif.game.stories.milestones import MilestoneLatch
from rlaif.game.stories.story_lookup import story_of
from rlaif.testing.data.walkthrough import pressed
from rlaif.trainer.play.game_env import GameEnv
from rlaif.trainer.play.start import Start, StartSet
from rlaif.trainer.rewards.game.ledger import EpisodeRewards
from rlaif.trainer.rewards.game.presets import PARTS, RewardPreset, preset
from rlaif.trainer.settings.game import GameSettings

WALKTHROUGH = Path(__file__).parents[3] / "libs/game/cartridge/walkthrough.json"
FRAME_SKIP = 4
PATIENCE = 400
"""Decision steps that one deed may take."""

PRESETS: tuple[RewardPreset, ...] = ("seed", "default", "judges", "novelty")

CHAPTERS = (
    "sword", "shield", "shovel", "bombs", "quarry_open", "bracelet", "rod_of_seasons", "feather",
    "seed_satchel", "flippers", "gnarled_key", "dungeon_entered", "small_key", "second_key",
    "boss_key", "heart_container", "essence",
)  # fmt: skip
"""Milestones by which moments of the walkthrough are named."""


@dataclass(frozen=True)
class Moment:
    """A point of the walkthrough: the state there and the frames of input since the one before."""

    state: bytes
    inputs: tuple[int, ...]


@pytest.fixture(scope="module")
def ray_here() -> Iterator[None]:
    """Ray on this machine, with room for a learner and two runners."""
    import ray  # seconds that most tests here have no use for

    ray.init(
        address="local",
        num_cpus=3,
        include_dashboard=False,
        log_to_driver=False,
        logging_level="ERROR",
    )
    yield
    ray.shutdown()


@pytest.fixture(scope="session")
def puzzle_state() -> bytes:
    """The first moment of the walkthrough in a room with something to solve."""
    emulator = Emulator(load_cartridge().data)
    frames = iter(pressed(WALKTHROUGH))
    while not is_puzzle_state(read_blocks(emulator)):
        emulator.step(next(frames), 1)
    state = emulator.save_state()
    emulator.close()
    return state


@pytest.fixture
def puzzle(puzzle_state: bytes) -> StartSet:
    """Episodes that start there."""
    return StartSet([Start.of(puzzle_state, "puzzle")])


@pytest.fixture(scope="session")
def moments() -> dict[str, Moment]:
    """Last chapter and room, such as `sword@0:77` → the first moment there with control."""
    return _moments()


def _moments() -> dict[str, Moment]:
    cartridge = load_cartridge()
    emulator = Emulator(cartridge.data)
    latch = MilestoneLatch(story_of(cartridge.game), read_blocks(emulator))
    found: dict[str, Moment] = {}
    last = "start"
    since: list[int] = []
    for button, frames in json.loads(WALKTHROUGH.read_text())["steps"]:
        for _ in range(frames):
            emulator.step(Action[button], 1)
        since += [int(Action[button])] * frames
        ram = read_blocks(emulator)
        for milestone in latch.update(ram):
            last = milestone.name if milestone.name in CHAPTERS else last
        group, room = ram.u8(address("wActiveGroup")), ram.u8(address("wActiveRoom"))
        name = f"{last}@{group}:{room:02X}"
        if name not in found and has_control(ram):
            found[name] = Moment(emulator.save_state(), tuple(since))
            since = []
    emulator.close()
    return found


class Player:
    """Plays the game by script, with the ledgers of all presets.

    Attributes:
        game: The environment; a death does not end it here.
        payments: Preset → part → how often it paid above 0.
        paid_for_old_squares: Payments of a square that had been walked before: there must be none.
        rows: Observations of the episode so far.
        died: Whether the player was dead after each step.
    """

    def __init__(self, start: bytes) -> None:
        settings = GameSettings(actions="seed", noop_start=0, walk_start=0, longest_wait_frames=0)
        given = StartSet([Start.of(start, "walkthrough")])
        self.game = GameEnv(settings, np.random.default_rng(0), starts=given)
        self.row = np.zeros(128, dtype=np.float32)
        self.game.reset(self.row)
        self.rows, self.died = [self.row.copy()], [False]
        self.ledgers: dict[str, EpisodeRewards] = {
            name: EpisodeRewards(preset(name)) for name in PRESETS
        }
        for ledger in self.ledgers.values():
            ledger.begin(self.game.facts)
        self.payments: dict[str, Counter[str]] = {name: Counter() for name in PRESETS}
        self.walked = {self.game.facts.square_index}
        self.paid_for_old_squares = 0
        self.graph = RoomGraph()

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self.game.emulator)

    @property
    def room(self) -> tuple[int, int]:
        facts = self.game.facts
        return facts.group, facts.room

    def byte(self, name: str, offset: int = 0) -> int:
        return self.ram.u8(address(name) + offset)

    def press(self, action: Action, steps: int = 1) -> None:
        for _ in range(steps):
            self.game.emulator.step(action, FRAME_SKIP)
            self._judge(action)

    def replay(self, inputs: Sequence[int]) -> None:
        """Play the walkthrough's frames, paid every four of them."""
        for at in range(0, len(inputs), FRAME_SKIP):
            for action in inputs[at : at + FRAME_SKIP]:
                self.game.emulator.step(action, 1)
            self._judge(Action(inputs[at]))

    def load(self, state: bytes) -> None:
        """Go to another state in the middle of the episode."""
        self.game.emulator.load_state(state)
        self._judge(Action.NOP)

    def settle(self) -> None:
        """Wait, and read on, until the player obeys again."""
        for _ in range(PATIENCE):
            if has_control(self.ram):
                return
            text = is_text(self.ram)
            self.press(Action.A if text else Action.NOP)
            self.press(Action.NOP)
        raise AssertionError(f"no control in room {self.room}")

    def beside(self, row: int, column: int) -> None:
        self._play(stand_before(self.ram, TilePlace(row, column)))

    def stand(self, row: int, column: int) -> None:
        """Stand in the middle of a tile."""
        x, y = column * 16 + 8, row * 16 + 8
        self._play(stand_on(self.ram, TilePlace(row, column)))
        for _ in range(PATIENCE):
            off_x, off_y = x - self.game.facts.x, y - self.game.facts.y
            if not off_x and not off_y:
                return
            if off_x:
                action = Action.RIGHT if off_x > 0 else Action.LEFT
            else:
                action = Action.DOWN if off_y > 0 else Action.UP
            self.game.emulator.step(action, 1)
            self._judge(action)
        raise AssertionError(f"did not come to the middle of row {row}, column {column}")

    def leave(self, direction: Action) -> None:
        """Leave over an edge, or by the only door of a house."""
        before = self.room
        self._play(leave(self.ram, direction, self.graph))
        if self.room == before:
            doors = [thing.tile for thing in things(self.ram) if thing.kind == "door"]
            self._play(go_to(self.ram, doors[0], self.graph))
        self.settle()
        assert self.room != before

    def enter(self, row: int, column: int) -> None:
        before = self.room
        self._play(go_to(self.ram, TilePlace(row, column), self.graph))
        self.settle()
        assert self.room != before

    def use(self, item: int) -> None:
        """Press the button that has an item, which is put there first."""
        if item not in (self.byte("wInventoryA"), self.byte("wInventoryB")):
            self.equip(item)
        self.press(Action.A if self.byte("wInventoryA") == item else Action.B)
        self.press(Action.NOP, 6)

    def equip(self, item: int) -> None:
        """Put an item on B by trying one cell of the menu after the other."""
        self.open_menu()
        for _ in range(8):
            self.press(Action.B)
            self.press(Action.NOP, 2)
            if self.byte("wInventoryB") == item:
                break
            for action in (Action.B, Action.NOP, Action.RIGHT, Action.NOP):
                self.press(action)
        assert self.byte("wInventoryB") == item
        self.close_menu()

    def open_menu(self) -> None:
        self.settle()
        self.press(Action.START)
        self.press(Action.NOP, 6)
        assert is_menu(self.ram)

    def close_menu(self) -> None:
        self.press(Action.START)
        self.press(Action.NOP, 6)
        self.settle()

    def close(self) -> None:
        self.game.close()

    def _play(self, script: Generator[Action, RamBlocks, object]) -> None:
        """Play a script to its end."""
        try:
            action = next(script)
            for _ in range(PATIENCE):
                self.press(action)
                action = script.send(self.ram)
        except StopIteration:
            return
        raise AssertionError("the script does not end")

    def _judge(self, action: Action) -> None:
        self.game.finish_step(action, self.row)
        facts = self.game.facts
        self.rows.append(self.row.copy())
        self.died.append(facts.dead)
        is_old = facts.square_index in self.walked
        if facts.settled:
            self.walked.add(facts.square_index)
        for name, ledger in self.ledgers.items():
            parts = ledger.step(facts, action)
            for part, amount in zip(PARTS, parts.tolist(), strict=True):
                if amount > 0:
                    self.payments[name][part] += 1
                    self.paid_for_old_squares += is_old and part in ("square", "novelty")


@pytest.fixture
def play(moments: dict[str, Moment]) -> Iterator[Callable[[str], Player]]:
    """Makes a player at a moment of the walkthrough."""
    made: list[Player] = []

    def at(name: str) -> Player:
        assert name in moments, f"the walkthrough has no {name}, but {', '.join(moments)}"
        made.append(Player(moments[name].state))
        return made[-1]

    yield at
    for player in made:
        player.close()
