"""Kernels of the decision network for rooms and table look-ups; compiled by numba.

Torch needs several calls for each of these, which copy whole tables, and computes the gradient of
an embedding row by row. A row of the policy's input is a room of T tiles:

    looks    `[B, T, 3]`, rows of the table of tile features: table and index, collision, thing
    near     `[B, S, 3]`, `looks` of the square of tiles around the player
    here     `[B]`, the tile on which the player stands
    nearest  `[B, 4 K]`, for each of K kinds of thing: whether the room has one, whether going to
             the nearest is allowed, and its offset right and down in sizes of the buffer

The compilation cache depends on this file only, so values from other modules are arguments.
"""

from typing import Any

import numba
import numpy as np
import numpy.typing as npt

from rlaif.game.motion.kernels import compiled

Float32 = npt.NDArray[np.float32]
Codes = npt.NDArray[np.uint16]
"""Rows of tables."""

Int = int | np.int64

_F32, _U16, _INT = numba.float32, numba.uint16, numba.int64


def _of(kind: Any, dimensions: int = 1) -> Any:
    return numba.types.Array(kind, dimensions, "C")


@compiled(
    _of(_F32, 2), _of(_INT), _of(_U16, 3), _of(_U16, 3), _of(_U16),
    _of(_F32, 2),
)  # fmt: skip
def see_rooms(
    inputs: Float32, at: npt.NDArray[np.int64], looks: Codes, near: Codes, here: Codes,
    nearest: Float32,
) -> None:  # fmt: skip
    """Fill `looks`, `near`, `here` and `nearest`.

    `at` contains the first columns of tiles, things, the player's row and column, and the decisions
    to go to a tile; the numbers of tile kinds and collisions; and the rows and columns of tiles.
    """
    tiles, things, row, column, go_to = at[0], at[1], at[2], at[3], at[4]
    kinds, collisions, height, width = at[5], at[6], at[7], at[8]
    size, side, things_known = height * width, int(np.sqrt(near.shape[1])), nearest.shape[1] // 4
    nowhere = size * size
    least = np.empty(things_known + 1, dtype=np.int64)
    for b in range(len(inputs)):
        y, x = int(inputs[b, row]), int(inputs[b, column])
        here[b] = y * width + x
        least[:] = nowhere
        for t in range(size):
            tile, thing = int(inputs[b, tiles + t]), int(inputs[b, things + t])
            looks[b, t, 0] = tile % kinds
            looks[b, t, 1] = tile // kinds + kinds
            looks[b, t, 2] = thing + kinds + collisions
            far = (abs(t // width - y) + abs(t % width - x)) * size + t
            least[thing] = min(least[thing], far)
        for place in range(side * side):
            ty, tx = y + place // side - side // 2, x + place % side - side // 2
            inside = 0 <= ty < height and 0 <= tx < width
            # Outside the buffer: its last tile, which no room uses.
            t = ty * width + tx if inside else size - 1
            near[b, place, :] = looks[b, t, :]
        for k in range(things_known):
            there = least[k + 1] < nowhere
            t = least[k + 1] % size if there else int(here[b])
            nearest[b, k] = there
            nearest[b, things_known + k] = inputs[b, go_to + t] if there else np.float32(0)
            right, down = t % width - x, t // width - y
            nearest[b, 2 * (things_known + k)] = np.float32(right) / np.float32(width)
            nearest[b, 2 * (things_known + k) + 1] = np.float32(down) / np.float32(height)


@compiled(_of(_F32, 2), _of(_U16, 3), _INT, _of(_F32, 2))
def look_up(table: Float32, rows: Codes, begin: Int, out: Float32) -> None:
    """Write the sums over M of the table's `rows [B, S, M]` to `out`, starting at column `begin`.

    The table's width is a multiple of 8, so that the compiler vectorizes the loops over 8 columns.
    """
    width = table.shape[1]
    for b in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            for part in range(0, width, 8):
                first, row = begin + s * width + part, rows[b, s, 0]
                for k in range(8):
                    out[b, first + k] = table[row, part + k]
                for m in range(1, rows.shape[2]):
                    row = rows[b, s, m]
                    for k in range(8):
                        out[b, first + k] += table[row, part + k]


@compiled(_of(_F32, 2), _of(_U16, 3), _INT, _of(_F32, 2))
def add_up(table: Float32, rows: Codes, begin: Int, gradient: Float32) -> None:
    """Add the gradient of the output of `look_up` to the gradient of its table."""
    width = table.shape[1]
    for b in range(rows.shape[0]):
        for s in range(rows.shape[1]):
            for part in range(0, width, 8):
                first = begin + s * width + part
                for m in range(rows.shape[2]):
                    row = rows[b, s, m]
                    for k in range(8):
                        table[row, part + k] += gradient[b, first + k]


@compiled(
    _of(_F32, 2), _of(_F32, 2), _of(_U16, 3), _of(_U16), _of(_U16, 2),
    _of(_F32, 2),
)  # fmt: skip
def score_tiles(
    of_places: Float32, of_looks: Float32, looks: Codes, here: Codes, places: Codes, out: Float32
) -> None:
    """Write each tile's score to `out [B, T]`: the sum of those of its place and its three looks.

    `places [T, T]` are the positions of all tiles relative to each tile.
    """
    for b in range(looks.shape[0]):
        for t in range(looks.shape[1]):
            score = of_places[b, places[here[b], t]]
            for m in range(looks.shape[2]):
                score += of_looks[b, looks[b, t, m]]
            out[b, t] = score


@compiled(
    _of(_F32, 2), _of(_F32, 2), _of(_U16, 3), _of(_U16), _of(_U16, 2),
    _of(_F32, 2),
)  # fmt: skip
def spread_scores(
    of_places: Float32, of_looks: Float32, looks: Codes, here: Codes, places: Codes,
    gradient: Float32,
) -> None:  # fmt: skip
    """Add the gradient of `score_tiles` to the gradients of its first two arguments."""
    for b in range(looks.shape[0]):
        for t in range(looks.shape[1]):
            of_places[b, places[here[b], t]] += gradient[b, t]
            for m in range(looks.shape[2]):
                of_looks[b, looks[b, t, m]] += gradient[b, t]
