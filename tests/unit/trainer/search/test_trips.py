"""Trips along known crossings."""

import numpy as np
import pytest

from rlaif.game.decisions.catalog import LEAVE, go_to
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.motion.grid import WALKS, tile_under
from rlaif.game.motion.room_graph import Crossing, RoomGraph, RoomId
from rlaif.testing.data.written_ram import written_ram
from rlaif.trainer.search.proposals import Tries, destination, room_key, trip

HERE, NEXT, CAVE = RoomId(0, 0x77), RoomId(0, 0x78), RoomId(5, 0xA1)
EAST = Crossing(HERE, NEXT, "edge", Action.RIGHT, 155, 70, 6, 70)
DOOR = Crossing(NEXT, CAVE, "warp", Action.UP, 40, 24, 40, 100)


def ram_in(room: RoomId) -> RamBlocks:
    return written_ram(
        ("wActiveGroup", room.group), ("wActiveRoom", room.room), ("w1Link.xh", 80),
        ("w1Link.yh", 70),
    )  # fmt: skip


def test_a_trip_crosses_edges_and_doors_until_it_reaches_the_room():
    steps = trip(ram_in(HERE), CAVE, RoomGraph([EAST, DOOR]))
    assert next(steps) == LEAVE.start + WALKS.index(Action.RIGHT)
    assert steps.send(ram_in(NEXT)) == go_to(tile_under(40, 24))


def test_a_trip_ends_in_its_room():
    steps = trip(ram_in(HERE), NEXT, RoomGraph([EAST, DOOR]))
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(ram_in(NEXT))


def test_a_closed_crossing_is_tried_once():
    steps = trip(ram_in(HERE), CAVE, RoomGraph([EAST, DOOR]))
    next(steps)
    with pytest.raises(StopIteration):
        steps.send(ram_in(HERE))


def test_rooms_with_few_attempts_are_preferred():
    graph, tries, ram = RoomGraph([EAST, DOOR]), Tries(), ram_in(HERE)
    for _ in range(50):
        tries.add(room_key(ram, NEXT))
    rng = np.random.default_rng(0)
    rooms = [destination(ram, graph, tries, rng) for _ in range(100)]
    assert rooms.count(CAVE) > 85
    assert HERE not in rooms


def test_without_another_known_room_there_is_no_trip():
    assert destination(ram_in(HERE), RoomGraph(), Tries(), np.random.default_rng(0)) is None
