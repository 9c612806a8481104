"""Reachable places of a room by emulator steps: the reference for pathfinding."""

from dataclasses import dataclass, field

from rlaif.game.machine.actions import Action

NEAR = 4
"""Maximum distance in pixels from the center of a tile that counts as on it."""

Pixel = tuple[int, int]
"""x and y of the player."""

Tile = tuple[int, int]
"""Row and column."""


@dataclass
class Truth:
    """Places that emulator steps reach from a start.

    Attributes:
        start: Initial position of the player.
        steps: Minimum steps to each pixel that the player can reach.
        ways: The last step to each of them, and its origin.
        doors: Minimum steps that leave the room through a tile.
    """

    start: Pixel
    steps: dict[Pixel, int] = field(default_factory=dict)
    ways: dict[Pixel, tuple[Pixel, Action]] = field(default_factory=dict)
    doors: dict[Tile, int] = field(default_factory=dict)

    def goal(self, tile: Tile) -> set[Pixel]:
        """Positions that count as on a tile: near its center, or anywhere otherwise."""
        on_it = {pixel for pixel in self.steps if tile_of(*pixel) == tile}
        y, x = tile[0] * 16 + 8, tile[1] * 16 + 8
        return {at for at in on_it if max(abs(at[0] - x), abs(at[1] - y)) <= NEAR} or on_it

    def least(self, tile: Tile) -> int | None:
        """Minimum steps to a tile or through it out of the room; None if unreachable."""
        if tile in self.doors:
            return self.doors[tile]
        return min((self.steps[pixel] for pixel in self.goal(tile)), default=None)

    def way(self, pixel: Pixel) -> list[Action]:
        found: list[Action] = []
        while pixel in self.ways:
            pixel, action = self.ways[pixel]
            found.append(action)
        return found[::-1]


def tile_of(x: int, y: int) -> Tile:
    """The tile under the player's feet, as the game computes it (wActiveTilePos)."""
    return (y + 5) >> 4, x >> 4


def all_tiles(*, large: bool = False) -> list[Tile]:
    """The tiles of a room."""
    rows, columns = (11, 15) if large else (8, 10)
    return [(row, column) for row in range(rows) for column in range(columns)]
