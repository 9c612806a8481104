"""Goes to a room over known ways: the graph of rooms in, decisions out.

A room where little was tried with what is owned now is worth a trip: a new item makes far old
places new. The graph is what play has walked; no map is read.
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

_MOST_DECISIONS = 40
_MOST_CLOSED = 4


def room_key(ram: RamBlocks, room: RoomId) -> bytes:
    """What tries in a room with what is owned are counted under."""
    name = f"room {room.group}/{room.room} {','.join(owned(ram))}"
    return hashlib.blake2b(name.encode(), digest_size=8).digest()


def destination(
    ram: RamBlocks, graph: RoomGraph, tries: Tries, rng: np.random.Generator
) -> RoomId | None:
    """A room that play has seen, likeliest where least was tried; None where no other is known."""
    rooms = sorted(graph.rooms - {standing(ram).room})
    if not rooms:
        return None
    weights = np.cumsum([1.0 / (1 + tries[room_key(ram, room)]) for room in rooms])
    at = int(np.searchsorted(weights, rng.random() * weights[-1], side="right"))
    return rooms[min(at, len(rooms) - 1)]


def trip(ram: RamBlocks, room: RoomId, graph: RoomGraph) -> Generator[int, RamBlocks, None]:
    """The decisions on the way; each `yield` wants the RAM after the decision.

    It ends in the room, or where no known way is open.
    """
    closed: list[Crossing] = []
    for _ in range(_MOST_DECISIONS):
        here = standing(ram)
        if here.room == room or len(closed) > _MOST_CLOSED:
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
