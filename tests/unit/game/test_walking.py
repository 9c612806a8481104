"""MOVE_TO against the movement rule in random rooms: as fast, or rejected at once."""

import math

from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st

from rlaif.contracts.planning.plans import MoveTo
from rlaif.game.machine.actions import DIRECTIONS, Action
from rlaif.game.motion.room_graph import RoomGraph
from rlaif.game.skills.macros import skill_of
from rlaif.game.skills.script import OptionLimits, Scripted
from rlaif.game.skills.table import Context, script_of
from rlaif.testing.data.motion.made_rooms import FREE, GRASS, WALL, Room, made_room
from rlaif.testing.data.motion.reach import Pixel, Tile, all_tiles, tile_of
from rlaif.testing.data.motion.walking_rule import Ground, Walking

ROOM, BEYOND = 0x20, 0x21
LIMITS = OptionLimits(most_steps=600)


def rooms(*, large: bool) -> st.SearchStrategy[Room]:
    seeds, densities = st.integers(0, 2**32), st.floats(0.1, 0.5)
    return st.builds(made_room, seeds, densities, large=st.just(large))


class Play:
    """A made room that is played by the rule."""

    def __init__(self, room: Room, start: Pixel, make_ram) -> None:
        self._walking, self._writes, self._make_ram = Walking(room.ground), room.writes(), make_ram
        self.at, self.facing, self.steps = start, 2, 0
        self.left: Tile | str | None = None

    def ram(self):
        x, y = self.at
        return self._make_ram(
            *self._writes,
            ("w1Link.xh", x), ("w1Link.yh", y), ("w1Link.direction", self.facing),
            ("wActiveRoom", ROOM if self.left is None else BEYOND),
        )  # fmt: skip

    def walk_on(self, ground: Ground) -> None:
        """Be on another ground than memory says."""
        self._walking = Walking(ground)

    def move_to(self, tile: Tile):
        """Play the option to its end."""
        macro = MoveTo(row=tile[0], column=tile[1])
        option = Scripted(script_of(skill_of(macro), Context(RoomGraph())))
        while not (choice := option.next(self.ram())).over:
            self.press(choice.action)
        return choice

    def press(self, action: Action) -> None:
        self.steps += 1
        assert self.left is None, f"pressed {action.name} in another room"
        if action in DIRECTIONS:
            self.facing = (Action.UP, Action.RIGHT, Action.DOWN, Action.LEFT).index(action)
            self.at, happened = self._walking.step(self.at, action)
            assert happened != "dies", f"walked to death at {self.at}"
            self.left = happened


def stands(ground: Ground, start: Pixel) -> bool:
    """Whether a player can be there at all: on ground, with his body in no wall."""
    x, y = start
    body = [(x + dx, y + dy) for dx in (-3, 2) for dy in (-2, 6)]
    tile = tile_of(*start)
    return tile not in ground.deadly | ground.doors and not any(
        ground.solid(*corner) for corner in body
    )


def check(room: Room, start: Pixel, targets: list[Tile], make_ram) -> None:
    truth = Walking(room.ground).truth(start)
    for tile in targets:
        play, least = Play(room, start, make_ram), truth.least(tile)
        choice = play.move_to(tile)
        if least is None:
            assert (choice.status, choice.cause, play.steps) == ("failed", "unreachable", 0), tile
            continue
        assert choice.status == "done", (tile, least, choice)
        assert play.steps <= math.floor(1.5 * least), (tile, least)
        assert play.left == tile if tile in truth.doors else play.at in truth.goal(tile)


starts = st.tuples(st.integers(6, 154), st.integers(6, 121))
lenient = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)


@settings(lenient, max_examples=15)
@given(
    room=rooms(large=False),
    start=starts,
    targets=st.lists(st.sampled_from(all_tiles()), min_size=8, max_size=8, unique=True),
)
def test_every_tile_of_a_room_is_reached_in_at_most_half_again_the_steps_or_said_to_be_out_of_reach(
    room, start, targets, make_ram
):
    assume(stands(room.ground, start))
    check(room, start, targets, make_ram)


@settings(lenient, max_examples=3)
@given(
    room=rooms(large=True),
    start=starts,
    targets=st.lists(st.sampled_from(all_tiles(large=True)), min_size=8, max_size=8, unique=True),
)
def test_so_is_every_tile_of_a_large_room(room, start, targets, make_ram):
    assume(stands(room.ground, start))
    check(room, start, targets, make_ram)


OPEN = {tile: (FREE, GRASS) for tile in all_tiles()}


def play_with_hidden_walls(hidden, make_ram):
    """An open room in RAM, with walls that are not in it."""
    play = Play(Room(OPEN, large=False, swims=False), (40, 56), make_ram)
    walls = {tile: WALL if tile in hidden else FREE for tile in all_tiles()}
    play.walk_on(Ground(walls))
    return play


def test_an_obstacle_without_a_wall_in_memory_is_avoided(make_ram):
    play = play_with_hidden_walls({(3, 4)}, make_ram)
    assert play.move_to((3, 7)).status == "done"
    assert tile_of(*play.at) == (3, 7)
    assert play.steps < 60


def test_a_walk_without_a_path_ends_as_unreachable(make_ram):
    play = play_with_hidden_walls({(row, 4) for row in range(8)}, make_ram)
    choice = play.move_to((3, 7))
    assert (choice.status, choice.cause) == ("failed", "unreachable")
    assert play.steps < LIMITS.most_steps // 2
