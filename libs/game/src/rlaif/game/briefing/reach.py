"""Where the player could walk to in a room: its terrain in, places that he reaches out.

Places lie eight pixels apart, and a move between two of them is open where the game's own wall
probes find all eight pixels free. It is told to a planner, not walked: who walks finds his way
pixel by pixel (`rlaif.game.navigation`).
"""

from dataclasses import dataclass
from functools import lru_cache

import numpy as np
import numpy.typing as npt

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import FEET, PROBES, VECTORS, WALKS
from rlaif.game.navigation.terrain import (
    TILE,
    TILE_COLUMNS,
    TILE_ROWS,
    Terrain,
    solid_pixels,
)

STEP = 8
"""Pixels between two places: place (row, column) is y = 8 * row, x = 8 * column."""

Places = npt.NDArray[np.bool_]
"""`[rows, columns]`, twice as many as the room has tiles; row 0 and column 0 are outside of it."""

_PAD = 16
_EDGE = 5
"""The screen scrolls where x or y is at most 5."""


@dataclass(frozen=True)
class Reach:
    """What is within reach.

    Attributes:
        places: Where the player can come to; doors are entered and not left again.
        rims: Direction → the places at an edge from which walking on leaves the room, whether they
            are within reach or not.
    """

    places: Places
    rims: dict[Action, Places]

    def enters(self, column: int, row: int) -> bool:
        """Whether the player can come to stand on a tile."""
        return bool((self.places & _on_tile(self.places.shape, column, row)).any())


@dataclass(frozen=True)
class _Room:
    """What of a room does not depend on where the player is.

    Sets of places are integers with a bit a place, row by row: a whole set moves by one shift.
    """

    shape: tuple[int, int]
    moves: dict[Action, int]  # from which the next place in a direction is walked to
    doors: int
    leaps: list[tuple[int, int]]  # bits of where a jump begins, and of where it ends
    rims: dict[Action, Places]


