"""Where to go: what a caller may ask for, and the pixels at which it is fulfilled."""

from dataclasses import dataclass

import numpy as np

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.footing import Footing, Pixels
from rlaif.game.navigation.grid import VECTORS, TilePlace, tile_under
from rlaif.game.navigation.room_graph import RoomId


@dataclass(frozen=True)
class Place:
    """Stand at a pixel of a room, give or take the tolerance."""

    room: RoomId
    x: int
    y: int


@dataclass(frozen=True)
class OnTile:
    """Stand on a tile: near its middle, or where one can if that is in a wall."""

    room: RoomId
    tile: TilePlace


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


Goal = Place | OnTile | Beside | Leave | Enter
"""What one room is enough for."""

Target = Goal | Reach

NEAR = 4
"""Pixels off a place that count as there: a step of four frames leads as far."""

_BESIDE = 16
_ALONG_EDGE = 24


def goal_pixels(footing: Footing, goal: Goal, *, near: int = NEAR) -> list[Pixels]:
    """Where the goal is reached; a later set counts where no way leads to those before it.

    `near` is how far off a `Place` or the middle of a tile one may stand, in pixels.
    """
    if isinstance(goal, Place):
        return [footing.around(goal.x, goal.y, near), footing.around(goal.x, goal.y, 2 * NEAR)]
    if isinstance(goal, OnTile):
        there = footing.on_tile(goal.tile)
        return [there & footing.around(*goal.tile.middle, near), there]
    if isinstance(goal, Enter):
        return [footing.on_tile(goal.tile)]
    if isinstance(goal, Beside):
        (x, y), vectors = goal.tile.middle, VECTORS.values()
        sides = [footing.around(x + dx * _BESIDE, y + dy * _BESIDE, near) for dy, dx in vectors]
        return [np.any(np.stack(sides), axis=0)]
    rim = footing.rim(goal.direction)
    if goal.x is None or goal.y is None:
        return [rim]
    return [rim & footing.around(goal.x, goal.y, _ALONG_EDGE), rim]


def centre(goal: Goal, size: tuple[int, int]) -> tuple[int, int]:
    """About where the goal is, (x, y) in pixels; nearness to it is measured from here."""
    if isinstance(goal, Place):
        return goal.x, goal.y
    if not isinstance(goal, Leave):
        return goal.tile.middle
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
        return (tile_under(goal.x, goal.y),)
    return ()
