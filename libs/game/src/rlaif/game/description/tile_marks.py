"""Draws a room as text for a planner, one character per tile.

Tiles without a named kind are `#` (solid) or `.`.
"""

from collections.abc import Sequence
from functools import lru_cache
from typing import NamedTuple

import numpy as np

from rlaif.game.description.describe import nearby_objects
from rlaif.game.machine.actions import Action
from rlaif.game.memory.state import GameState
from rlaif.game.motion.grid import tile_of
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS, Terrain
from rlaif.game.motion.things import NAMED_TILES

_BY_KIND = {
    "bush": "b", "rock": "r", "pot": "p", "snow": "n", "sign": "S", "soil": "s", "switch": "O",
    "block": "B", "stump": "u", "crack": "x", "lock": "k", "boss_lock": "K", "chest": "C",
    "torch": "T", "lit_torch": "t", "button": "_",
}  # fmt: skip
_MUSHROOMS, _HIT_SWITCH = (0xCA, 0xCB), 0x0B
_MARKS = {
    mode: {
        index: "w" if index in _MUSHROOMS else _BY_KIND[kind]
        for index, kind in named.items()
        if index != _HIT_SWITCH
    }
    for mode, named in NAMED_TILES.items()
}

_LEDGES = {Action.DOWN: "v", Action.UP: "^", Action.LEFT: "(", Action.RIGHT: ")"}
_FULL_WALL, _HAZARD, _OPEN_BORDER = 0x0F, 0x10, 0xFF


class Seen(NamedTuple):
    """An object in the room: its name, its mark on the map, its tile."""

    name: str
    mark: str
    column: int
    row: int


_DROP_NAMES: dict[int, str] = {
    0x00: "fairy", 0x01: "heart", 0x02: "1 rupee", 0x03: "5 rupees", 0x04: "bombs",
    0x05: "ember seeds", 0x06: "scent seeds", 0x07: "pegasus seeds", 0x08: "gale seeds",
    0x09: "mystery seeds", 0x0C: "1 ore chunk", 0x0D: "10 ore chunks", 0x0E: "50 ore chunks",
    0x0F: "100 rupees",
}  # fmt: skip

_OBJECT_MARKS = {"enemy": "E", "talkable": "P", "drop": "I", "treasure": "I"}
_OBJECT_NAMES = {"enemy": "enemy", "talkable": "answers A", "treasure": "treasure"}


def surroundings(state: GameState, size: tuple[int, int]) -> list[Seen]:
    """The objects in a room of (columns, rows), nearest first."""
    columns, rows = size
    found = []
    for kind, each in nearby_objects(state):
        name = _DROP_NAMES.get(each.subid, "item") if kind == "drop" else _OBJECT_NAMES[kind]
        row, column = tile_of(each.x, each.y)
        if column < columns and row < rows:
            found.append(Seen(name, _OBJECT_MARKS[kind], column, row))
    return found


def tile_marks(
    terrain: Terrain, seen: Sequence[Seen], player: tuple[int, int], *, size: tuple[int, int]
) -> tuple[str, ...]:
    """A room of (columns, rows), one line per row of tiles; the player is at (column, row).

    A tile of which at least two quarters are solid is drawn solid. The player covers other objects
    on its tile, and the first of `seen` the later ones.
    """
    columns, rows = size
    ground = _ground(
        terrain.collisions.tobytes(), terrain.layout.tobytes(), terrain.mode, columns, rows
    )
    cells = [list(line) for line in ground]
    for each in reversed(seen):
        cells[each.row][each.column] = each.mark
    column, row = player
    if column < columns and row < rows:
        cells[row][column] = "@"
    return tuple("".join(line) for line in cells)


@lru_cache(maxsize=64)
def _ground(
    collisions: bytes, layout: bytes, mode: int, columns: int, rows: int
) -> tuple[str, ...]:
    shape = (TILE_ROWS, TILE_COLUMNS)
    terrain = Terrain(
        np.frombuffer(collisions, dtype=np.uint8).reshape(shape),
        np.frombuffer(layout, dtype=np.uint8).reshape(shape),
        mode,
    )
    named = _MARKS.get(mode, {})
    special = [("D", terrain.warps()), ("~", terrain.wet()), ("o", terrain.deadly())]
    special += [(mark, terrain.ledges(way)) for way, mark in _LEDGES.items()]

    def mark_at(row: int, column: int) -> str:
        known = named.get(int(terrain.layout[row, column]))
        known = known or next((mark for mark, where in special if where[row, column]), None)
        return known or _plain(int(terrain.collisions[row, column]))

    return tuple("".join(mark_at(row, column) for column in range(columns)) for row in range(rows))


def _plain(collision: int) -> str:
    if collision == _OPEN_BORDER:
        return "."
    if collision < _HAZARD:
        return "#" if collision.bit_count() >= 2 else "."
    return "#" if 0x10 | collision & _FULL_WALL == 0x1E else "."