def reach(terrain: Terrain, x: int, y: int) -> Reach:
    """What a player at a pixel of a room can reach on foot, by swimming and off cliffs."""
    room = _room(
        terrain.collisions.tobytes(),
        terrain.layout.tobytes(),
        terrain.mode,
        terrain.large,
        terrain.swims,
    )
    rows, columns = room.shape
    own = _on_tile(room.shape, x // TILE, (y + FEET) // TILE)
    walks_on = ~(room.doors & ~_bits(own))
    shifts = {way: dy * columns + dx for way, (dy, dx) in VECTORS.items()}
    seen = 0
    for row in {y // STEP, -(-y // STEP)}:
        for column in {x // STEP, -(-x // STEP)}:
            if 1 <= row < rows and 1 <= column < columns:
                seen |= 1 << row * columns + column
    before = -1
    while seen != before:
        before = seen
        for way, shift in shifts.items():
            leave = seen & walks_on & room.moves[way]
            seen |= leave << shift if shift > 0 else leave >> -shift
        for start, end in room.leaps:
            seen |= end if seen & start else 0
    return Reach(_places(seen, room.shape), room.rims)


@lru_cache(maxsize=64)
def _room(collisions: bytes, layout: bytes, mode: int, large: bool, swims: bool) -> _Room:
    """About 1 ms; a player stays in a room for hundreds of steps, and others are in it too."""
    shape = (TILE_ROWS, TILE_COLUMNS)
    terrain = Terrain(
        np.frombuffer(collisions, dtype=np.uint8).reshape(shape),
        np.frombuffer(layout, dtype=np.uint8).reshape(shape),
        mode,
        large,
        swims,
    )
    height, width = terrain.size
    solid = np.pad(solid_pixels(terrain.collisions), _PAD)
    free = {way: _free(solid, way, height, width) for way in WALKS}
    hazard, doors = _ground(terrain)
    return _Room(
        shape=(height // STEP, width // STEP),
        moves={way: _bits(_moves(free[way], way) & ~_next_to(hazard, way)) for way in WALKS},
        doors=_bits(doors),
        leaps=[
            (1 << start[0] * (width // STEP) + start[1], 1 << end[0] * (width // STEP) + end[1])
            for start, end in _leaps(terrain)
            if not hazard[end]
        ],
        rims={way: _rim(free[way], way) for way in WALKS},
    )


def _free(solid: npt.NDArray[np.bool_], way: Action, height: int, width: int) -> Places:
    """`[height, width]`: the player at a pixel can walk one on."""
    (y1, x1), (y2, x2) = PROBES[way]
    one = solid[_PAD + y1 : _PAD + y1 + height, _PAD + x1 : _PAD + x1 + width]
    two = solid[_PAD + y2 : _PAD + y2 + height, _PAD + x2 : _PAD + x2 + width]
    free: Places = ~(one | two)
    return free


def _moves(free: Places, way: Action) -> Places:
    """The places from which all pixels to the next place are free, which lies in the room too."""
    height, width = free.shape
    dy, dx = VECTORS[way]
    rows, columns = np.mgrid[0 : height // STEP, 0 : width // STEP]
    inside = (rows >= 1) & (columns >= 1)
    to_row, to_column = rows + dy, columns + dx
    inside &= (to_row >= 1) & (to_column >= 1)
    inside &= (to_row < height // STEP) & (to_column < width // STEP)
    found: Places = inside.copy()
    for pixel in range(STEP):
        ys = np.clip(rows * STEP + dy * pixel, 0, height - 1)
        xs = np.clip(columns * STEP + dx * pixel, 0, width - 1)
        found &= free[ys, xs]
    return found


def _ground(terrain: Terrain) -> tuple[Places, Places]:
    """The places with ground that kills or drowns, and those on doors."""
    height, width = terrain.size
    rows = _under(np.arange(height // STEP))[:, np.newaxis]
    columns = (np.arange(width // STEP) * STEP // TILE)[np.newaxis, :]
    hazard = terrain.deadly() if terrain.swims else terrain.deadly() | terrain.wet()
    return hazard[rows, columns], terrain.warps()[rows, columns]


@lru_cache(maxsize=1024)
def _on_tile(shape: tuple[int, ...], column: int, row: int) -> Places:
    rows, columns = np.ogrid[: shape[0], : shape[1]]
    on_tile: Places = (_under(rows) == row) & (columns * STEP // TILE == column)
    return on_tile


def _leaps(terrain: Terrain) -> list[tuple[tuple[int, int], tuple[int, int]]]:
    """Jumps over cliff tiles, from the middle of the tile before to that of the one behind."""
    found = []
    rows, columns = terrain.size[0] // TILE, terrain.size[1] // TILE
    free = terrain.collisions[:rows, :columns] == 0
    for way in WALKS:
        dy, dx = VECTORS[way]
        ledges = terrain.ledges(way)[:rows, :columns]
        for row, column in np.argwhere(ledges):
            start = (int(row) - dy, int(column) - dx)
            if not _on(free, start):
                continue
            end = (int(row), int(column))
            while _on(ledges, end):
                end = (end[0] + dy, end[1] + dx)
            if _on(free, end):
                found.append((_middle(start), _middle(end)))
    return found


def _rim(free: Places, way: Action) -> Places:
    """The places at an edge from which walking on scrolls the screen."""
    height, width = free.shape
    found = np.zeros((height // STEP, width // STEP), dtype=np.bool_)
    rows, columns = np.arange(height // STEP) * STEP, np.arange(width // STEP) * STEP
    match way:
        case Action.UP:
            found[1] = free[_EDGE : STEP + 1][:, columns].all(axis=0)
        case Action.DOWN:
            found[-1] = free[rows[-1] :][:, columns].all(axis=0)
        case Action.LEFT:
            found[:, 1] = free[rows][:, _EDGE : STEP + 1].all(axis=1)
        case _:
            found[:, -1] = free[rows][:, columns[-1] :].all(axis=1)
    found[0] = found[:, 0] = False
    return found


def _next_to(places: Places, way: Action) -> Places:
    """The places from which one of these is one move on in a direction."""
    dy, dx = VECTORS[way]
    moved = np.zeros_like(places)
    rows, columns = places.shape
    to = (slice(max(-dy, 0), rows + min(-dy, 0)), slice(max(-dx, 0), columns + min(-dx, 0)))
    at = (slice(max(dy, 0), rows + min(dy, 0)), slice(max(dx, 0), columns + min(dx, 0)))
    moved[to] = places[at]
    return moved


def _bits(places: Places) -> int:
    return int.from_bytes(np.packbits(places.ravel(), bitorder="little").tobytes(), "little")


def _places(bits: int, shape: tuple[int, int]) -> Places:
    count = shape[0] * shape[1]
    data = np.frombuffer(bits.to_bytes(-(-count // 8), "little"), dtype=np.uint8)
    return np.unpackbits(data, count=count, bitorder="little").reshape(shape).astype(np.bool_)


def _under(rows: npt.NDArray[np.intp]) -> npt.NDArray[np.intp]:
    """The row of tiles that a player at these rows of places stands on."""
    tiles: npt.NDArray[np.intp] = (rows * STEP + FEET) // TILE
    return tiles


def _on(tiles: Places, at: tuple[int, int]) -> bool:
    inside = 0 <= at[0] < tiles.shape[0] and 0 <= at[1] < tiles.shape[1]
    return inside and bool(tiles[at])


def _middle(tile: tuple[int, int]) -> tuple[int, int]:
    return 2 * tile[0] + 1, 2 * tile[1] + 1
