"""Trips to another room along known crossings: the graph of rooms in, decisions out.

A trip leads to a room in which little was tried with the present items, so that a new item makes
distant rooms interesting again. The graph contains only crossings that were walked.
"""

import hashlib
from collections.abc import Generator

import numpy as np

from rlaif.game.decisions.catalog import LEAVE, go_to
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.motion.grid import WALKS, tile_under
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomId
from rlaif.game.motion.room_watcher import standing
from rlaif.trainer.search.proposals import Tries, owned

_MAX_DECISIONS = 40
_MAX_CLOSED = 4


def room_key(ram: RamBlocks, room: RoomId) -> bytes:
    """Return the key under which attempts in a room with the present items are counted."""
    name = f"room {room.group}/{room.room} {','.join(owned(ram))}"
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


def destination(
    ram: RamBlocks, graph: RoomGraph, tries: Tries, rng: np.random.Generator
) -> RoomId | None:
    """Draw a visited room, preferring those with few attempts; None if no other room is known."""
    rooms = sorted(graph.rooms - {standing(ram).room})
    if not rooms:
        return None
    weights = np.cumsum([1.0 / (1 + tries[room_key(ram, room)]) for room in rooms])
    at = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
    return rooms[min(at, len(rooms) - 1)]


def trip(ram: RamBlocks, room: RoomId, graph: RoomGraph) -> Generator[int, RamBlocks, None]:
    """Yield the decisions of the trip; send back the RAM after each of them.

    It ends in the room, or where no known crossing is open.
    """
    closed: list[Crossing] = []
    for _ in range(_MAX_DECISIONS):
        here = standing(ram)
        if here.room == room or len(closed) > _MAX_CLOSED:
            return
        route = graph.route(here.room, room, x=here.x, y=here.y, without=closed)
        if not route:
            return
        ram = yield _decision(route[0])
        if not has_control(ram) or standing(ram).room == here.room:
            closed.append(route[0])


def _decision(crossing: Crossing) -> int:
    if crossing.kind == "edge":
        return LEAVE.start + WALKS.index(crossing.direction)
    return go_to(tile_under(crossing.x, crossing.y))
