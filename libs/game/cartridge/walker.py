"""A player for walk.py: plays skills of `rlaif.game.skills`, and records the buttons pressed.

The public methods that press something are the commands of walk_route.txt.
"""

from __future__ import annotations

from typing import Any

from PIL import Image

from rlaif.contracts.planning.plans import (
    Answer,
    Cut,
    Macro,
    MoveTo,
    PushBlock,
    Take,
    Talk,
    UseItem,
)
from rlaif.game.decisions.catalog import FIGHT, INTERACT, WALK, go_to
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.memory import entities, predicates
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.memory.state import SEASONS
from rlaif.game.motion.grid import WALKS, TilePlace
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import tile_under
from rlaif.game.motion.things import things
from rlaif.game.play.session import PlayedEmulator
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import Option, OptionLimits

BUTTONS = (*(way.name for way in WALKS), "A", "B", "START")
STEP_FRAMES = 4
BRACELET, CHEST = 0x16, 0xF1
MIDDLE = 80  # pixels from the left
PATIENCE = 1500  # steps that one skill may take
LIMITS = OptionLimits(most_steps=600, most_quarter_hearts_lost=1000, most_waiting=200)

Moment = tuple[bytes, list[list[Any]], int]


class LostError(Exception):
    """The route does not work; the message names the place."""


