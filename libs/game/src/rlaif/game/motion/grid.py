"""Directions, tiles, and the pixels of the player's body that meet walls."""

from typing import NamedTuple

from rlaif.game.machine.actions import Action
from rlaif.game.motion.terrain import TILE

WALKS = (Action.UP, Action.DOWN, Action.LEFT, Action.RIGHT)
VECTORS: dict[Action, tuple[int, int]] = {
    Action.UP: (-1, 0),
    Action.DOWN: (1, 0),
    Action.LEFT: (0, -1),
    Action.RIGHT: (0, 1),
}
"""(dy, dx) of a direction."""

OPPOSITE = {
    Action.UP: Action.DOWN,
    Action.DOWN: Action.UP,
    Action.LEFT: Action.RIGHT,
    Action.RIGHT: Action.LEFT,
}

PROBES: dict[Action, tuple[tuple[int, int], tuple[int, int]]] = {
    Action.UP: ((-3, -3), (-3, 2)),
    Action.DOWN: ((7, -3), (7, 2)),
    Action.LEFT: ((0, -5), (5, -5)),
    Action.RIGHT: ((0, 4), (5, 4)),
}
"""(dy, dx) from the player of the pixels that must be free to walk (link.s L4807-4860)."""

AHEAD = {Action.UP: (-7, 0), Action.DOWN: (11, 0), Action.LEFT: (2, -9), Action.RIGHT: (2, 8)}
"""(dy, dx) from the player to the pixel whose tile it acts on (the cartridge's `facing_pos`)."""

FEET = 5
"""The player stands on the tile at (y + 5, x)."""

RIM_TOP = RIM_LEFT = RIM_RIGHT = 5
RIM_BOTTOM = 6
"""The room is left where y or x is at most 5, or at most as many pixels from the far edge."""


class TilePlace(NamedTuple):
    """A tile of the room; wActiveTilePos is `row << 4 | column`."""

    row: int
    column: int

    @property
    def middle(self) -> tuple[int, int]:
        return self.column * TILE + TILE // 2, self.row * TILE + TILE // 2


def tile_of(x: int, y: int) -> TilePlace:
    """The tile that contains a pixel."""
    return TilePlace(y // TILE, x // TILE)


def tile_under(x: int, y: int) -> TilePlace:
    """The tile on which a player at a pixel stands."""
    return TilePlace((y + FEET) // TILE, x // TILE)


def neighbour(tile: TilePlace, direction: Action) -> TilePlace:
    """The adjacent tile, which may lie outside the room."""
    dy, dx = VECTORS[direction]
    return TilePlace(tile.row + dy, tile.column + dx)
