"""The navigator walks the embedded game: real walls, real enemies, real doors, several rooms."""

import random

import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.machine.cartridges import load_cartridge
from rlaif.game.machine.emulator import PyBoyEmulator
from rlaif.game.memory.blocks import read_blocks
from rlaif.game.memory.predicates import has_control
from rlaif.game.navigation.field import FAR, Moves
from rlaif.game.navigation.footing import footing
from rlaif.game.navigation.goals import NEAR, Enter, Goal, Leave, Place, Reach, goal_pixels
from rlaif.game.navigation.grid import WALKS, TilePlace, tile_under
from rlaif.game.navigation.navigator import Navigator, TripSettings
from rlaif.game.navigation.room_graph import RoomGraph, RoomId
from rlaif.game.navigation.room_watcher import standing
from rlaif.game.navigation.terrain import terrain_of

FRAME_SKIP = 4
ROOMS_WALKED = 14


class Trip:
    """One play of the embedded game with a navigator."""

    def __init__(self, emulator, navigator):
        self.emulator, self.navigator = emulator, navigator

    @property
    def here(self):
        return standing(read_blocks(self.emulator))

    def go(self, target):
        self.navigator.go(target)
        while not (decision := self.navigator.next(read_blocks(self.emulator))).done:
            self.emulator.step(decision.action, FRAME_SKIP)
        return decision

    def leads_to(self, goal: Goal) -> bool:
        """Whether a way leads there by the rule of walking."""
        here, terrain = self.here, terrain_of(read_blocks(self.emulator))
        open_doors = [goal.tile] if isinstance(goal, Enter) else []
        steps = footing(terrain, enterable=[tile_under(here.x, here.y), *open_doors])
        pixels = goal_pixels(steps, goal)[0]
        return Moves(steps).field(pixels).costs[steps.index(here.x, here.y)] < FAR

    def ways_out(self):
        """The open edges and doors of the room."""
        room = self.here.room
        terrain = terrain_of(read_blocks(self.emulator))
        doors = zip(*terrain.warps().nonzero(), strict=True)
        ways: list[Leave | Enter] = [Leave(room, direction) for direction in WALKS]
        ways += [Enter(room, TilePlace(int(row), int(column))) for row, column in doors]
        return [way for way in ways if self.leads_to(way)]

    def places(self):
        """Half tiles of the room."""
        here = self.here
        height, width = here.size
        return [Place(here.room, x, y) for y in range(8, height, 8) for x in range(8, width, 8)]

    def reachable_place(self, rng):
        """A random place of the room to which a way leads."""
        while not self.leads_to(place := rng.choice(self.places())):
            pass
        return place


@pytest.fixture
def trip():
    emulator = PyBoyEmulator(load_cartridge().data)
    for _ in range(400):
        emulator.step(Action.START, 8)
        emulator.step(Action.NOP, 8)
        if has_control(read_blocks(emulator)):
            break
    emulator.tick(8)
    assert has_control(read_blocks(emulator))
    yield Trip(emulator, Navigator())
    emulator.close()


def test_it_walks_to_places_in_many_rooms_and_then_home_over_the_rooms_it_learned(trip, tmp_path):
    rng = random.Random(5)
    home, arrived, crossed = trip.here.room, 0, 0
    walked_in = {home}
    for _ in range(ROOMS_WALKED):
        place = trip.reachable_place(rng)
        decision = trip.go(place)
        here = trip.here
        off = max(abs(here.x - place.x), abs(here.y - place.y))
        arrived += decision.status == "arrived" and off <= NEAR
        crossed += trip.go(rng.choice(trip.ways_out())).status == "arrived"
        walked_in.add(trip.here.room)
    assert arrived >= ROOMS_WALKED - 1
    assert crossed >= ROOMS_WALKED - 1
    assert len(walked_in) >= 4
    path = tmp_path / "rooms.json"
    trip.navigator.graph.save(path)
    knowing = Navigator(RoomGraph.from_json(path.read_text()))
    trip.navigator = knowing
    for room in (home, trip.here.room, home):
        decision = trip.go(Reach(room))
        assert decision.status == "arrived", decision
        assert trip.here.room == room


def test_a_room_to_which_no_way_is_known_is_said_to_be_out_of_reach(trip):
    decision = trip.go(Reach(RoomId(7, 0xEE)))
    assert decision.status == "blocked"
    assert "no known way from room" in decision.reason
    assert "7:EE" in decision.reason


def test_a_place_in_a_wall_is_approached_and_then_said_to_be_out_of_reach(trip):
    here = trip.here
    shut = next(place for place in trip.places() if not trip.leads_to(place))
    before = abs(here.x - shut.x) + abs(here.y - shut.y)
    decision = trip.go(shut)
    now = trip.here
    assert decision.status == "blocked"
    assert f"no way to ({shut.x}, {shut.y})" in decision.reason
    assert abs(now.x - shut.x) + abs(now.y - shut.y) <= before


def test_a_trip_that_takes_too_long_is_lost(trip):
    trip.navigator = Navigator(settings=TripSettings(most_steps=3))
    decision = trip.go(Leave(trip.here.room, Action.UP))
    assert decision.status == "lost"
    assert "3 steps" in decision.reason


def test_on_the_title_screen_there_is_nowhere_to_go():
    emulator = PyBoyEmulator(load_cartridge().data)
    emulator.tick(60)
    navigator = Navigator()
    navigator.go(Reach(RoomId(0, 0)))
    decision = navigator.next(read_blocks(emulator))
    assert (decision.status, decision.reason) == ("lost", "no game is being played")
    emulator.close()
