"""Where to go: what a caller may ask for, and the nodes of the grid that fulfil it."""

from dataclasses import dataclass

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import FEET, STEP, VECTORS, CollisionGrid, Node, TilePlace
from rlaif.game.navigation.room_graph import RoomId
from rlaif.game.navigation.terrain import TILE


@dataclass(frozen=True)
class Place:
    """Stand at a pixel of a room, give or take the tolerance."""

    room: RoomId
    x: int
    y: int


@dataclass(frozen=True)
class Beside:
    """Stand next to a tile and face it: to talk, read, open, lift or cut."""

    room: RoomId
    tile: TilePlace


@dataclass(frozen=True)
class Leave:
    """Leave the room over an edge; `x` and `y`, if given, say about where along it."""

    room: RoomId
    direction: Action
    x: int | None = None
    y: int | None = None


@dataclass(frozen=True)
class Enter:
    """Walk onto a door, stairs or a cave mouth and come out in another room."""

    room: RoomId
    tile: TilePlace


@dataclass(frozen=True)
class Reach:
    """Be in a room, anywhere."""

    room: RoomId


Goal = Place | Beside | Leave | Enter
"""What one room is enough for."""

Target = Goal | Reach

_ALONG_EDGE = 24


def goal_nodes(grid: CollisionGrid, goal: Goal) -> set[Node]:
    """The nodes from which the goal is reached."""
    if isinstance(goal, Place):
        return _around(grid, goal.x, goal.y)
    if isinstance(goal, Enter):
        return {Node(2 * goal.tile.row + 1, 2 * goal.tile.column + 1)}
    if isinstance(goal, Beside):
        row, column = 2 * goal.tile.row + 1, 2 * goal.tile.column + 1
        around = {Node(row + 2 * dy, column + 2 * dx) for dy, dx in VECTORS.values()}
        return {node for node in around if grid.inside(node)}
    nodes = {Node(int(r), int(c)) for r, c in np.argwhere(grid.exits[goal.direction])}
    if goal.x is None or goal.y is None:
        return nodes
    vertical = goal.direction in (Action.UP, Action.DOWN)
    off = {n: abs(n.x - goal.x) if vertical else abs(n.y - goal.y) for n in nodes}
    return {n for n in nodes if off[n] <= _ALONG_EDGE} or nodes


def centre(goal: Goal, size: tuple[int, int]) -> tuple[int, int]:
    """About where the goal is, (x, y) in pixels; nearness to it is measured from here."""
    if isinstance(goal, Place):
        return goal.x, goal.y
    if isinstance(goal, (Enter, Beside)):
        return goal.tile.column * TILE + TILE // 2, goal.tile.row * TILE + TILE // 2
    height, width = size
    dy, dx = VECTORS[goal.direction]
    x = (goal.x if goal.x is not None else width // 2) if dx == 0 else (width if dx > 0 else 0)
    y = (goal.y if goal.y is not None else height // 2) if dy == 0 else (height if dy > 0 else 0)
    return x, y


def enterable(goal: Goal) -> tuple[TilePlace, ...]:
    """The tile of the goal, which may be a door."""
    if isinstance(goal, Enter):
        return (goal.tile,)
    if isinstance(goal, Place):
        return (TilePlace((goal.y + FEET) // TILE, goal.x // TILE),)
    return ()


def _around(grid: CollisionGrid, x: int, y: int) -> set[Node]:
    """The up to four nodes between which a pixel lies, at most half a step away on each axis."""
    rows = {_round_half(y), -_round_half(-y)}
    columns = {_round_half(x), -_round_half(-x)}
    nodes = {Node(row, column) for row in rows for column in columns}
    return {node for node in nodes if grid.inside(node)}


def _round_half(pixels: int) -> int:
    """The nearest multiple of a step; the upper one in the middle between two."""
    return (pixels + STEP // 2) // STEP
