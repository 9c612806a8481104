"""The ways out of a room: its terrain and the known crossings in, exits with what is behind out."""

from collections.abc import Container, Iterable, Iterator

import numpy as np
import numpy.typing as npt

from rlaif.contracts.briefing import Exit, Tile
from rlaif.contracts.plans import Direction
from rlaif.game.description.words import GameWords
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.rooms import Neighbours, neighbours
from rlaif.game.navigation.goals import Enter, goal_nodes
from rlaif.game.navigation.grid import (
    FEET,
    WALKS,
    CollisionGrid,
    Node,
    TilePlace,
    collision_grid,
)
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import Standing, standing
from rlaif.game.navigation.search import find_path
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
    own = TilePlace((here.y + FEET) // TILE, here.x // TILE)
    doors = [
        TilePlace(int(row), int(column))
        for row, column in np.argwhere(terrain.warps())
        if row * TILE < terrain.size[0] and column * TILE < terrain.size[1]
    ]
    grid = collision_grid(terrain, enterable=[own])
    entries = {node: float(cost) for node, cost in grid.entries(here.x, here.y).items()}
    found = [
        *_edges(ram, grid, entries, {(door.column, door.row) for door in doors}),
        *_doors(here, terrain, graph, doors, own, entries),
    ]
    named = [_named(each, words) for each in found]
    return tuple(sorted(named, key=lambda each: not each.reachable)[:most])


def _edges(
    ram: RamBlocks, grid: CollisionGrid, entries: dict[Node, float], doors: Container[Tile]
) -> Iterator[Exit]:
    """An exit for each gap in each edge behind which there is a room; a door is no gap."""
    behind = _behind(standing(ram).room, neighbours(ram))
    for direction in WALKS:
        if direction not in behind:
            continue
        for gap in _gaps(grid.exits[direction]):
            at = _tile(gap[len(gap) // 2])
            if at in doors:
                continue
            yield Exit(
                at=at,
                side=_SIDES[direction],
                to=_text(behind[direction]),
                reachable=find_path(grid, entries, gap) is not None,
            )


def _doors(
    here: Standing,
    terrain: Terrain,
    graph: RoomGraph,
    doors: Iterable[TilePlace],
    own: TilePlace,
    entries: dict[Node, float],
) -> Iterator[Exit]:
    behind = {
        ((crossing.y + FEET) // TILE, crossing.x // TILE): crossing.end
        for crossing in graph.leaving(here.room)
        if crossing.kind == "warp"
    }
    for door in doors:
        grid = collision_grid(terrain, enterable=[own, door])
        goals = goal_nodes(grid, Enter(here.room, door))
        known = behind.get((door.row, door.column))
        yield Exit(
            at=(door.column, door.row),
            to=None if known is None else _text(known),
            reachable=find_path(grid, entries, goals) is not None,
        )


def _behind(here: RoomId, around: Neighbours) -> dict[Action, RoomId]:
    sides = {
        Action.UP: around.north,
        Action.RIGHT: around.east,
        Action.DOWN: around.south,
        Action.LEFT: around.west,
    }
    return {way: RoomId(here.group, room) for way, room in sides.items() if room is not None}


def _gaps(exits: npt.NDArray[np.bool_]) -> list[list[Node]]:
    """The nodes at an edge from which the player leaves, those side by side together."""
    gaps: list[list[Node]] = []
    for row, column in np.argwhere(exits):
        node = Node(int(row), int(column))
        last = gaps[-1][-1] if gaps else None
        if last and abs(node.row - last.row) + abs(node.column - last.column) == 1:
            gaps[-1].append(node)
        else:
            gaps.append([node])
    return gaps


def _tile(node: Node) -> Tile:
    return node.x // TILE, (node.y + FEET) // TILE


def _text(room: RoomId) -> str:
    return f"{room.group}/{room.room}"


def _named(exit_: Exit, words: GameWords) -> Exit:
    if exit_.to is None:
        return exit_
    group, room = (int(number) for number in exit_.to.split("/"))
    return exit_.model_copy(update={"place": words.rooms.get((group, room))})
