"""A player for walk.py: plays skills of `rlaif.game.skills`, and records the buttons pressed."""

from __future__ import annotations

from typing import Any

from PIL import Image

from rlaif.contracts.planning.plans import Answer, Cut, Macro, MoveTo, Take, Talk, UseItem
from rlaif.game.decisions.catalog import FIGHT, INTERACT, WALK, go_to
from rlaif.game.decisions.playing import carry_out
from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.memory import entities, predicates
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.memory_map import TILE_STRIDE, address
from rlaif.game.motion.grid import WALKS, TilePlace
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.things import things
from rlaif.game.motion.tiles import tile_under
from rlaif.game.play.session import PlayedEmulator
from rlaif.game.skills.macros import PlanExecutor
from rlaif.game.skills.script import Option, OptionLimits

UP, DOWN, LEFT, RIGHT = WALKS
BUTTONS = (*(way.name for way in WALKS), "A", "B", "START")
STEP_FRAMES = 4
BRACELET, CHEST = 0x16, 0xF1
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
            self.emulator.frame(held(button))
        self.frames += frames
        if self.steps and self.steps[-1][0] == button:
            self.steps[-1][1] += frames
        else:
            self.steps.append([button, frames])

    def snapshot(self) -> Moment:
        """All that `restore` needs to return to this state."""
        return self.emulator.save_state(), [list(step) for step in self.steps], self.frames

    def restore(self, moment: Moment) -> None:
        state, steps, self.frames = moment
        self.steps = [list(step) for step in steps]
        self.emulator.load_state(state)

    def tap(self, button: str, wait: int = 6) -> None:
        """Press and release, then wait."""
        self.press("NOP")
        self.press(button, 2)
        self.press("NOP", wait)

    def film(self, every: int, *presses: tuple[str, int]) -> list[Image.Image]:
        """The screen every `every` frames of these presses; then rewind."""
        before = self.snapshot()
        images = []
        for button, frames in presses:
            for frame in range(1, frames // every * every + 1):
                self.emulator.frame(held(button), render=frame % every == 0)
                if frame % every == 0:
                    images.append(Image.fromarray(self.emulator.screen()))
        self.restore(before)
        return images

    def picture(self, *presses: tuple[str, int]) -> Image.Image:
        """The screen after these presses; then rewind."""
        before = self.snapshot()
        for button, frames in presses:
            self.press(button, frames)
        self.emulator.frame(held("NOP"), render=True)
        image = Image.fromarray(self.emulator.screen())
        self.restore(before)
        return image

    # --- reading -------------------------------------------------------------

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self.emulator)

    def u8(self, symbol: str, offset: int = 0) -> int:
        return self.field(address(symbol), offset)

    def field(self, slot: int, offset: int = 0) -> int:
        """A byte of an object."""
        return self.emulator.read(slot + offset, slot + offset + 1)[0]

    @property
    def room(self) -> tuple[int, int]:
        return self.u8("wActiveGroup"), self.u8("wActiveRoom")

    @property
    def tile(self) -> TilePlace:
        return tile_under(self.ram)

    def owns(self, treasure: int) -> bool:
        return self.ram.bit(address("wObtainedTreasureFlags"), treasure)

    def has_control(self) -> bool:
        return predicates.has_control(self.ram)

    def index(self, row: int, column: int) -> int:
        return self.u8("wRoomLayout", row * TILE_STRIDE + column)

    def collision(self, row: int, column: int) -> int:
        return self.u8("wRoomCollisions", row * TILE_STRIDE + column)

    # --- skills --------------------------------------------------------------

    def decide(self, index: int) -> None:
        """Play one decision, successful or not."""
        self._play(carry_out(index, self.ram, graph=self._graph))

    def plan(self, *macros: Macro) -> None:
        """Play macros in order; LostError if one fails."""
        self.settle()
        choice = self._play(PlanExecutor(macros, graph=self._graph, limits=LIMITS))
        if choice.status != "done":
            raise LostError(f"{macros} in room {self.room} at {self.tile}: {choice.reason}")

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
                return self.plan(MoveTo(row=row, column=column))
            except LostError:
                if not self._clear(row, column):
                    raise
        raise LostError(f"obstacles around {row},{column} in room {self.room}")

    def _clear(self, row: int, column: int) -> bool:
        """Remove the reachable obstacle nearest to a tile; False if there is none."""
        kinds = ("bush", "rock") if self.owns(BRACELET) else ("bush",)
        found = [it for it in things(self.ram) if it.kind in kinds and it.reachable]
        if not found:
            return False
        tile, kind, *_ = min(found, key=lambda it: abs(it[0][0] - row) + abs(it[0][1] - column))
        if kind == "bush":
            self.plan(Cut(row=tile.row, column=tile.column))
        else:
            self.lift(*tile)
            self.tap("A", 30)
        return True

    def leave(self, direction: Action, row: int, column: int) -> None:
        """Walk to a tile of the edge, or before a door, and on into the next room."""
        room = self.room
        self.go(row, column)
        for _ in range(100):
            self.press(direction.name, STEP_FRAMES)
            self.settle()
            if self.room != room:
                return
        raise LostError(f"no way {direction.name} out of {room} at {self.tile}")

    def act(self, row: int, column: int) -> None:
        """Talk to, read or open what is on a tile."""
        self.settle()
        if self.index(row, column) == CHEST:
            self.plan(Take(row=row, column=column))
            return
        self.decide(go_to(TilePlace(row, column)))
        self.decide(INTERACT)
        self.settle()

    def talk(self, row: int, column: int) -> None:
        self.plan(Talk(row=row, column=column))

    def answer(self, choice: int) -> None:
        executor = PlanExecutor([Answer(choice=choice)], graph=self._graph, limits=LIMITS)
        self._play(executor)
        self.settle()

    def cut(self, row: int, column: int) -> None:
        self.plan(Cut(row=row, column=column))

    def lift(self, row: int, column: int) -> None:
        """Lift a tile, then throw it."""
        self.plan(Take(row=row, column=column))

    def use(self, item: str, direction: Action | None = None) -> None:
        name: Any = None if direction is None else direction.name
        self.plan(UseItem(item=item, direction=name))
        self.settle()

    def change(self, row: int, column: int, item: str) -> None:
        """Use an item on a tile until the tile changes."""
        before = self.index(row, column)
        for _ in range(8):
            self.plan(UseItem(item=item, row=row, column=column))
            for _ in range(12):
                if self.index(row, column) != before:
                    self.settle()
                    return
                self.press("NOP", STEP_FRAMES)
        raise LostError(f"{item} does not change {row},{column} in {self.room}")

    def dig(self, row: int, column: int) -> None:
        """Dig the soil of a tile and take what was in it."""
        self.change(row, column, "shovel")
        self.go(row, column)
        self.press("NOP", 4)
        self.settle()

    def push(self, row: int, column: int, direction: Action) -> None:
        """From a tile, push a lock or a block, then wait until it has moved."""
        self.go(row, column)
        self.decide(WALK[direction])
        self.press("NOP", 20)
        self.settle()

    def jump(self, row: int, column: int, direction: Action) -> None:
        """From a tile, over the hole next to it."""
        self.go(row, column)
        self.use("feather", direction)

    def enemies(self) -> list[entities.Entity]:
        return [foe for foe in entities.enemies(self.ram) if foe.health]

    def fight(self) -> None:
        """Beat the enemies that can be reached."""
        for _ in range(30):
            self.settle()
            before = len(self.enemies())
            if not before:
                return
            self.decide(FIGHT)
        raise LostError(f"the fight in {self.room} did not end")

    def collect(self) -> None:
        """Take the items that can be reached."""
        for _ in range(12):
            found = [it for it in things(self.ram) if it.kind == "item" and it.reachable]
            if not found:
                return
            self.decide(go_to(found[0].tile))
            self.press("NOP", 2)


def held(button: str) -> frozenset[str]:
    """The pressed buttons for a name; NOP is none."""
    return frozenset() if button == "NOP" else frozenset({button.lower()})
