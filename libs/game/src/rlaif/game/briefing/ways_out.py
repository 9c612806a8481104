"""The ways out of a room: its terrain and the known crossings in, exits with what is behind out."""

from collections.abc import Container, Iterator

import numpy as np

from rlaif.contracts.briefing import Exit, Tile
from rlaif.contracts.plans import Direction
from rlaif.game.briefing.reach import STEP, Places, Reach, reach
from rlaif.game.description.words import GameWords
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.rooms import Neighbours, neighbours
from rlaif.game.navigation.grid import FEET, WALKS
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import TILE, Terrain

_SIDES: dict[Action, Direction] = {
    Action.UP: "UP",
    Action.DOWN: "DOWN",
    Action.LEFT: "LEFT",
    Action.RIGHT: "RIGHT",
}


def ways_out(
    ram: RamBlocks, terrain: Terrain, graph: RoomGraph, words: GameWords, *, most: int
) -> tuple[Exit, ...]:
    """At most `most` exits of the room; those that can be reached first, then edges before doors.

    What is behind a door is known once somebody went through it; what is behind an edge lies
    beside the room on the map of the world or of the floor.
    """
    here = standing(ram)
    doors = [
        (int(column), int(row))
        for row, column in np.argwhere(terrain.warps())
        if row * TILE < terrain.size[0] and column * TILE < terrain.size[1]
    ]
    within = reach(terrain, here.x, here.y)
    found = [
        *_edges(within, _behind(here.room, neighbours(ram)), doors),
        *_doors(within, _through(graph, here.room), doors),
    ]
    named = [_named(each, words) for each in found]
    return tuple(sorted(named, key=lambda each: not each.reachable)[:most])


def _edges(within: Reach, behind: dict[Action, RoomId], doors: Container[Tile]) -> Iterator[Exit]:
    """An exit for each gap in each edge behind which there is a room; a door is no gap."""
    for way in WALKS:
        if way not in behind:
            continue
        for gap in _gaps(within.rims[way]):
            at = _tile(gap[len(gap) // 2])
            if at in doors:
                continue
            reached = any(within.places[place] for place in gap)
            yield Exit(at=at, side=_SIDES[way], to=_text(behind[way]), reachable=reached)


def _doors(within: Reach, behind: dict[Tile, RoomId], doors: list[Tile]) -> Iterator[Exit]:
    for door in doors:
        known = behind.get(door)
        yield Exit(
            at=door, to=None if known is None else _text(known), reachable=within.enters(*door)
        )


def _through(graph: RoomGraph, room: RoomId) -> dict[Tile, RoomId]:
    """Tile of a door → the room that it is known to lead to."""
    return {
        (crossing.x // TILE, (crossing.y + FEET) // TILE): crossing.end
        for crossing in graph.leaving(room)
        if crossing.kind == "warp"
    }


def _behind(here: RoomId, around: Neighbours) -> dict[Action, RoomId]:
    sides = {
        Action.UP: around.north,
        Action.RIGHT: around.east,
        Action.DOWN: around.south,
        Action.LEFT: around.west,
    }
    return {way: RoomId(here.group, room) for way, room in sides.items() if room is not None}


def _gaps(rim: Places) -> list[list[tuple[int, int]]]:
    """The places from which the player leaves over an edge, those side by side together."""
    gaps: list[list[tuple[int, int]]] = []
    for row, column in np.argwhere(rim):
        place = (int(row), int(column))
        last = gaps[-1][-1] if gaps else None
        if last and abs(place[0] - last[0]) + abs(place[1] - last[1]) == 1:
            gaps[-1].append(place)
        else:
            gaps.append([place])
    return gaps


def _tile(place: tuple[int, int]) -> Tile:
    return place[1] * STEP // TILE, (place[0] * STEP + FEET) // TILE


def _text(room: RoomId) -> str:
    return f"{room.group}/{room.room}"


def _named(exit_: Exit, words: GameWords) -> Exit:
    if exit_.to is None:
        return exit_
    group, room = (int(number) for number in exit_.to.split("/"))
    return exit_.model_copy(update={"place": words.rooms.get((group, room))})
