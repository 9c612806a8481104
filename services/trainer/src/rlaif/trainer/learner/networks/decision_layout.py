"""Input layout of the decision network: columns, tables and tiles; no learned parameters."""

from typing import NamedTuple

import numpy as np

from rlaif.game.decisions.catalog import GO_TO
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS
from rlaif.game.motion.things import KINDS
from rlaif.game.policy_input.layout import (
    ALLOWED,
    POLICY_INPUT,
    THINGS,
    TILE_CODES,
    TILE_INDEXES,
    TILE_TABLES,
    TILES,
    Field,
)
from rlaif.trainer.learner.networks import kernels
from rlaif.trainer.learner.networks.kernels import Codes, Float32

NEVER = -1e9
"""Logit of a decision that is not allowed: probability exactly 0, finite log probability."""

_RADIUS = 3
SIDE = 2 * _RADIUS + 1
CODE, ROOM, TILE, KEY = 8, 16, 8, 24
"""Sizes of the embeddings of a code, a room, a nearby tile, and a tile as a target."""

_GRID = ("tiles", "things")
_ITEMS = ("item_b", "item_a", "inventory", "own_object_id")
_TILE_KINDS = TILE_TABLES * TILE_INDEXES
_COLLISIONS = TILE_CODES // _TILE_KINDS
_THINGS = len(KINDS) + 1
LOOKS = _TILE_KINDS + _COLLISIONS + _THINGS
"""Rows of a table of tile features: table and index, collision, thing; the embedding of a tile is
the sum of three rows."""

PLACES = (2 * TILE_ROWS - 1) * (2 * TILE_COLUMNS - 1)
NEAREST = 4 * (_THINGS - 1)

MIN_DEVIATION = 0.01
"""Minimum standard deviation of an input, so that one that hardly varies is not amplified."""

MAX_DEVIATIONS = 5.0
"""Limit at which normalized inputs are clipped."""

_COLUMNS = np.array(
    [
        POLICY_INPUT["tiles"].start,
        THINGS.start,
        POLICY_INPUT["tile_row"].start,
        POLICY_INPUT["tile_column"].start,
        ALLOWED.start + GO_TO.start,
        _TILE_KINDS,
        _COLLISIONS,
        TILE_ROWS,
        TILE_COLUMNS,
    ]
)
"""Argument `at` of `kernels.see_rooms`."""


class RoomsSeen(NamedTuple):
    """Outputs of `kernels.see_rooms`, which documents them."""

    looks: Codes
    near: Codes
    here: Codes
    nearest: Float32


def see_rooms(inputs: Float32) -> RoomsSeen:
    """Return the rooms in policy inputs `[B, SIZE]`."""
    count = len(inputs)
    seen = RoomsSeen(
        looks=np.empty((count, TILES, 3), dtype=np.uint16),
        near=np.empty((count, SIDE * SIDE, 3), dtype=np.uint16),
        here=np.empty(count, dtype=np.uint16),
        nearest=np.empty((count, NEAREST), dtype=np.float32),
    )
    kernels.see_rooms(np.ascontiguousarray(inputs), _COLUMNS, *seen)
    return seen


def code_table() -> tuple[list[int], list[int], int]:
    """Return the columns of codes, their offsets in the common table, and the table's size.

    All items share the same rows. Rooms and tiles have their own tables.
    """
    columns: list[int] = []
    offsets: list[int] = []
    begins: dict[str, int] = {}
    rows = 0
    for field in POLICY_INPUT.fields:
        if field.codes is None or field.name in (*_GRID, "room"):
            continue
        owner = "items" if field.name in _ITEMS else field.name
        if owner not in begins:
            begins[owner] = rows
            rows += field.codes
        span = field.span
        columns += range(span.start, span.stop)
        offsets += [begins[owner]] * len(field.slots)
    return columns, offsets, rows


def number_columns() -> list[int]:
    """Return the columns of numbers, except for decisions to go to a tile, which are scored."""
    fields: list[Field] = [field for field in POLICY_INPUT.fields if field.codes is None]
    columns = [at for field in fields for at in range(field.span.start, field.span.stop)]
    to_tiles = range(ALLOWED.start + GO_TO.start, ALLOWED.start + GO_TO.stop)
    return [at for at in columns if at not in to_tiles]


def places() -> Codes:
    """Return `[192, 192]`, the position of each tile relative to each tile."""
    row, column = np.divmod(np.arange(TILES), TILE_COLUMNS)
    down, right = row[None, :] - row[:, None], column[None, :] - column[:, None]
    found = (down + TILE_ROWS - 1) * (2 * TILE_COLUMNS - 1) + right + TILE_COLUMNS - 1
    codes: Codes = found.astype(np.uint16)
    return codes
