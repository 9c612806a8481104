"""Walks to a goal in one room, closed loop: the RAM of each step in, the next action out.

It plans on what the RAM says now, follows the path with the position it really has, and plans again
when the room changes, when it is knocked away or when it does not move.
"""

from dataclasses import dataclass, field
from typing import Literal

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import enemies, talkables
from rlaif.game.navigation.goals import Beside, Enter, Goal, Leave, Place, centre, enterable
from rlaif.game.navigation.goals import goal_nodes as nodes_of
from rlaif.game.navigation.grid import (
    FEET,
    STEP,
    VECTORS,
    WALKS,
    CollisionGrid,
    Costs,
    Node,
    TilePlace,
    collision_grid,
)
from rlaif.game.navigation.room_graph import OPPOSITE
from rlaif.game.navigation.room_watcher import Standing, standing
from rlaif.game.navigation.search import Path, find_path, nearest_path
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
    """How patiently to walk; lengths are in pixels."""

    costs: Costs = field(default_factory=Costs)
    tolerance: int = 2  # off a node that count as on it; below 3, or 4 a step oscillate
    place_tolerance: int = 4  # off a `Place` that count as arrived
    stuck_steps: int = 7  # without moving: the move is given up; doors give way after 20 frames
    replan_every: int = 12  # steps between plans while enemies are there
    most_plans: int = 60  # in one room before it gives up
    push_steps: int = 8  # against what is in the way when there is no path


