"""Where emulator steps lead in a room: what finding the way is compared with."""

from dataclasses import dataclass, field

from rlaif.game.machine.actions import Action

NEAR = 4
"""Pixels off the middle of a tile that count as there."""

Pixel = tuple[int, int]
"""x and y of the player."""

Tile = tuple[int, int]
"""Row and column."""


@dataclass
class Truth:
    """Where emulator steps really lead from a start.

    Attributes:
        start: Where the player stands at first.
        steps: Minimum steps to each pixel where the player can stand.
        ways: The last step to each of them, and from where.
        doors: Least steps that lead over a tile and out of the room.
    """

    start: Pixel
    steps: dict[Pixel, int] = field(default_factory=dict)
    ways: dict[Pixel, tuple[Pixel, Action]] = field(default_factory=dict)
    doors: dict[Tile, int] = field(default_factory=dict)

    def goal(self, tile: Tile) -> set[Pixel]:
        """Where one is on a tile: near its middle, or anywhere on it if that cannot be reached."""
        on_it = {pixel for pixel in self.steps if tile_of(*pixel) == tile}
        y, x = tile[0] * 16 + 8, tile[1] * 16 + 8
        return {at for at in on_it if max(abs(at[0] - x), abs(at[1] - y)) <= NEAR} or on_it

    def least(self, tile: Tile) -> int | None:
        """Least steps to a tile or over it out of the room; None where none lead there."""
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
    """The tile under the player's feet, as the game counts (wActiveTilePos)."""
    return (y + 5) >> 4, x >> 4


def all_tiles(*, large: bool = False) -> list[Tile]:
    """The tiles of a room."""
    rows, columns = (11, 15) if large else (8, 10)
    return [(row, column) for row in range(rows) for column in range(columns)]
