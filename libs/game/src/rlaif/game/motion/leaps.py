"""Jumps off cliffs: terrain in, pairs of start and landing pixels out."""

import math
from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.motion.grid import FEET, PROBES, VECTORS
from rlaif.game.motion.terrain import TILE, Terrain

_LANE = 4
"""Pixels off the center of a tile within which the player jumps off a cliff."""


def leaps(
    terrain: Terrain, direction: Action, solid: npt.NDArray[np.uint8], pad: int
) -> Iterator[tuple[int, int]]:
    """Yield (start, landing) pixels, `y * width + x`, of jumps in a direction.

    A jump starts where a cliff stops the player and ends at the center of the next free tile.

    Args:
        terrain: The room.
        direction: Direction of the jump.
        solid: Pixels that stop the player, padded by `pad` on each side.
        pad: Width of the padding.
    """
    cliffs = terrain.ledges(direction)
    if not cliffs.any():
        return
    (height, width), (dy, dx) = terrain.size, VECTORS[direction]
    rows, columns = height // TILE, width // TILE
    free = terrain.collisions == 0
    deadly = terrain.deadly() if terrain.swims else terrain.deadly() | terrain.wet()
    for row, column in np.argwhere(free[:rows, :columns]).tolist():
        y, x = row + dy, column + dx
        while 0 <= y < rows and 0 <= x < columns and cliffs[y, x]:
            y, x = y + dy, x + dx
        if (y, x) == (row + dy, column + dx) or not (0 <= y < rows and 0 <= x < columns):
            continue
        if free[y, x] and not deadly[y, x]:
            landing = y * TILE + TILE // 2, x * TILE + TILE // 2
            for at, aside in _starts(solid, pad, (row, column), direction, width):
                yield at, (landing[0] + aside * (dx != 0)) * width + landing[1] + aside * (dy != 0)


def _starts(
    solid: npt.NDArray[np.uint8], pad: int, tile: tuple[int, int], direction: Action, width: int
) -> Iterator[tuple[int, int]]:
    """Pixels of a tile's center lane at which the cliff stops the player, and how far off it."""
    dy, dx = VECTORS[direction]
    y, x = tile[0] * TILE + TILE // 2, tile[1] * TILE + TILE // 2
    for aside in range(-_LANE, _LANE + 1):
        for ahead in range(math.ceil(TILE / 2)):
            row, column = y + dy * ahead + aside * (dx != 0), x + dx * ahead + aside * (dy != 0)
            stopped = all(solid[pad + row + py, pad + column + px] for py, px in PROBES[direction])
            if stopped and (row + FEET) // TILE == tile[0]:
                yield row * width + column, aside
