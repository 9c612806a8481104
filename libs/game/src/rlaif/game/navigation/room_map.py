"""Where a room lies on the map: two rooms in, the edges that lead from one towards the other out.

For rooms to which no way is known yet. Above the ground a room's number is its place, 16 to a row;
in a dungeon the game keeps a map of each floor, 8 to a row.
"""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.navigation.room_graph import RoomId

OUTSIDE = (0, 1)
"""Groups whose rooms lie on one map, above the ground and in Subrosia."""

DUNGEONS = (4, 5)

_OUTSIDE_COLUMNS = 16
_FLOOR_COLUMNS, _FLOOR_ROOMS = 8, 64


def edges_towards(ram: RamBlocks, start: RoomId, end: RoomId) -> list[Action]:
    """The directions that lead nearer, the longer way first; none where the map does not tell.

    `ram` is read for the dungeon in which the player is.
    """
    places = _places(ram, start, end)
    if places is None:
        return []
    (row, column), (end_row, end_column) = places
    down, right = end_row - row, end_column - column
    found: list[tuple[int, Action]] = []
    if down:
        found.append((abs(down), Action.DOWN if down > 0 else Action.UP))
    if right:
        found.append((abs(right), Action.RIGHT if right > 0 else Action.LEFT))
    return [direction for _, direction in sorted(found, key=lambda way: -way[0])]


def _places(
    ram: RamBlocks, start: RoomId, end: RoomId
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """(row, column) of both, if they lie on one map."""
    if start.group != end.group:
        return None
    if start.group in OUTSIDE:
        return divmod(start.room, _OUTSIDE_COLUMNS), divmod(end.room, _OUTSIDE_COLUMNS)
    if start.group not in DUNGEONS:
        return None
    layout = ram.dungeon_layout
    for floor in range(0, len(layout), _FLOOR_ROOMS):
        rooms = layout[floor : floor + _FLOOR_ROOMS]
        if start.room in rooms and end.room in rooms:
            at, to = rooms.index(start.room), rooms.index(end.room)
            return divmod(at, _FLOOR_COLUMNS), divmod(to, _FLOOR_COLUMNS)
    return None
