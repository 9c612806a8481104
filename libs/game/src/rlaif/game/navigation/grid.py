"""The tiles of a room, the four ways over them, and what of the player's body meets a wall."""

from typing import NamedTuple

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.terrain import TILE

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