class Walker:
    """One goal in one room."""

    def __init__(self, goal: Goal, settings: WalkSettings) -> None:
        self._goal, self._settings = goal, settings
        self._grid: CollisionGrid | None = None
        self._path: Path | None = None
        self._next = 0
        self._given_up: set[tuple[Node, Action]] = set()
        self._seen = b""
        self._plans = self._since_plan = self._still = self._ends = 0
        self._before: tuple[int, int] | None = None
        self._pressed = Action.NOP
        self._trouble = ""
        self._warps = np.zeros((0, 0), dtype=np.bool_)

    def next(self, ram: RamBlocks) -> Decision:
        """The next action; the player has control in the goal's room."""
        here = standing(ram)
        self._notice(here)
        if self._near_place(here):
            return Decision("arrived")
        if self._must_plan(ram, here):
            if self._plans >= self._settings.most_plans:
                return Decision("blocked", reason=f"gave up after {self._plans} plans")
            self._plan(ram, here)
        action = self._follow(here)
        if action is not None:
            return self._press(action)
        return self._at_the_end(here)

    def _press(self, action: Action) -> Decision:
        self._pressed = action
        return Decision("walking", action, self._trouble)

    def _notice(self, here: Standing) -> None:
        """Count how long the player stands still although a direction is pressed."""
        moved = self._before != (here.x, here.y)
        self._still = 0 if moved or self._pressed not in WALKS else self._still + 1
        self._before = (here.x, here.y)
        self._since_plan += 1

    def _near_place(self, here: Standing) -> bool:
        if not isinstance(self._goal, Place):
            return False
        off = max(abs(here.x - self._goal.x), abs(here.y - self._goal.y))
        return off <= self._settings.place_tolerance

    def _must_plan(self, ram: RamBlocks, here: Standing) -> bool:
        if self._path is None or self._seen != _surroundings(ram):
            return True
        if self._next < len(self._path.nodes):
            if self._still >= self._settings.stuck_steps:
                self._give_up_move(here)
                return True
            if self._strayed(here):
                return True
        return self._since_plan >= self._settings.replan_every and bool(enemies(ram))

    def _give_up_move(self, here: Standing) -> None:
        for row in {here.y // STEP, -(-here.y // STEP)}:
            for column in {here.x // STEP, -(-here.x // STEP)}:
                self._given_up.add((Node(row, column), self._pressed))
        self._still = 0

    def _strayed(self, here: Standing) -> bool:
        assert self._path is not None
        ahead = self._path.nodes[self._next]
        behind = self._path.nodes[max(0, self._next - 1)]
        length = abs(ahead.x - behind.x) + abs(ahead.y - behind.y)
        return abs(ahead.x - here.x) + abs(ahead.y - here.y) > length + 2 * STEP

    def _plan(self, ram: RamBlocks, here: Standing) -> None:
        self._plans += 1
        self._since_plan = self._next = self._ends = 0
        self._seen = _surroundings(ram)
        under = TilePlace((here.y + FEET) // TILE, here.x // TILE)
        terrain = terrain_of(ram)
        self._warps = terrain.warps()
        grid = collision_grid(
            terrain,
            costs=self._settings.costs,
            enterable=(under, *enterable(self._goal)),
            obstacles=[(it.x, it.y) for it in talkables(ram)],
            dangers=[(it.x, it.y) for it in enemies(ram)],
        )
        for node, direction in self._given_up:
            if grid.inside(node):
                grid.moves[direction, node.row, node.column] = float("inf")
        starts = {node: far / STEP for node, far in grid.entries(here.x, here.y).items()}
        self._grid, self._trouble = grid, ""
        self._path = find_path(grid, starts, nodes_of(grid, self._goal))
        if self._path is None:
            x, y = centre(self._goal, here.size)
            self._path = nearest_path(grid, starts, x, y)
            self._trouble = f"no way to ({x}, {y}) in this room"
            if self._path is None:
                self._path = Path((), (), 0.0)
                self._trouble += f", and none away from ({here.x}, {here.y})"
            else:
                end = self._path.nodes[-1]
                self._trouble += f"; ({end.x}, {end.y}) is the nearest place"

    def _follow(self, here: Standing) -> Action | None:
        """The direction of the next node of the path; None at its end."""
        assert self._path is not None
        assert self._grid is not None
        near, nodes = self._settings.tolerance, self._path.nodes
        while self._next < len(nodes) and _off(here, nodes[self._next]) <= near:
            self._next += 1
        if self._next == len(nodes):
            return None
        node = nodes[self._next]
        wanted = []
        if abs(node.x - here.x) > near:
            wanted.append(Action.RIGHT if node.x > here.x else Action.LEFT)
        if abs(node.y - here.y) > near:
            wanted.append(Action.DOWN if node.y > here.y else Action.UP)
        if self._next:
            # Get back in line before walking on.
            onward = self._path.directions[self._next - 1]
            wanted.sort(key=lambda direction: direction == onward)
        free = [d for d in wanted if self._grid.can_walk(here.x, here.y, d)]
        return (free or wanted)[0]

    def _at_the_end(self, here: Standing) -> Decision:
        """The path is walked: the last bit, which depends on the goal."""
        self._ends += 1
        if self._trouble:
            return self._push(here)
        if isinstance(self._goal, Leave):
            return self._insist(self._goal.direction, "the edge does not lead anywhere")
        if isinstance(self._goal, Enter):
            return self._go_in()
        if isinstance(self._goal, Beside):
            return self._face(self._goal, here)
        dx, dy = self._goal.x - here.x, self._goal.y - here.y
        near = self._settings.place_tolerance
        if self._ends > 4 * near or self._still >= 2:
            return Decision("arrived", reason=f"as near as one can stand, ({here.x}, {here.y})")
        if abs(dx) > near:
            return self._press(Action.RIGHT if dx > 0 else Action.LEFT)
        return self._press(Action.DOWN if dy > 0 else Action.UP)

    def _insist(self, direction: Action, reason: str) -> Decision:
        if self._still >= self._settings.stuck_steps or self._ends > 8 * STEP:
            return Decision("blocked", reason=reason)
        return self._press(direction)

    def _go_in(self) -> Decision:
        """Walk on over the tile; then off it and on it again, for who came out of this door."""
        assert self._path is not None
        onward = self._path.directions[-1] if self._path.directions else Action.UP
        if self._ends <= STEP // 2:
            return self._press(onward)
        if self._ends <= 2 * STEP:
            return self._press(OPPOSITE[onward])
        if self._plans > 3:
            return Decision("blocked", reason="the door does not react")
        self._path = None
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


def _surroundings(ram: RamBlocks) -> bytes:
    terrain = terrain_of(ram)
    return terrain.collisions.tobytes() + terrain.layout.tobytes()


def _off(here: Standing, node: Node) -> int:
    return max(abs(here.x - node.x), abs(here.y - node.y))


def _towards(dx: int, dy: int) -> Action:
    if abs(dx) > abs(dy):
        return Action.RIGHT if dx > 0 else Action.LEFT
    return Action.DOWN if dy > 0 else Action.UP
