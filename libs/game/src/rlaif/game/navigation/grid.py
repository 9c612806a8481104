"""Where the player can walk: a room's terrain in, a grid of half tiles with the cost of each move.

A node is a place of the player at a multiple of 8 pixels: node (row, column) is y = 8 * row,
x = 8 * column. A move leads to the next node in a direction and is allowed where the game itself
would let the player walk all 8 pixels: its wall probes are asked at each pixel, so quarters of
tiles, thin edges and the width of the body count as in the game.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass, field
from typing import NamedTuple

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.terrain import (
    TILE,
    TILE_COLUMNS,
    TILE_ROWS,
    Terrain,
    solid_pixels,
)

STEP = 8
"""Pixels between two nodes."""

WALKS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
VECTORS: dict[Action, tuple[int, int]] = {
    Action.UP: (-1, 0),
    Action.DOWN: (1, 0),
    Action.LEFT: (0, -1),
    Action.RIGHT: (0, 1),
}
"""(dy, dx) of a direction."""

PROBES: dict[Action, tuple[tuple[int, int], tuple[int, int]]] = {
    Action.UP: ((-3, -3), (-3, 2)),
    Action.DOWN: ((7, -3), (7, 2)),
    Action.LEFT: ((0, -5), (5, -5)),
    Action.RIGHT: ((0, 4), (5, 4)),
}
"""(dy, dx) from the player of the pixels that must be free to walk (link.s L4807-4860)."""

FEET = 5
"""The tile under the player is the one at (y + 5, x)."""

_CARE = 2
"""Hazards reach so many pixels farther than they do: a player is seldom exactly on a node."""

_PAD = 16
_EDGE = 5
"""The screen scrolls where x or y is at most 5, or beyond the far edge by as much."""


class Node(NamedTuple):
    """A place on the grid, in half tiles."""

    row: int
    column: int

    @property
    def x(self) -> int:
        """Pixels from the left edge of the room."""
        return self.column * STEP

    @property
    def y(self) -> int:
        """Pixels from the top edge of the room."""
        return self.row * STEP


class TilePlace(NamedTuple):
    """A tile of the room; wActiveTilePos is `row << 4 | column`."""

    row: int
    column: int

    @property
    def middle(self) -> tuple[int, int]:
        """(x, y) of its middle, in pixels."""
        return self.column * TILE + TILE // 2, self.row * TILE + TILE // 2


def tile_under(x: int, y: int) -> TilePlace:
    """The tile that a player at a pixel stands on."""
    return TilePlace((y + FEET) // TILE, x // TILE)


@dataclass(frozen=True)
class Costs:
    """What a move of 8 pixels costs, all but `plain` on top of it; infinity forbids it."""

    plain: float = 1.0  # on ordinary ground; the unit
    deadly: float = math.inf  # into holes and lava
    water: float = 1.0  # into deep water for who can swim; others never enter
    warp: float = math.inf  # onto a door, stairs or a cave mouth that is not the target
    danger: float = 4.0  # next to something dangerous (`dangers` of the grid)
    leap: float = 4.0  # for jumping off a cliff, which has no way back


@dataclass(frozen=True)
class CollisionGrid:
    """The moves of a room.

    Attributes:
        size: Height and width of the room in pixels.
        moves: `[4, rows, columns]` float64, cost of a move by direction and node; infinity where
            there is none. Nodes of row 0 and column 0 are outside.
        exits: `[4, rows, columns]` bool, from here walking on leaves the room in this direction.
        leaps: Jumps off cliffs: (node, direction) to where it leads and what it costs.
        open_pixels: `[4, height, width]` bool, the player at a pixel can walk one on.
    """

    size: tuple[int, int]
    moves: npt.NDArray[np.float64]
    exits: npt.NDArray[np.bool_]
    leaps: dict[tuple[Node, Action], tuple[Node, float]] = field(default_factory=dict)
    open_pixels: npt.NDArray[np.bool_] = field(default_factory=lambda: np.zeros((4, 0, 0), bool))

    def inside(self, node: Node) -> bool:
        """Whether the node lies in the room."""
        rows, columns = self.moves.shape[1:]
        return bool(1 <= node.row < rows and 1 <= node.column < columns)

    def neighbours(self, node: Node) -> list[tuple[Action, Node, float]]:
        """(direction, next node, cost) of each possible move."""
        found = []
        for direction in WALKS:
            cost = float(self.moves[direction, node.row, node.column])
            if cost < math.inf:
                dy, dx = VECTORS[direction]
                found.append((direction, Node(node.row + dy, node.column + dx), cost))
            if (leap := self.leaps.get((node, direction))) is not None:
                found.append((direction, *leap))
        return found

    def can_walk(self, x: int, y: int, direction: Action) -> bool:
        """Whether the player at a pixel can walk one pixel on."""
        _, height, width = self.open_pixels.shape
        return 0 <= y < height and 0 <= x < width and bool(self.open_pixels[direction, y, x])

    def entries(self, x: int, y: int, *, reach: int = 12) -> dict[Node, int]:
        """The nodes near a pixel and how many pixels away they are on foot."""
        frontier, seen, found = [(x, y)], {(x, y): 0}, {}
        while frontier:
            following = []
            for px, py in frontier:
                if px % STEP == 0 and py % STEP == 0:
                    node = Node(py // STEP, px // STEP)
                    if self.inside(node):
                        found[node] = seen[px, py]
                        continue
                for direction in WALKS:
                    dy, dx = VECTORS[direction]
                    at = (px + dx, py + dy)
                    near = max(abs(at[0] - x), abs(at[1] - y)) <= reach
                    if near and at not in seen and self.can_walk(px, py, direction):
                        seen[at] = seen[px, py] + 1
                        following.append(at)
            frontier = following
        return found


def collision_grid(
    terrain: Terrain,
    *,
    costs: Costs | None = None,
    enterable: Collection[TilePlace] = (),
    obstacles: Iterable[tuple[int, int]] = (),
    dangers: Iterable[tuple[int, int]] = (),
) -> CollisionGrid:
    """Work out the moves of a room; about 2 ms.

    Tiles in `enterable` cost nothing more whatever they are: the one that is walked to, and the one
    on which the player stands. `obstacles` are (x, y) of people and things that stop the player and
    are not in the collision bytes, `dangers` those of enemies: moves that end within 20 pixels of
    one cost more.
    """
    costs = costs or Costs()
    solid = np.pad(solid_pixels(terrain.collisions), _PAD)
    for x, y in obstacles:
        solid[max(0, y + _PAD - 6) : y + _PAD + 6, max(0, x + _PAD - 6) : x + _PAD + 6] = True
    height, width = terrain.size
    open_pixels = np.stack([_open(solid, direction, height, width) for direction in WALKS])
    ground = _ground_pixels(terrain, costs, enterable)
    rows, columns = height // STEP, width // STEP
    moves = np.full((4, rows, columns), math.inf)
    exits = np.zeros((4, rows, columns), dtype=np.bool_)
    for direction in WALKS:
        _fill_moves(moves[direction], direction, open_pixels[direction], ground, costs)
        _fill_exits(exits[direction], direction, open_pixels[direction])
    for x, y in dangers:
        _raise_near(moves, x, y, costs.danger)
    leaps = _leaps(terrain, ground, costs)
    return CollisionGrid((height, width), moves, exits, leaps, open_pixels)


def _open(
    solid: npt.NDArray[np.bool_], direction: Action, height: int, width: int
) -> npt.NDArray[np.bool_]:
    (y1, x1), (y2, x2) = PROBES[direction]
    one = solid[_PAD + y1 : _PAD + y1 + height, _PAD + x1 : _PAD + x1 + width]
    two = solid[_PAD + y2 : _PAD + y2 + height, _PAD + x2 : _PAD + x2 + width]
    free: npt.NDArray[np.bool_] = ~(one | two)
    return free


def _ground_pixels(
    terrain: Terrain, costs: Costs, enterable: Collection[TilePlace]
) -> npt.NDArray[np.float64]:
    """`[height, width]`: what more it costs that the player stands at a pixel."""
    tiles = np.zeros((TILE_ROWS, TILE_COLUMNS))
    tiles[terrain.wet()] = costs.water if terrain.swims else math.inf
    tiles[terrain.deadly()] = costs.deadly
    tiles[terrain.warps()] = costs.warp
    for row, column in enterable:
        if 0 <= row < TILE_ROWS and 0 <= column < TILE_COLUMNS:
            tiles[row, column] = 0.0
    height, width = terrain.size
    ground = np.zeros(terrain.size)
    for dy in (-_CARE, 0, _CARE):
        rows = np.clip((np.arange(height) + FEET + dy) // TILE, 0, TILE_ROWS - 1)
        for dx in (-_CARE, 0, _CARE):
            columns = np.clip((np.arange(width) + dx) // TILE, 0, TILE_COLUMNS - 1)
            ground = np.maximum(ground, tiles[rows[:, np.newaxis], columns])
    return ground


def _fill_moves(
    moves: npt.NDArray[np.float64],
    direction: Action,
    open_pixels: npt.NDArray[np.bool_],
    ground: npt.NDArray[np.float64],
    costs: Costs,
) -> None:
    """The cost of each move in a direction, for nodes whose next node is in the room as well."""
    rows, columns = moves.shape
    dy, dx = VECTORS[direction]
    r = slice(1 + (dy < 0), rows - (dy > 0))
    c = slice(1 + (dx < 0), columns - (dx > 0))
    y, x = (np.arange(rows) * STEP)[r][:, np.newaxis], (np.arange(columns) * STEP)[c]
    free = np.ones((y.size, x.size), dtype=np.bool_)
    extra = np.zeros(free.shape)
    for pixel in range(STEP):
        free &= open_pixels[y + dy * pixel, x + dx * pixel]
        extra = np.maximum(extra, ground[y + dy * (pixel + 1), x + dx * (pixel + 1)])
    moves[r, c] = np.where(free, costs.plain + extra, math.inf)


def _fill_exits(
    exits: npt.NDArray[np.bool_], direction: Action, open_pixels: npt.NDArray[np.bool_]
) -> None:
    """The nodes at the edge from which the screen scrolls after a few pixels."""
    height, width = open_pixels.shape
    ys, xs = np.arange(exits.shape[0]) * STEP, np.arange(exits.shape[1]) * STEP
    if direction in (Action.UP, Action.DOWN):
        row = 1 if direction == Action.UP else exits.shape[0] - 1
        lane = slice(_EDGE, ys[row] + 1) if row == 1 else slice(ys[row], height)
        exits[row, 1:] = np.asarray(open_pixels[lane][:, xs].all(axis=0))[1:]
        return
    column = 1 if direction == Action.LEFT else exits.shape[1] - 1
    lane = slice(_EDGE, xs[column] + 1) if column == 1 else slice(xs[column], width)
    exits[1:, column] = np.asarray(open_pixels[ys][:, lane].all(axis=1))[1:]


def _raise_near(moves: npt.NDArray[np.float64], x: int, y: int, cost: float) -> None:
    rows, columns = moves.shape[1:]
    for direction in WALKS:
        dy, dx = VECTORS[direction]
        near_y = np.abs((np.arange(rows) + dy) * STEP - y) <= 20
        near_x = np.abs((np.arange(columns) + dx) * STEP - x) <= 20
        moves[direction] += np.where(near_y[:, np.newaxis] & near_x, cost, 0.0)


def _leaps(
    terrain: Terrain,
    ground: npt.NDArray[np.float64],
    costs: Costs,
) -> dict[tuple[Node, Action], tuple[Node, float]]:
    """Jumps from the middle of a tile over cliff tiles to the middle of the next free tile."""
    found: dict[tuple[Node, Action], tuple[Node, float]] = {}
    height, width = ground.shape
    rows, columns = height // TILE, width // TILE
    free = np.asarray(terrain.collisions[:rows, :columns] == 0)
    for direction in WALKS:
        ledges = terrain.ledges(direction)
        dy, dx = VECTORS[direction]
        for row, column in np.argwhere(free):
            y, x = int(row) + dy, int(column) + dx
            while 0 <= y < rows and 0 <= x < columns and ledges[y, x]:
                y, x = y + dy, x + dx
            crossed = max(abs(y - int(row)), abs(x - int(column)))
            landed = 0 <= y < rows and 0 <= x < columns and free[y, x]
            if crossed < 2 or not landed:
                continue
            there = Node(2 * y + 1, 2 * x + 1)
            more = float(ground[there.y, there.x])
            if more < math.inf:
                here = Node(2 * int(row) + 1, 2 * int(column) + 1)
                cost = 2 * crossed * costs.plain + costs.leap + more
                found[here, direction] = (there, cost)
    return found
