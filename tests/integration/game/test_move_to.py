"""MOVE_TO on the real game: every tile that can be reached, as fast as can be, and no other.

The whole study is benchmarks/move_to.py; here are rooms drawn by seed, and trips between rooms.
"""

import math
import random

import pytest

from rlaif.contracts.planning.plans import MoveTo
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import Emulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.motion.room_watcher import standing
from rlaif.game.skills.macros import option_of
from rlaif.testing.data.motion.reach import all_tiles, tile_of
from rlaif.testing.data.motion.real_steps import FRAME_SKIP, entries, position, truth
from rlaif.testing.data.motion.trips import LIMITS, ground_of, move_to
from rlaif.testing.data.motion.walking_rule import Walking

SEED, ROOMS = 16, 3


@pytest.fixture(scope="module")
def all_entries(request):
    cartridge = request.getfixturevalue("cartridge_folder")
    return entries(cartridge / "walkthrough.json")


@pytest.fixture(scope="module")
def emulator():
    emulator = Emulator(load_cartridge().data)
    yield emulator
    emulator.close()


@pytest.fixture(scope="module")
def drawn(all_entries):
    """A few rooms."""
    return random.Random(SEED).sample(all_entries, ROOMS)


def rule_truth(emulator, entry):
    """What the rule says of an entry."""
    emulator.load_state(entry.state)
    ram = read_blocks(emulator)
    return Walking(ground_of(ram)).truth(position(ram))


def test_the_walkthrough_enters_every_room(all_entries):
    assert len({entry.room for entry in all_entries}) == 30


def test_the_rule_of_walking_is_that_of_the_game(emulator, drawn):
    real, rule = truth(emulator, drawn[0]), rule_truth(emulator, drawn[0])
    assert rule.steps == real.steps
    assert rule.doors == real.doors


def test_every_tile_is_reached_in_at_most_half_again_the_steps_or_refused_without_one(
    emulator, drawn
):
    reached = 0
    for entry in drawn:
        found = rule_truth(emulator, entry)
        for tile in all_tiles():
            trip, least = move_to(emulator, entry, tile), found.least(tile)
            verdict = trip.verdict(found, tile, entry)
            assert verdict == ("refused" if least is None else "reached"), (entry.name, tile, trip)
            assert trip.steps <= math.floor(1.5 * (least or 0)), (entry.name, tile, trip, least)
            reached += least is not None
    assert reached > 20 * ROOMS


class Traveller:
    """Plays macros one after the other, and keeps what it learned of the rooms."""

    def __init__(self, emulator, state):
        self.emulator, self.graph = emulator, RoomGraph()
        emulator.load_state(state)

    @property
    def here(self):
        return standing(read_blocks(self.emulator))

    def go(self, **where):
        option = option_of(MoveTo(**where), graph=self.graph, limits=LIMITS)
        while not (choice := option.next(read_blocks(self.emulator))).over:
            self.emulator.step(choice.action, FRAME_SKIP)
        return choice


@pytest.fixture
def starting(emulator, all_entries):
    """Play on from where a room was first entered."""

    def start(room):
        return Traveller(emulator, next(it.state for it in all_entries if it.room == room))

    return start


def test_rooms_to_which_no_way_is_known_are_found_by_the_map_and_the_way_back_is_remembered(
    starting,
):
    orchard = starting((0, 0x66))
    assert orchard.go(room="0/119").status == "done"
    assert tuple(orchard.here.room) == (0, 0x77)
    assert len(orchard.graph) == 2
    assert orchard.go(room="0/102", column=3, row=5).status == "done"
    assert tuple(orchard.here.room) == (0, 0x66)
    assert tile_of(orchard.here.x, orchard.here.y) == (5, 3)


def test_a_door_is_gone_through_and_known_from_then_on(starting):
    village = starting((0, 0x77))
    assert village.go(column=2, row=3).status == "done"
    assert tuple(village.here.room) == (3, 0x10)
    assert village.go(column=4, row=7).status == "done"
    assert tuple(village.here.room) == (0, 0x77)
    assert village.go(room="3/16", column=4, row=4).status == "done"
    assert tuple(village.here.room) == (3, 0x10)
    assert tile_of(village.here.x, village.here.y) == (4, 4)


@pytest.mark.parametrize(
    "where",
    [
        {"room": "5/161", "column": 4, "row": 4},  # a cave, which is on no map
        {"column": 0, "row": 0},  # a tree
        {"column": 14, "row": 10},  # beyond this room
    ],
)
def test_without_a_known_path_or_map_no_step_is_taken(starting, where):
    village = starting((0, 0x77))
    before = village.here
    choice = village.go(**where)
    assert (choice.status, choice.cause) == ("failed", "unreachable")
    assert village.here == before


def test_a_walk_that_reaches_another_room_gives_up(starting):
    orchard = starting((0, 0x66))
    option = option_of(MoveTo(column=3, row=5), graph=orchard.graph, limits=LIMITS)
    assert not option.next(read_blocks(orchard.emulator)).over
    assert orchard.go(room="0/118").status == "done"
    choice = option.next(read_blocks(orchard.emulator))  # the way back is known, and not asked for
    assert (choice.status, choice.cause) == ("failed", "left_room")
    assert option.next(read_blocks(orchard.emulator)) == choice


def test_who_is_there_already_is_done_at_once(starting):
    village = starting((0, 0x77))
    row, column = tile_of(village.here.x, village.here.y)
    before = village.here
    assert village.go(column=column, row=row).status == "done"
    assert village.here == before
