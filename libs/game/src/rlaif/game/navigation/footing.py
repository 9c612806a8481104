"""Where a decision step leads: a room's terrain in, a pixel for every pixel and direction out.

The game's own rule, pixel by pixel and frame by frame: two probes ahead of the body decide whether
the player walks on, stands, or slides around a corner that only one of them meets. So gaps of half
a tile, thin edges and corners count as they do in the game, and what can be reached with one button
held for a whole step is known exactly.
"""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import FEET, PROBES, VECTORS, WALKS, TilePlace
from rlaif.game.navigation.terrain import (
    TILE,
    TILE_COLUMNS,
    TILE_ROWS,
    Terrain,
    solid_pixels,
)

NOWHERE = -1
"""Where a step leads that would kill."""

RIM_TOP = RIM_LEFT = 5
RIM_BOTTOM, RIM_RIGHT = 6, 5
"""The room is left where y or x is at most 5, or beyond the far edge less as much."""

_PAD = 16
_CARE = 2
"""Pixels around what kills that are kept off: not every game walks as exactly as the rule."""

_LANE = 4
"""Pixels off the middle of a tile from which the player jumps off a cliff."""

_NEAR = 20

Pixels = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Footing:
    """The steps of a room; a pixel is the index `y * width + x` of where the player stands.

    Attributes:
        size: Height and width in pixels.
        ends: `[4, pixels]` int32, the pixel after a step by direction; NOWHERE where it would kill.
        costs: `[4, pixels]` uint8, what the step costs.
        ways_out: `[pixels]` bool, the room is left there: its rim, doors, stairs.
    """

    size: tuple[int, int]
    ends: npt.NDArray[np.int32]
    costs: npt.NDArray[np.uint8]
    ways_out: Pixels

    def index(self, x: int, y: int) -> int:
        """The pixel at (x, y), kept to the room."""
        height, width = self.size
        return min(max(y, 0), height - 1) * width + min(max(x, 0), width - 1)

    def on_tile(self, tile: TilePlace) -> Pixels:
        """`[pixels]`: the player's feet are on the tile."""
        y, x = np.indices(self.size)
        there: Pixels = ((y + FEET) // TILE == tile.row) & (x // TILE == tile.column)
        return there.ravel()

    def around(self, x: int, y: int, reach: int) -> Pixels:
        """`[pixels]`: at most `reach` off on each axis."""
        ys, xs = np.indices(self.size)
        there: Pixels = (np.abs(ys - y) <= reach) & (np.abs(xs - x) <= reach)
        return there.ravel()

    def rim(self, direction: Action) -> Pixels:
        """`[pixels]`: beyond the edge, where the screen begins to scroll."""
        return _rims(self.size)[direction].ravel()


@dataclass(frozen=True)
class StepCosts:
    """What a decision step costs; care and leaps never make a way half again as long."""

    plain: int = 2
    care: int = 1  # on top, to within two pixels of what kills
    danger: int = 8  # on top, to near an enemy
    leap: int = 1  # on top, off a cliff, which has no way back


def footing(
    terrain: Terrain,
    *,
    frames: int = 4,
    costs: StepCosts | None = None,
    enterable: Collection[TilePlace] = (),
    obstacles: Iterable[tuple[int, int]] = (),
    dangers: Iterable[tuple[int, int]] = (),
) -> Footing:
    """Work out the steps of a room; about 5 ms.

    `frames` is how long a step holds its button. Doors in `enterable` are ordinary ground: the one
    on which the player stands. `obstacles` are (x, y) of people and things that stop the player and
    are not in the collision bytes, `dangers` those of enemies.
    """
    costs = costs or StepCosts()
    solid = np.pad(solid_pixels(terrain.collisions), _PAD)
    for x, y in obstacles:
        solid[max(0, y + _PAD - 6) : y + _PAD + 6, max(0, x + _PAD - 6) : x + _PAD + 6] = True
    deadly, wet, ways_out = _ground(terrain, enterable)
    extra = np.zeros(terrain.size, dtype=np.uint8)
    extra[_grown(deadly)] = costs.care
    for x, y in dangers:
        extra[max(0, y - _NEAR) : y + _NEAR + 1, max(0, x - _NEAR) : x + _NEAR + 1] += costs.danger
    ends = np.empty((4, deadly.size), dtype=np.int32)
    prices = np.empty((4, deadly.size), dtype=np.uint8)
    for direction in WALKS:
        pixel = _a_frame_on(solid, direction, terrain.size)
        ends[direction] = _a_step_on(pixel, frames, deadly.ravel(), wet.ravel(), ways_out.ravel())
        prices[direction] = costs.plain + extra.ravel()[np.maximum(ends[direction], 0)]
        for start, end in _leaps(terrain, direction, pixel, deadly):
            ends[direction, start], prices[direction, start] = end, costs.plain + costs.leap
    return Footing(terrain.size, ends, prices, ways_out.ravel())


def _ground(terrain: Terrain, enterable: Collection[TilePlace]) -> tuple[Pixels, Pixels, Pixels]:
    """`[height, width]` each: what kills, what is swum in, where the room is left."""
    doors = terrain.warps()
    for row, column in enterable:
        if 0 <= row < TILE_ROWS and 0 <= column < TILE_COLUMNS:
            doors[row, column] = False
    wet = terrain.wet()
    deadly = terrain.deadly() if terrain.swims else terrain.deadly() | wet
    height, width = terrain.size
    rows = np.clip((np.arange(height) + FEET) // TILE, 0, TILE_ROWS - 1)[:, np.newaxis]
    columns = np.arange(width) // TILE
    left = np.any(np.stack(list(_rims(terrain.size).values())), axis=0)
    return deadly[rows, columns], wet[rows, columns], doors[rows, columns] | left


def _rims(size: tuple[int, int]) -> dict[Action, Pixels]:
    y, x = np.indices(size)
    return {
        Action.UP: y <= RIM_TOP,
        Action.DOWN: y >= size[0] - RIM_BOTTOM,
        Action.LEFT: x <= RIM_LEFT,
        Action.RIGHT: x >= size[1] - RIM_RIGHT,
    }


def _grown(deadly: Pixels) -> Pixels:
    """The pixels around what kills, itself included."""
    grown = deadly.copy()
    for _ in range(_CARE):
        before = grown.copy()
        grown[1:] |= before[:-1]
        grown[:-1] |= before[1:]
        grown[:, 1:] |= before[:, :-1]
        grown[:, :-1] |= before[:, 1:]
    return grown


def _a_frame_on(solid: Pixels, direction: Action, size: tuple[int, int]) -> npt.NDArray[np.int32]:
    """`[pixels]`: the pixel a frame later. Slides ask no wall, as in the game."""
    height, width = size
    one, two = (
        solid[_PAD + y : _PAD + y + height, _PAD + x : _PAD + x + width]
        for y, x in PROBES[direction]
    )
    dy, dx = VECTORS[direction]
    aside = one.astype(np.int32) - two  # to the right or down where the first alone is blocked
    free = ~(one | two)
    y, x = np.indices(size, dtype=np.int32)
    y = np.clip(y + free * dy + aside * (dx != 0), 0, height - 1)
    x = np.clip(x + free * dx + aside * (dy != 0), 0, width - 1)
    return (y * width + x).ravel()


def _a_step_on(
    pixel: npt.NDArray[np.int32], frames: int, deadly: Pixels, wet: Pixels, ways_out: Pixels
) -> npt.NDArray[np.int32]:
    """`[pixels]`: the pixel after a step; who leaves the room on the way stops there."""
    here = np.arange(pixel.size, dtype=np.int32)
    dead = np.zeros(pixel.size, dtype=np.bool_)
    starts_out = ways_out.copy()
    for frame in range(frames):
        # In water every second frame counts.
        stops = (wet[here] & (frame % 2 == 0)) | (ways_out[here] & ~starts_out)
        here = np.where(stops, here, pixel[here])
        dead |= deadly[here]
    return np.where(dead, NOWHERE, here).astype(np.int32)


def _leaps(
    terrain: Terrain, direction: Action, pixel: npt.NDArray[np.int32], deadly: Pixels
) -> Iterable[tuple[int, int]]:
    """Jumps over cliffs to the middle of the next free tile, from where the cliff stops him."""
    ledges = terrain.ledges(direction)
    if not ledges.any():
        return
    (height, width), (dy, dx) = terrain.size, VECTORS[direction]
    rows, columns = height // TILE, width // TILE
    free = terrain.collisions == 0
    for row, column in np.argwhere(free[:rows, :columns]).tolist():
        y, x = row + dy, column + dx
        while 0 <= y < rows and 0 <= x < columns and ledges[y, x]:
            y, x = y + dy, x + dx
        if (y, x) == (row + dy, column + dx) or not (0 <= y < rows and 0 <= x < columns):
            continue
        landing = y * TILE + TILE // 2, x * TILE + TILE // 2
        if free[y, x] and not deadly[landing]:
            yield from _off_the_edge(pixel, (row, column), direction, landing, width)


def _off_the_edge(
    pixel: npt.NDArray[np.int32],
    tile: tuple[int, int],
    direction: Action,
    landing: tuple[int, int],
    width: int,
) -> Iterable[tuple[int, int]]:
    """The pixels in the lane of a tile's middle where the cliff stops him, his feet on the tile."""
    dy, dx = VECTORS[direction]
    y, x = tile[0] * TILE + TILE // 2, tile[1] * TILE + TILE // 2
    for aside in range(-_LANE, _LANE + 1):
        for ahead in range(math.ceil(TILE / 2)):
            line = y + dy * ahead + aside * (dx != 0)
            at = line * width + x + dx * ahead + aside * (dy != 0)
            if pixel[at] == at and (line + FEET) // TILE == tile[0]:
                there = landing[0] + aside * (dx != 0), landing[1] + aside * (dy != 0)
                yield at, there[0] * width + there[1]
