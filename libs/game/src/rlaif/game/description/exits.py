"""Exits of a room: RAM and the known crossings in, exits with their targets out."""

from collections.abc import Iterator

import numpy as np

from rlaif.contracts.planning.briefing import Exit, Tile
from rlaif.contracts.planning.plans import Direction
from rlaif.game.description.words import GameWords
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.rooms import Neighbours, neighbours
from rlaif.game.motion.grid import PROBES, VECTORS, WALKS, tile_under
from rlaif.game.motion.ground import ground_of
from rlaif.game.motion.kernels import PAD
from rlaif.game.motion.room_graph import RoomGraph, RoomId
from rlaif.game.motion.room_watcher import standing
from rlaif.game.motion.terrain import TILE, TILE_COLUMNS, Terrain, solid_pixels

_SIDES: dict[Action, Direction] = {
    Action.UP: "UP",
    Action.DOWN: "DOWN",
    Action.LEFT: "LEFT",
    Action.RIGHT: "RIGHT",
}
_STEP = 8
"""Pixels between two places of an edge that are tested."""


def exits_of(
    ram: RamBlocks, terrain: Terrain, graph: RoomGraph, words: GameWords, *, limit: int
) -> tuple[Exit, ...]:
    """At most `limit` exits of the room, reachable ones first, then edges before doors.

    The room behind a door is known after it was entered once; the room behind an edge follows from
    the map of the world or of the floor.
    """
    here = standing(ram)
    trodden = ground_of(ram).reached(here.x, here.y).trodden
    reached = {divmod(at, TILE_COLUMNS)[::-1] for at, reachable in enumerate(trodden) if reachable}
    doors = [
        (int(column), int(row))
        for row, column in np.argwhere(terrain.warps())
        if row * TILE < terrain.size[0] and column * TILE < terrain.size[1]
    ]
    behind = _behind_edges(here.room, neighbours(ram))
    found = [
        Exit(at=at, side=_SIDES[way], reachable=not reached.isdisjoint(gap), **_to(room, words))
        for way, room in behind.items()
        for gap in _gaps(terrain, way)
        if (at := gap[len(gap) // 2]) not in doors
    ]
    through = _behind_doors(graph, here.room)
    found += [
        Exit(at=door, reachable=door in reached, **_to(through.get(door), words)) for door in doors
    ]
    return tuple(sorted(found, key=lambda each: not each.reachable)[:limit])


def _gaps(terrain: Terrain, way: Action) -> Iterator[list[Tile]]:
    """Gaps in an edge; of each the tiles of its adjacent places, eight pixels apart."""
    height, width = terrain.size
    dy, dx = VECTORS[way]
    solid = np.pad(solid_pixels(terrain.collisions), PAD)
    # A player at 8 pixels from the edge walks into the rim, which is 5 pixels wide.
    steps = range(4) if dy + dx < 0 else range(_STEP)
    gap: list[Tile] = []
    for along in range(_STEP, width if dx == 0 else height, _STEP):
        y = along if dy == 0 else (_STEP if dy < 0 else height - _STEP)
        x = along if dx == 0 else (_STEP if dx < 0 else width - _STEP)
        if not any(
            solid[PAD + y + dy * step + probe_y, PAD + x + dx * step + probe_x]
            for step in steps
            for probe_y, probe_x in PROBES[way]
        ):
            row, column = tile_under(x, y)
            gap.append((column, row))
        elif gap:
            yield gap
            gap = []
    if gap:
        yield gap


def _behind_doors(graph: RoomGraph, room: RoomId) -> dict[Tile, RoomId]:
    return {
        tile_under(crossing.x, crossing.y)[::-1]: crossing.end
        for crossing in graph.leaving(room)
        if crossing.kind == "warp"
    }


def _behind_edges(here: RoomId, around: Neighbours) -> dict[Action, RoomId]:
    sides = {
        Action.UP: around.north,
        Action.RIGHT: around.east,
        Action.DOWN: around.south,
        Action.LEFT: around.west,
    }
    return {way: RoomId(here.group, room) for way in WALKS if (room := sides[way]) is not None}


def _to(room: RoomId | None, words: GameWords) -> dict[str, str | None]:
    if room is None:
        return {"to": None}
    return {"to": f"{room.group}/{room.room}", "place": words.rooms.get(room)}