class Walker:
    """A player that reads RAM and records what it presses."""

    def __init__(self, cartridge: Cartridge) -> None:
        self.emulator = PlayedEmulator(cartridge.data)
        self.steps: list[list[Any]] = []
        self.frames = 0
        self._graph = RoomGraph()

    # --- pressing ------------------------------------------------------------

    def press(self, button: str, frames: int = 1) -> None:
        """Hold a button (or NOP)."""
        for _ in range(frames):
            self.emulator.frame(_held(button))
        self.frames += frames
        if self.steps and self.steps[-1][0] == button:
            self.steps[-1][1] += frames
        else:
            self.steps.append([button, frames])

    def tap(self, button: str, wait: int = 6) -> None:
        """Press and release, then wait."""
        self.press("NOP")
        self.press(button, 2)
        self.press("NOP", wait)

    def snapshot(self) -> Moment:
        """All that `restore` needs to return to this state."""
        return self.emulator.save_state(), [list(step) for step in self.steps], self.frames

    def restore(self, moment: Moment) -> None:
        state, steps, self.frames = moment
        self.steps = [list(step) for step in steps]
        self.emulator.load_state(state)

    def film(self, every: int, presses: list[tuple[str, int]], *, last: bool) -> list[Image.Image]:
        """The screen every `every` frames of these presses, or the `last` only; then rewind."""
        before = self.snapshot()
        images = []
        for button, frames in presses:
            for frame in range(1, frames + 1 if last else frames // every * every + 1):
                drawn = not last and frame % every == 0
                self.emulator.frame(_held(button), render=drawn)
                if drawn:
                    images.append(Image.fromarray(self.emulator.screen()))
        if last:
            self.emulator.frame(frozenset(), render=True)
            images.append(Image.fromarray(self.emulator.screen()))
        self.restore(before)
        return images

    # --- reading -------------------------------------------------------------

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self.emulator)

    def u8(self, symbol: str, offset: int = 0) -> int:
        return self.emulator.peek(None, address(symbol) + offset)

    @property
    def room(self) -> tuple[int, int]:
        return self.u8("wActiveGroup"), self.u8("wActiveRoom")

    @property
    def tile(self) -> TilePlace:
        return tile_under(self.ram)

    def has_control(self) -> bool:
        return predicates.has_control(self.ram)

    def index(self, row: int, column: int) -> int:
        return self.u8("wRoomLayout", row * TILE_STRIDE + column)

    def status(self) -> str:
        group, room = self.room
        coins = self.u8("wNumRupees")
        return f"{group}:{room:02X} health {self.u8('wLinkHealth')} coins {coins:02X}"

    def owns(self, treasure: int) -> None:
        """LostError without a treasure."""
        if not self._owns(treasure):
            raise LostError(f"no treasure {treasure:02X}")

    def _owns(self, treasure: int) -> bool:
        return self.ram.bit(address("wObtainedTreasureFlags"), treasure)

    def _enemies(self) -> list[entities.Entity]:
        return [foe for foe in entities.enemies(self.ram) if foe.health]

    # --- skills --------------------------------------------------------------

    def _decide(self, index: int) -> None:
        """Play one decision, successful or not."""
        self._play(carry_out(index, self.ram, graph=self._graph))

    def _plan(self, macro: Macro) -> None:
        """Play a macro; LostError if it fails."""
        self.settle()
        choice = self._play(PlanExecutor([macro], graph=self._graph, limits=LIMITS))
        if choice.status != "done":
            raise LostError(f"{macro} in room {self.room} at {self.tile}: {choice.reason}")

    def _play(self, option: Option) -> Any:
        for _ in range(PATIENCE):
            choice = option.next(self.ram)
            if choice.over:
                return choice
            self.press(choice.action.name, STEP_FRAMES)
        raise LostError(f"no end in room {self.room} at {self.tile}")

    def settle(self) -> None:
        """Wait, and read texts, until the player has control."""
        for _ in range(PATIENCE):
            if self.has_control():
                return
            if self.u8("wTextIsActive"):
                self.tap("A", 10)
            else:
                self.press("NOP")
        raise LostError(f"no control in room {self.room}")

    def go(self, row: int, column: int) -> None:
        """Walk onto a tile; cuts bushes and lifts rocks that are in the way."""
        for _ in range(8):
            try:
                return self._plan(MoveTo(row=row, column=column))
            except LostError:
                if not self._clear(row, column):
                    raise
        raise LostError(f"obstacles around {row},{column} in room {self.room}")

    def _clear(self, row: int, column: int) -> bool:
        """Remove the reachable obstacle nearest to a tile; False if there is none."""
        kinds = ("bush", "rock") if self._owns(BRACELET) else ("bush",)
        found = [it for it in things(self.ram) if it.kind in kinds and it.reachable]
        if not found:
            return False
        tile, kind, *_ = min(found, key=lambda it: abs(it[0][0] - row) + abs(it[0][1] - column))
        if kind == "bush":
            self.cut(*tile)
        else:
            self.lift(*tile)
            self.tap("A", 30)
        return True

    def leave(self, direction: str, row: int, column: int) -> None:
        """Walk to a tile of the edge, or before a door, and on into the next room."""
        room = self.room
        self.go(row, column)
        for _ in range(100):
            self.press(direction, STEP_FRAMES)
            self.settle()
            if self.room != room:
                return
        raise LostError(f"no path {direction} out of {room} at {self.tile}")

    def act(self, row: int, column: int) -> None:
        """Talk to, read or open what is on a tile."""
        self.settle()
        if self.index(row, column) == CHEST:
            self._plan(Take(row=row, column=column))
            return
        self._decide(go_to(TilePlace(row, column)))
        self._decide(INTERACT)
        self.settle()

    def talk(self, row: int, column: int) -> None:
        self._plan(Talk(row=row, column=column))

    def answer(self, choice: int) -> None:
        self._play(PlanExecutor([Answer(choice=choice)], graph=self._graph, limits=LIMITS))
        self.settle()

    def cut(self, row: int, column: int) -> None:
        self._plan(Cut(row=row, column=column))

    def lift(self, row: int, column: int) -> None:
        self._plan(Take(row=row, column=column))

    def change(self, row: int, column: int, item: str) -> None:
        """Use an item on a tile until the tile changes."""
        before = self.index(row, column)
        for _ in range(8):
            self._plan(UseItem(item=item, row=row, column=column))  # type: ignore[arg-type]
            for _ in range(12):
                if self.index(row, column) != before:
                    self.settle()
                    return
                self.press("NOP", STEP_FRAMES)
        raise LostError(f"{item} does not change {row},{column} in {self.room}")

    def season(self, name: str, row: int, column: int) -> None:
        """Swing the rod at the stump on a tile until the season comes."""
        for _ in range(4):
            if SEASONS[self.u8("wRoomStateModifier")] == name:
                return
            self._plan(UseItem(item="rod_of_seasons", row=row, column=column))
        raise LostError(f"{name} does not come in {self.room}")

    def dig(self, row: int, column: int) -> None:
        """Dig the soil of a tile and take what was in it."""
        self.change(row, column, "shovel")
        self.go(row, column)
        self.press("NOP", 4)
        self.settle()

    def push(self, row: int, column: int, direction: str) -> None:
        """From a tile, push a lock or a block, then wait until it has moved."""
        self.go(row, column)
        self._decide(WALK[Action[direction]])
        self.press("NOP", 20)
        self.settle()

    def push_block(self, row: int, column: int, direction: str) -> None:
        """Push the block on a tile one tile on."""
        self._plan(PushBlock(row=row, column=column, direction=direction))  # type: ignore[arg-type]
        self.settle()

    def jump(self, row: int, column: int, direction: str) -> None:
        """From a tile, over the hole next to it."""
        self.go(row, column)
        self._plan(UseItem(item="feather", direction=direction))  # type: ignore[arg-type]
        self.settle()

    def fight(self) -> None:
        """Beat the enemies that can be reached."""
        for _ in range(30):
            self.settle()
            if not self._enemies():
                return
            self._decide(FIGHT)
        raise LostError(f"the fight in {self.room} did not end")

    def weaken_boss(self) -> None:
        """Take half of the boss's health."""
        self._beat(self._enemies()[0].health // 2)

    def beat_boss(self) -> None:
        self._beat(0)

    def _beat(self, health: int) -> None:
        for _ in range(60):
            left = self._enemies()
            if not left or left[0].health <= health:
                return
            if self.u8("wLinkDeathTrigger"):
                raise LostError("the boss won")
            self._decide(FIGHT)

    def collect(self) -> None:
        """Take the items that can be reached."""
        for _ in range(12):
            found = [it for it in things(self.ram) if it.kind == "item" and it.reachable]
            if not found:
                return
            self._decide(go_to(found[0].tile))
            self.press("NOP", 2)

    def take_essence(self) -> None:
        """Walk up the middle of the room until it is taken."""
        for _ in range(60):
            aside = self.emulator.peek(1, address("w1Link.xh")) - MIDDLE
            self.press("UP" if abs(aside) < 4 else "LEFT" if aside > 0 else "RIGHT")
            if self.u8("wEssencesObtained"):
                return

    def stand_until_dead(self) -> None:
        for _ in range(3000):
            if self.u8("wLinkDeathTrigger"):
                self.press("NOP", 90)
                return
            self.press("NOP", 2)
        raise LostError("the player survives")

    def revive(self) -> None:
        """Continue after a death."""
        for _ in range(40):
            if self.has_control() and not self.u8("wGameOverScreenTrigger"):
                break
            self.tap("A", 20)
        self.settle()


def _held(button: str) -> frozenset[str]:
    return frozenset() if button == "NOP" else frozenset({button.lower()})
