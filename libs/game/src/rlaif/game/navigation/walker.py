"""Walks to a goal in one room, closed loop: the RAM of each step in, the next action out.

It plans on what the RAM says now, presses what is best where it really stands, and plans again when
the room changes, when enemies have moved or when it does not move.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, talkables
from rlaif.game.navigation.field import FAR, Field, Moves
from rlaif.game.navigation.footing import Footing, Pixels, StepCosts, footing
from rlaif.game.navigation.goals import NEAR, Beside, Enter, Goal, Leave, Place, centre, enterable
from rlaif.game.navigation.goals import goal_pixels as pixels_of
from rlaif.game.navigation.grid import FEET, VECTORS, WALKS, TilePlace, tile_under
from rlaif.game.navigation.room_graph import OPPOSITE
from rlaif.game.navigation.room_watcher import Standing, standing
from rlaif.game.navigation.terrain import TILE, terrain_of

Status = Literal["walking", "waiting", "arrived", "blocked", "lost"]


@dataclass(frozen=True)
class Decision:
    """What to do next.

    It is waiting when the game does not listen; blocked when there is no way, or something stands
    in it; lost after too long, or when no game is played.
    """

    status: Status
    action: Action = Action.NOP  # NOP when there is nothing left to do
    reason: str = ""  # for a person or a log; empty while walking a planned path

    @property
    def done(self) -> bool:
        """Whether the trip is over, well or badly."""
        return self.status in ("arrived", "blocked", "lost")


@dataclass(frozen=True)
class WalkSettings:
    """How patiently to walk."""

    frames: int = 4  # a decision step holds its button for so many
    costs: StepCosts = field(default_factory=StepCosts)
    place_tolerance: int = NEAR  # pixels off a `Place` that count as arrived
    approaches: bool = True  # goes as near as it can when no way is there, and pushes
    stuck_steps: int = 7  # without moving: the move is given up; doors give way after 20 frames
    replan_every: int = 12  # steps between plans while enemies are there
    most_plans: int = 60  # in one room before it gives up
    most_detours: int = 60  # steps in a row that bring it no nearer
    push_steps: int = 8  # against what is in the way when there is no path


class Walker:
    """One goal in one room."""

    def __init__(self, goal: Goal, settings: WalkSettings) -> None:
        self._goal, self._settings = goal, settings
        self._given_up: list[tuple[int, int, Action]] = []
        self._ground = b""
        self._door: TilePlace | None = None
        self._plans = self._since_plan = self._still = self._ends = self._detours = 0
        self._least = FAR
        self._before: tuple[int, int] | None = None
        self._pressed = self._onward = Action.NOP
        self._trouble = ""
        self._warps = np.zeros((0, 0), dtype=np.bool_)
        self._field: Field | None = None

    def next(self, ram: RamBlocks) -> Decision:
        """The next action; the player has control in the goal's room."""
        here = standing(ram)
        self._notice(here)
        if self._field is None or self._must_plan(ram, here, self._field):
            if self._plans >= self._settings.most_plans:
                return Decision("blocked", reason=f"gave up after {self._plans} plans")
            self._field = self._plan(ram, here)
        at = self._field.footing.index(here.x, here.y)
        action = self._field.best(at, rather=self._pressed)
        if action is None:
            return self._at_the_end(here)
        if not self._gets_nearer(int(self._field.costs[at])):
            return Decision("blocked", reason=f"no nearer after {self._detours} steps")
        return self._press(action)

    def _press(self, action: Action) -> Decision:
        self._pressed = action
        return Decision("walking", action, self._trouble)

    def _notice(self, here: Standing) -> None:
        """Count how long the player stands still although a direction is pressed."""
        moved = self._before != (here.x, here.y)
        self._still = 0 if moved or self._pressed not in WALKS else self._still + 1
        self._before = (here.x, here.y)
        self._since_plan += 1

    def _gets_nearer(self, cost: int) -> bool:
        self._detours = 0 if cost < self._least else self._detours + 1
        self._least = min(cost, self._least)
        return self._detours <= self._settings.most_detours

    def _must_plan(self, ram: RamBlocks, here: Standing, planned: Field) -> bool:
        if self._ground != _ground(ram) or self._door != self._door_under(here):
            return True
        cost = planned.costs[planned.footing.index(here.x, here.y)]
        if cost == FAR and not self._trouble:
            return True  # carried off
        walks = cost > 0
        if walks and self._still >= self._settings.stuck_steps:
            self._given_up.append((here.x, here.y, self._pressed))
            self._still = 0
            return True
        return self._since_plan >= self._settings.replan_every and bool(enemies(ram))

    def _door_under(self, here: Standing) -> TilePlace | None:
        """The door on which the player stands, and which he may therefore cross."""
        tile = tile_under(here.x, here.y)
        return tile if self._is_inside(tile) and self._warps[tile] else None

    def _is_inside(self, tile: TilePlace) -> bool:
        rows, columns = self._warps.shape
        return 0 <= tile.row < rows and 0 <= tile.column < columns

    def _plan(self, ram: RamBlocks, here: Standing) -> Field:
        self._plans += 1
        self._since_plan = self._ends = 0
        if self._ground != (ground := _ground(ram)):
            self._ground, self._least = ground, FAR
        steps = self._footing(ram, here)
        moves, at = Moves(steps), steps.index(here.x, here.y)
        self._trouble = ""
        for goal in pixels_of(steps, self._goal, near=self._settings.place_tolerance):
            found = moves.field(goal, start=at)
            if found.costs[at] < FAR:
                return found
        x, y = centre(self._goal, here.size)
        self._trouble = f"no way to ({x}, {y}) in this room"
        if not self._settings.approaches:
            return Field(steps, np.full(steps.ways_out.size, FAR, dtype=np.int32))
        return moves.field(self._nearest(moves, at, x, y), start=at)

    def _footing(self, ram: RamBlocks, here: Standing) -> Footing:
        terrain = terrain_of(ram)
        self._warps = terrain.warps()
        self._door = self._door_under(here)
        steps = footing(
            terrain,
            frames=self._settings.frames,
            costs=self._settings.costs,
            enterable=(tile_under(here.x, here.y), *enterable(self._goal)),
            obstacles=[(it.x, it.y) for it in talkables(ram)],
            dangers=[(it.x, it.y) for it in enemies(ram)],
        )
        for x, y, direction in self._given_up:
            (near,) = steps.around(x, y, TILE // 4).nonzero()
            steps.ends[direction, near] = near
        return steps

    def _nearest(self, moves: Moves, at: int, x: int, y: int) -> Pixels:
        """The pixel to which a way leads that is nearest to one to which none does."""
        reached = moves.reachable(at) & ~moves.footing.ways_out
        reached[at] = True
        (pixels,) = reached.nonzero()
        width = moves.footing.size[1]
        off = np.abs(pixels // width - y) + np.abs(pixels % width - x)
        end = int(pixels[np.argmin(off)])
        self._trouble += f"; ({end % width}, {end // width}) is the nearest place"
        nearest = np.zeros(reached.size, dtype=np.bool_)
        nearest[end] = True
        return nearest

    def _at_the_end(self, here: Standing) -> Decision:
        """The way is walked, or there is none: the last bit, which depends on the goal."""
        self._ends += 1
        if self._trouble:
            if not self._settings.approaches:
                return Decision("blocked", reason=self._trouble)
            return self._push(here)
        if isinstance(self._goal, Leave):
            return self._insist(self._goal.direction, "the edge does not lead anywhere")
        if isinstance(self._goal, Enter):
            return self._go_in(here)
        if isinstance(self._goal, Beside):
            return self._face(self._goal, here)
        return Decision("arrived")

    def _insist(self, direction: Action, reason: str) -> Decision:
        if self._still >= self._settings.stuck_steps or self._ends > 64:
            return Decision("blocked", reason=reason)
        return self._press(direction)

    def _go_in(self, here: Standing) -> Decision:
        """Walk on over the tile; then off it and on it again, for who came out of this door."""
        if self._ends == 1:
            walked = self._pressed in WALKS
            self._onward = self._pressed if walked else OPPOSITE[here.facing]
        onward = self._onward
        if self._ends <= 4:
            return self._press(onward)
        if self._ends <= 16:
            return self._press(OPPOSITE[onward])
        if self._plans > 3:
            return Decision("blocked", reason="the door does not react")
        self._field = None
        return self._press(OPPOSITE[onward])

    def _face(self, goal: Beside, here: Standing) -> Decision:
        x, y = centre(goal, here.size)
        direction = _towards(x - here.x, y - here.y)
        if here.facing == direction and self._still >= 1 and self._pressed == direction:
            return Decision("arrived")
        return self._insist(direction, "cannot get near the tile")

    def _push(self, here: Standing) -> Decision:
        """There is no path: walk against what is in the way, the longer way first.

        A locked door opens, a block moves, a bush may hide a gap: then the room changes and the
        way is planned again.
        """
        x, y = centre(self._goal, here.size)
        dx, dy = x - here.x, y - here.y
        ways = [_towards(dx, dy)]
        if min(abs(dx), abs(dy)):
            ways.append(_towards(0, dy) if abs(dx) > abs(dy) else _towards(dx, 0))
        if isinstance(self._goal, Place | Beside):
            ways = [way for way in ways if not self._leads_out(here, way)]
        turn = (self._ends - 1) // self._settings.push_steps
        if turn < len(ways):
            return self._press(ways[turn])
        return Decision("blocked", reason=self._trouble)

    def _leads_out(self, here: Standing, way: Action) -> bool:
        """A door or the rim of the room is ahead: pushing would leave the room of the goal."""
        dy, dx = VECTORS[way]
        row, column = (here.y + FEET + dy * TILE) // TILE, (here.x + dx * TILE) // TILE
        height, width = (pixels // TILE for pixels in here.size)
        if not (0 <= row < height and 0 <= column < width):
            return True
        return bool(self._warps[row, column])


def _ground(ram: RamBlocks) -> bytes:
    terrain = terrain_of(ram)
    return terrain.collisions.tobytes() + terrain.layout.tobytes()


def _towards(dx: int, dy: int) -> Action:
    if abs(dx) > abs(dy):
        return Action.RIGHT if dx > 0 else Action.LEFT
    return Action.DOWN if dy > 0 else Action.UP
