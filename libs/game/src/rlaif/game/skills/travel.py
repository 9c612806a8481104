"""Travel between rooms: along known crossings, or towards the target on the map."""

from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.grid import TilePlace, tile_under
from rlaif.game.motion.ground import Goal
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomId
from rlaif.game.motion.room_watcher import place_of, standing
from rlaif.game.motion.terrain import TILE_COLUMNS, terrain_of
from rlaif.game.motion.tiles import in_room
from rlaif.game.skills.attend import take_control
from rlaif.game.skills.script import GiveUp, Part, Script, done
from rlaif.game.skills.walk import DETOURS, cross, stand_on

_OUTDOORS, _DUNGEONS = (0, 1), (4, 5)
"""Groups whose rooms lie on one map: overworld and Subrosia; dungeons, by floor."""

_OUTDOOR_COLUMNS, _FLOOR_COLUMNS, _FLOOR_ROOMS = 16, 8, 64


def move_to(
    ram: RamBlocks, room: RoomId | None, tile: TilePlace | None, graph: RoomGraph, frames: int
) -> Script:
    """Walk to a tile, into a room, or to a tile of another room; learns crossings into `graph`."""
    before = place_of(ram)
    ram = yield from take_control(ram)
    if room is not None:
        ram = yield from _travel(ram, room, graph, frames)
    elif place_of(ram) != before:
        raise GiveUp("left_room", "a scene led to another room than that of the tile")
    if tile is None:
        return done("in the room")
    if not in_room(ram, tile):
        raise GiveUp("unreachable", f"tile {tile.column},{tile.row} is not in this room")
    if not terrain_of(ram).warps()[tile]:
        yield from stand_on(ram, tile, frames=frames)
        return done("on the tile")
    end, _ = yield from cross(ram, _into(tile), graph, frames=frames, detours=DETOURS)
    if end != "left":
        raise GiveUp("unreachable", f"no path into the door on tile {tile.column},{tile.row}")
    return done("through the door")


def _travel(ram: RamBlocks, target: RoomId, graph: RoomGraph, frames: int) -> Part:
    closed: list[Crossing] = []
    tried: set[tuple[RoomId, Action]] = set()
    while (here := standing(ram)).room != target:
        route = graph.route(here.room, target, x=here.x, y=here.y, without=closed)
        if route:
            goal = _over(route[0])
        else:
            nearer = _towards(ram, here.room, target)
            untried = [way for way in nearer if (here.room, way) not in tried]
            if not untried:
                raise GiveUp("unreachable", f"no known path to room {target.group}/{target.room}")
            tried.add((here.room, untried[0]))
            goal = Goal("over", directions=1 << untried[0])
        end, ram = yield from cross(ram, goal, graph, frames=frames, detours=DETOURS)
        if end != "left" and route:
            closed.append(route[0])
        ram = yield from take_control(ram)
    return ram


def _into(tile: TilePlace) -> Goal:
    return Goal("into", tile.row * TILE_COLUMNS + tile.column)


def _over(crossing: Crossing) -> Goal:
    if crossing.kind == "warp":
        return _into(tile_under(crossing.x, crossing.y))
    return Goal("over", crossing.y << 8 | crossing.x, 1 << crossing.direction)


def _towards(ram: RamBlocks, start: RoomId, end: RoomId) -> list[Action]:
    """Directions that lead nearer on the map, the longer distance first; [] if no map has both."""
    places = _on_map(ram, start, end)
    if places is None:
        return []
    (row, column), (end_row, end_column) = places
    down, right = end_row - row, end_column - column
    found = [(abs(down), Action.DOWN if down > 0 else Action.UP)] if down else []
    found += [(abs(right), Action.RIGHT if right > 0 else Action.LEFT)] if right else []
    return [direction for _, direction in sorted(found, key=lambda each: -each[0])]


def _on_map(
    ram: RamBlocks, start: RoomId, end: RoomId
) -> tuple[tuple[int, int], tuple[int, int]] | None:
    """(row, column) of two rooms of one map; that of the current dungeon is read from RAM."""
    if start.group != end.group:
        return None
    if start.group in _OUTDOORS:
        return divmod(start.room, _OUTDOOR_COLUMNS), divmod(end.room, _OUTDOOR_COLUMNS)
    if start.group not in _DUNGEONS:
        return None
    layout = ram.dungeon_layout
    for floor in range(0, len(layout), _FLOOR_ROOMS):
        rooms = layout[floor : floor + _FLOOR_ROOMS]
        if start.room in rooms and end.room in rooms:
            at, to = rooms.index(start.room), rooms.index(end.room)
            return divmod(at, _FLOOR_COLUMNS), divmod(to, _FLOOR_COLUMNS)
    return None
