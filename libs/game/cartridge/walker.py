"""A player for walk.py: presses buttons, reads RAM to find its way, keeps what it pressed.

It walks from tile to tile as a player of this game would: through bushes that its blade cuts,
around or against whatever comes within reach. `rlaif.game.motion` knows neither, and goes by
decision steps; here every frame counts.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Callable

from PIL import Image

from rlaif.game.machine.cartridges import Cartridge
from rlaif.game.memory import entities, predicates
from rlaif.game.memory.blocks import RamBlocks, read_blocks
from rlaif.game.memory.entities import PART_ITEM_DROP, Entity, player_position
from rlaif.game.memory.memory_map import (
    ITEM_SWORD,
    OBJECT_HEALTH,
    OBJECT_X,
    OBJECT_Y,
    SMALL_ROOM,
    TILE_STRIDE,
    address,
)
from rlaif.game.memory.walls import FLIPPERS
from rlaif.game.play.session import PlayedEmulator

UP, RIGHT, DOWN, LEFT = "UP", "RIGHT", "DOWN", "LEFT"
DIRECTIONS = (UP, RIGHT, DOWN, LEFT)
BUTTONS = (*DIRECTIONS, "A", "B", "START")
STEP = {UP: (-1, 0), RIGHT: (0, 1), DOWN: (1, 0), LEFT: (0, -1)}
COLUMNS, ROWS = SMALL_ROOM
HAZARD = 0x10
HOLES = (0x48, 0xF3)
BUSH = 0xC4
ITEM_BOMB, ITEM_ROD, ITEM_SHOVEL, ITEM_FEATHER, ITEM_SATCHEL = 0x03, 0x07, 0x15, 0x17, 0x19
GNARL = 0xD080
STATE_COUNTER, TOUCHABLE, FLASHES = 0x06, 0x24, 0x2B  # fields of an object
REACH, WIDTH = 26, 10  # how far the blade hits, in pixels ahead and to each side
BREATH = 50  # frames before the end of its rest, when its shots have just left it
PATIENCE = 1500  # frames that one deed may take

Tile = tuple[int, int]
"""Row and column."""

Moment = tuple[bytes, list[list[str | int]], int, int]


class LostError(Exception):
    """The route does not work; the message says where it stuck."""


def distances(start: Tile, is_free: Callable[[int, int], bool]) -> dict[Tile, int]:
    """Steps from a tile to every tile that it reaches over free ones."""
    found = {start: 0}
    queue = deque([start])
    while queue:
        here = queue.popleft()
        for dy, dx in STEP.values():
            there = here[0] + dy, here[1] + dx
            if there not in found and is_free(*there):
                found[there] = found[here] + 1
                queue.append(there)
    return found


class Walker:
    """A player that sees RAM and keeps what it pressed."""

    def __init__(self, cartridge: Cartridge) -> None:
        self.emulator = PlayedEmulator(cartridge.data)
        self.steps: list[list[str | int]] = []
        self.frames = 0
        self.cursor = 0  # of the satchel

    # --- pressing ------------------------------------------------------------

    def press(self, button: str, frames: int = 1) -> None:
        """Hold a button (or NOP), then release it."""
        for _ in range(frames):
            self.emulator.frame(held(button))
        self.frames += frames
        if self.steps and self.steps[-1][0] == button:
            self.steps[-1][1] += frames  # type: ignore[operator]  # the second is the number
        else:
            self.steps.append([button, frames])

    def snapshot(self) -> Moment:
        """All that `restore` needs to come back to this moment."""
        steps = [list(step) for step in self.steps]
        return self.emulator.save_state(), steps, self.frames, self.cursor

    def restore(self, moment: Moment) -> None:
        state, steps, self.frames, self.cursor = moment
        self.steps = [list(step) for step in steps]
        self.emulator.load_state(state)

    def tap(self, button: str, wait: int = 6) -> None:
        """Press and let go, then wait."""
        self.press("NOP")
        self.press(button, 2)
        self.press("NOP", wait)

    def picture(self, *presses: tuple[str, int]) -> Image.Image:
        """The screen after these presses; then all is as it was before."""
        before = self.snapshot()
        for button, frames in presses:
            self.press(button, frames)
        self.emulator.frame(held("NOP"), render=True)
        image = Image.fromarray(self.emulator.screen())
        self.restore(before)
        return image

    def film(self, every: int, *presses: tuple[str, int]) -> list[Image.Image]:
        """The screen after every so many frames of these presses; then all is as it was before."""
        before = self.snapshot()
        images = []
        for button, frames in presses:
            for frame in range(1, frames // every * every + 1):
                self.emulator.frame(held(button), render=frame % every == 0)
                if frame % every == 0:
                    images.append(Image.fromarray(self.emulator.screen()))
        self.restore(before)
        return images

    # --- seeing ----------------------------------------------------------------

    @property
    def ram(self) -> RamBlocks:
        return read_blocks(self.emulator)

    def u8(self, symbol: str, offset: int = 0) -> int:
        return self.emulator.read(where := address(symbol) + offset, where + 1)[0]

    def field(self, slot: int, offset: int = 0) -> int:
        """A byte of an object."""
        return self.emulator.read(slot + offset, slot + offset + 1)[0]

    @property
    def room(self) -> tuple[int, int]:
        return self.u8("wActiveGroup"), self.u8("wActiveRoom")

    @property
    def x(self) -> int:
        return player_position(self.ram)[0]

    @property
    def y(self) -> int:
        return player_position(self.ram)[1]

    @property
    def facing(self) -> str:
        return DIRECTIONS[self.u8("w1Link.direction")]

    @property
    def tile(self) -> Tile:
        """The tile under the player."""
        return min((self.y + 2) >> 4, ROWS - 1), min(self.x >> 4, COLUMNS - 1)

    @property
    def health(self) -> int:
        return self.u8("wLinkHealth")

    def owns(self, treasure: int) -> bool:
        return self.ram.bit(address("wObtainedTreasureFlags"), treasure)

    def has_control(self) -> bool:
        return predicates.has_control(self.ram)

    def enemies(self) -> list[Entity]:
        """The living ones."""
        found = entities.enemies(self.ram)
        return [foe for foe in found if foe.health and self.field(foe.slot, TOUCHABLE)]

    def steps_to(self, thing: Entity) -> int:
        """Pixels to walk, if nothing is in the way."""
        return abs(thing.x - self.x) + abs(thing.y - self.y)

    def drops(self) -> list[Tile]:
        """Where something lies around to be taken."""
        parts = [part for part in entities.parts(self.ram) if part.id == PART_ITEM_DROP]
        return [(part.y >> 4, part.x >> 4) for part in parts if self.field(part.slot, TOUCHABLE)]

    def index(self, row: int, column: int) -> int:
        return self.u8("wRoomLayout", row * TILE_STRIDE + column)

    def collision(self, row: int, column: int) -> int:
        return self.u8("wRoomCollisions", row * TILE_STRIDE + column)

    def free(self, row: int, column: int) -> bool:
        if not (0 <= row < ROWS and 0 <= column < COLUMNS):
            return False
        if self.index(row, column) == BUSH and self._sword_button():
            return True
        byte = self.collision(row, column)
        if byte == HAZARD:
            return self.owns(FLIPPERS) and self.index(row, column) not in HOLES
        return byte == 0

    # --- walking -----------------------------------------------------------------

    def settle(self) -> None:
        """Wait, and read on, until the player obeys again."""
        for _ in range(PATIENCE):
            if self.has_control():
                return
            if self.u8("wTextIsActive"):
                self.tap("A", 10)
            else:
                self.press("NOP")
        raise LostError(f"no control in room {self.room}")

    def heading(self, goal: tuple[int, int]) -> str | None:
        """The button that leads towards the middle of a tile; None when there."""
        here = self.tile
        target = goal
        if not self.free(*here):  # a chest or block has appeared where he stands
            walls = self.u8("w1Link.adjacentWallsBitset")
            both = {UP: 0xC0, DOWN: 0x30, LEFT: 0x0C, RIGHT: 0x03}
            return next((d for d, mask in both.items() if walls & mask != mask), UP)
        if here != goal:
            far = distances(goal, self.free)
            near = [
                (far[there], there)
                for dy, dx in STEP.values()
                if (there := (here[0] + dy, here[1] + dx)) in far
            ]
            if not near:
                raise LostError(f"no way from {here} to {goal} in room {self.room}")
            target = min(near)[1]
        off_y, off_x = target[0] * 16 + 8 - self.y, target[1] * 16 + 8 - self.x
        upright, aside = DOWN if off_y > 0 else UP, RIGHT if off_x > 0 else LEFT
        slack = 0 if here == goal else 1
        if target[0] == here[0] and abs(off_y) > slack:
            return upright
        if (target[1] == here[1] and abs(off_x) > slack) or abs(off_x) > abs(off_y):
            return aside
        return upright if off_y else None

    def go(self, row: int, column: int, *, fight: bool = True) -> None:
        """Walk to the middle of a tile."""
        room = self.room
        for _ in range(PATIENCE):
            self.settle()
            if self.room != room:
                raise LostError(f"left room {room} for {self.room} on the way to {row},{column}")
            if fight and self.strike():
                continue
            button = self.heading((row, column))
            if button is None:
                return
            if not self._cut(button):
                self.press(button)
        raise LostError(f"did not reach {row},{column} in room {room}; at {self.tile}")

    def leave(self, direction: str, row: int, column: int) -> None:
        """Walk to a tile of the edge (or in front of a door) and on into the next room."""
        room = self.room
        self.go(row, column)
        for _ in range(400):
            self.press(direction)
            self.settle()
            if self.room != room:
                return
            ahead = (row + STEP[direction][0], column + STEP[direction][1])
            if self.tile not in ((row, column), ahead):
                self.go(row, column)  # something pushed him away
        raise LostError(f"no way {direction} out of {room} at {self.tile}")

    def face(self, direction: str) -> None:
        """Turn without leaving the tile (towards something solid, or one pixel)."""
        self.press(direction, 2)

    # --- deeds ---------------------------------------------------------------------

    def _sword_button(self) -> str | None:
        """The button with the blade, if it can be swung now."""
        if self.u8("wLinkGrabState") or self.u8("wLinkSwimmingState") & 0x0F:
            return None
        return {self.u8("wInventoryB"): "B", self.u8("wInventoryA"): "A"}.get(ITEM_SWORD)

    def _cut(self, direction: str) -> bool:
        """Cut the bush in front, if one stops the way; True when it did."""
        dy, dx = STEP[direction]
        row, column = self.tile[0] + dy, self.tile[1] + dx
        if not (0 <= row < ROWS and 0 <= column < COLUMNS) or self.index(row, column) != BUSH:
            return False
        self.press(direction)
        self._swing(11)
        return True

    def _swing(self, wait: int) -> None:
        self.press("NOP")
        self.press(self._sword_button() or "NOP", 2)
        self.press("NOP", wait)

    def strike(self) -> bool:
        """Swing at an enemy within reach; True when it did."""
        if self._sword_button() is None:
            return False
        for foe in self.enemies():
            dx, dy = foe.x - self.x, foe.y - self.y
            if abs(dx) <= WIDTH and abs(dy) <= REACH:
                direction = DOWN if dy > 0 else UP
            elif abs(dy) <= WIDTH and abs(dx) <= REACH:
                direction = RIGHT if dx > 0 else LEFT
            else:
                continue
            if self.facing != direction:
                self.press(direction)
            self._swing(11)
            self.settle()
            return True
        return False

    def fight(self) -> None:
        """Clear the room of enemies that can be reached."""
        for _ in range(6 * PATIENCE):
            self.settle()
            foes = self.enemies()
            if not foes:
                return
            if self.strike():
                continue
            foe = min(foes, key=self.steps_to)
            far = distances(self.tile, self.free)
            spots = [(abs(r * 16 + 8 - foe.y) + abs(c * 16 + 8 - foe.x), r, c) for r, c in far]
            _, row, column = min(spots)
            self.press(self.heading((row, column)) or "NOP")
        raise LostError(f"the fight in {self.room} did not end")

    def duel(self, *, angry: Callable[[], None]) -> None:
        """Beat Gnarl: keep at the length of the blade, below it while it sways.

        `angry` is called when it has first spat with half its health gone.
        """
        half = self.field(GNARL, OBJECT_HEALTH) // 2
        calm = True
        for _ in range(4 * PATIENCE):
            if not self.field(GNARL) or not self.field(GNARL, OBJECT_HEALTH):
                return
            if self.u8("wLinkDeathTrigger"):
                break
            self.settle()
            sways = self.field(GNARL, OBJECT_HEALTH) > half
            if calm and not sways and self.field(GNARL, STATE_COUNTER) == BREATH:
                calm = False
                angry()
            dx, dy = self.field(GNARL, OBJECT_X) - self.x, self.field(GNARL, OBJECT_Y) - self.y
            if sways:
                self._from_below(dx, dy)
            else:
                self._at_length(dx, dy)
        raise LostError(f"the duel in {self.room} is not won")

    def _hit(self, direction: str) -> None:
        if self.facing != direction:
            self.press(direction)
        self._swing(9)

    def _from_below(self, dx: int, dy: int) -> None:
        if dy > -23:
            self.press(DOWN)
        elif abs(dx) > 8:
            self.press(RIGHT if dx > 0 else LEFT)
        elif dy < -31:
            self.press(UP)
        elif not self.field(GNARL, FLASHES):
            self._hit(UP)
        else:
            self.press("NOP")

    def _at_length(self, dx: int, dy: int) -> None:
        along, across = max(abs(dx), abs(dy)), min(abs(dx), abs(dy))
        upright = abs(dy) >= abs(dx)
        towards = (DOWN if dy > 0 else UP) if upright else RIGHT if dx > 0 else LEFT
        aside = (RIGHT if dx > 0 else LEFT) if upright else DOWN if dy > 0 else UP
        if along < 24:
            self.press(self._away(dx, dy))
        elif along <= 31 and across <= 16 and not self.field(GNARL, FLASHES):
            self._hit(towards)
            for _ in range(12):
                self.press(self._away(dx, dy))
        elif across > 12:
            self.press(aside)
        elif along > 30 and not self.field(GNARL, FLASHES):
            self.press(towards)
        else:
            self.press(self._away(dx, dy))

    def _away(self, dx: int, dy: int) -> str:
        """The direction that leads away from something at (dx, dy), not into a corner."""

        def worth(direction: str) -> float:
            step_y, step_x = (12 * d for d in STEP[direction])
            y, x = self.y + step_y, self.x + step_x
            if not (24 <= y <= 108 and 24 <= x <= 136 and self.free(y >> 4, x >> 4)):
                return -1
            away = max(abs(dx - step_x), abs(dy - step_y)) + abs(dx - step_x) + abs(dy - step_y)
            return away - (abs(x - 80) + abs(y - 66)) / 2

        return max(DIRECTIONS, key=worth)

    def collect(self) -> None:
        """Take what lies around and can be reached."""
        for _ in range(12):
            far = distances(self.tile, self.free)
            things = [spot for spot in self.drops() if spot in far]
            if not things:
                return
            self.go(*min(things, key=lambda spot: far[spot]))
            self.press("NOP", 2)

    def use(self, item: int, direction: str, wait: int = 14) -> None:
        """Put an item on B if it is on no button, turn, and use it."""
        if item not in (self.u8("wInventoryB"), self.u8("wInventoryA")):
            self.equip(item)
        self.face(direction)
        self.tap("A" if self.u8("wInventoryA") == item else "B", wait)
        self.settle()

    def equip(self, item: int) -> None:
        """Open the satchel and put an item on B."""
        self.tap("START", 30)
        while self.u8("wMenuActiveState") == 0:
            self.press("NOP")
        place = next(i for i in range(8) if self.u8("wInventoryStorage", i) == item)
        self.press("NOP", 10)
        self._cursor(place)
        self.tap("B", 10)
        self.tap("START", 30)
        self.settle()
        if self.u8("wInventoryB") != item:
            raise LostError(f"item {item:02X} is not on B but {self.u8('wInventoryB'):02X}")

    def _cursor(self, place: int) -> None:
        while self.cursor & 3 != place & 3:
            self.tap(RIGHT, 6)
            self.cursor = self.cursor & 4 | (self.cursor + 1) & 3
        if self.cursor & 4 != place & 4:
            self.tap(DOWN, 6)
            self.cursor ^= 4

    def act(self, direction: str) -> None:
        """Turn and press A: talk, read, open, lift. Reads every page."""
        self.face(direction)
        self.tap("A", 12)
        self.settle()

    def push(self, row: int, column: int, direction: str) -> None:
        """From a tile, push a lock or a block, then wait for it to stand still."""
        self.go(row, column)
        self.press(direction, 26)
        self.press("NOP", 20)
        self.settle()

    def jump(self, row: int, column: int, direction: str) -> None:
        """From a tile, over the hole beside it: up to its rim, then the feather."""
        self.go(row, column)
        if ITEM_FEATHER not in (self.u8("wInventoryB"), self.u8("wInventoryA")):
            self.equip(ITEM_FEATHER)
        if direction == RIGHT:
            while self.x & 15 < 12:
                self.press(RIGHT)
        else:
            while self.x & 15 > 3:
                self.press(LEFT)
        self.press("NOP")
        self.press("A" if self.u8("wInventoryA") == ITEM_FEATHER else "B")
        self.press(direction, 28)
        self.settle()


def held(button: str) -> frozenset[str]:
    """What is down while this button is pressed; NOP is none."""
    return frozenset() if button == "NOP" else frozenset({button.lower()})
