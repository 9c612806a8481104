"""The room and the visited rooms as text: RAM in, lines of characters out, two a cell.

##  solid        ..  free        ~~  hole, water or lava
@^ @> @v @<      the player and where he faces
E1 N1 I1 p1 C1   enemy, who or what reacts to A, item, other part, companion
"""

from typing import NamedTuple

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.entities import (
    INTERACTION_TREASURE,
    PART_ITEM_DROP,
    Entity,
    companion,
    enemies,
    interactions,
    parts,
    player_position,
    talkables,
)
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.rooms import floor_grid, room_size, visited_rooms
from rlaif.game.memory.walls import FREE, HAZARD, SOLID, half_tiles

HALF_TILE_PIXELS = 8
WORLD_COLUMNS, FLOOR_COLUMNS = 16, 8
"""Rooms a row: of a map group, whose ids are 0xYX, and of a dungeon floor."""

OUTDOOR_GROUPS = (0, 1)
"""Overworld and Subrosia: their rooms lie on one map, those of houses and caves on none."""

_CELLS = {FREE: "..", HAZARD: "~~", SOLID: "##"}
_FACINGS = "^>v<"
_NUMBERS = "123456789abcdefghijklmnopqrstuvwxyz"
"""No kind has more objects than 32: 16 interactions and 16 parts."""

_DIRECTION, _GROUP, _ROOM = (
    address(name) for name in ("w1Link.direction", "wActiveGroup", "wActiveRoom")
)
_VISITED, _NOT_VISITED, _NO_ROOM, _HERE = "##", "..", "  ", "@@"


class Marked(NamedTuple):
    """An object on the room map."""

    mark: str  # two characters
    kind: str  # enemy, talkable, item, part or companion
    entity: Entity


def marked_entities(ram: RamBlocks) -> list[Marked]:
    """The objects of the room with their marks, each object once; invisible triggers are left out.

    An object that is of two kinds takes the first: enemy, talkable, item, part.
    """
    treasures = [it for it in interactions(ram) if it.id == INTERACTION_TREASURE]
    all_parts = parts(ram)
    drops = [part for part in all_parts if part.id == PART_ITEM_DROP]
    beside = companion(ram)
    kinds = (
        ("E", "enemy", enemies(ram)),
        ("N", "talkable", talkables(ram)),
        ("I", "item", [*treasures, *drops]),
        ("p", "part", all_parts),
        ("C", "companion", [beside] if beside else []),
    )
    found: list[Marked] = []
    seen: set[int] = set()
    for letter, kind, listed in kinds:
        new = [entity for entity in listed if entity.slot not in seen]
        seen.update(entity.slot for entity in new)
        found += [Marked(letter + _NUMBERS[n], kind, entity) for n, entity in enumerate(new)]
    return found


def room_map(ram: RamBlocks) -> list[str]:
    """The room: one line for each 8 pixels from the top, two characters for each 8 from the left.

    A small room has 16 lines of 40 characters, a large one 22 of 60. What stands outside the room
    is not drawn; of two objects in one place the player is, or else the first.
    """
    columns, rows = room_size(ram)
    grid = half_tiles(ram)[: 2 * rows, : 2 * columns]
    cells = [[_CELLS[int(cell)] for cell in line] for line in grid]
    for mark, _, entity in reversed(marked_entities(ram)):
        _put(cells, entity.x, entity.y, mark)
    x, y = player_position(ram)
    _put(cells, x, y, "@" + _FACINGS[ram.u8(_DIRECTION) & 3])
    return ["".join(line) for line in cells]


def visited_map(ram: RamBlocks) -> list[str]:
    """The rooms around: `##` visited, `..` not, `@@` here, blank where there is no room.

    In a dungeon the floor, 8x8 rooms; outdoors the map of the group, 16x16 rooms; nothing in
    houses and caves, which lie on no map.
    """
    group, here = ram.u8(_GROUP), ram.u8(_ROOM)
    floor = floor_grid(ram)
    visited = visited_rooms(ram, group)
    if floor is not None:
        return _lines(floor, FLOOR_COLUMNS, visited, here)
    if group in OUTDOOR_GROUPS:
        return _lines(range(0x100), WORLD_COLUMNS, visited, here)
    return []


def _lines(rooms: bytes | range, columns: int, visited: frozenset[int], here: int) -> list[str]:
    outdoors = isinstance(rooms, range)
    cells = []
    for room in rooms:
        if not room and not outdoors:
            cells.append(_NO_ROOM)
        elif room == here:
            cells.append(_HERE)
        else:
            cells.append(_VISITED if room in visited else _NOT_VISITED)
    return ["".join(cells[at : at + columns]) for at in range(0, len(cells), columns)]


def _put(cells: list[list[str]], x: int, y: int, mark: str) -> None:
    column, row = x // HALF_TILE_PIXELS, y // HALF_TILE_PIXELS
    if row < len(cells) and column < len(cells[0]):
        cells[row][column] = mark
