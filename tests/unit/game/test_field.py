"""Steps and ways by the rule of walking: gaps, corners, doors, hazards, cliffs, water."""

import numpy as np
import pytest

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.field import FAR, Moves
from rlaif.game.navigation.footing import NOWHERE, footing
from rlaif.game.navigation.goals import Enter, OnTile, goal_pixels
from rlaif.game.navigation.grid import TilePlace
from rlaif.game.navigation.room_graph import RoomId
from rlaif.game.navigation.terrain import Terrain

HERE = RoomId(0, 0)
LETTERS = {
    ".": (0x00, 0x02),
    "#": (0x0F, 0x80),
    "[": (0x0A, 0x80),  # the left half is solid
    "]": (0x05, 0x80),  # the right half
    "o": (0x10, 0xF3),
    "~": (0x10, 0xFD),
    "D": (0x00, 0xE6),
    "v": (0x0F, 0x54),
}


def terrain(*inner, swims=False):
    """A small room with a wall around; `inner` are up to 6 rows of up to 8 letters."""
    rows = ["#" * 10, *("#" + row.ljust(8, "#") + "#" for row in inner)]
    rows += ["#" * 10] * (8 - len(rows))
    collisions, layout = np.full((12, 16), 0xFF, dtype=np.uint8), np.zeros((12, 16), np.uint8)
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            collisions[y, x], layout[y, x] = LETTERS[letter]
    return Terrain(collisions, layout, swims=swims)


def walk(ground, start, goal, **options):
    """The pixels of the way from the middle of a tile to another one; None where there is none."""
    door = Enter(HERE, TilePlace(*goal))
    open_doors = [TilePlace(*start), *([door.tile] if ground.warps()[goal] else [])]
    steps = footing(ground, enterable=open_doors, **options)
    pixels = goal_pixels(steps, OnTile(HERE, TilePlace(*goal)))[0]
    field = Moves(steps).field(pixels)
    at = steps.index(*TilePlace(*start).middle)
    if field.costs[at] >= FAR:
        return None
    way, held = [at], None
    while (held := field.best(at, rather=held)) is not None:
        at = int(steps.ends[held, at])
        way.append(at)
    assert pixels[at]
    return [(at % 160, at // 160) for at in way]


def test_an_open_room_is_crossed_in_the_least_steps_with_one_turn():
    way = walk(terrain(*["........"] * 6), (1, 1), (6, 8))
    # 7 and 5 tiles of 16 pixels; four pixels off the middle are near enough, on both axes.
    assert len(way) - 1 == (7 * 16 - 4) // 4 + (5 * 16 - 4) // 4
    bends = [1 for (a, b), (_, c), (d, e) in zip(way, way[1:], way[2:], strict=False)
             if (b == c) != (c == e) and a != d]  # fmt: skip
    assert len(bends) == 1


def test_a_gap_as_wide_as_the_body_between_half_tiles_is_gone_through():
    way = walk(terrain("...", "[..", "#].", "..."), (1, 1), (4, 1))
    assert way is not None
    assert walk(terrain("...", "]#]", "..."), (1, 1), (3, 1)) is not None
    assert walk(terrain("...", "]##", "..."), (1, 1), (3, 1)) is not None
    assert walk(terrain("...", "###", "..."), (1, 1), (3, 1)) is None


def test_the_body_slides_around_a_corner_that_one_probe_meets():
    steps = footing(terrain("..", "#."))
    # Walking down he meets the wall below with his left foot alone: two pixels right, then on.
    x, y = 33, 24
    assert steps.ends[Action.DOWN, steps.index(x, y)] == steps.index(35, 26)


def test_a_way_leads_around_a_door_and_through_it_only_as_the_goal():
    beside = terrain("...", ".D.", "...")
    way = walk(beside, (2, 1), (2, 3))
    assert all(not (32 <= x < 48 and 32 <= y + 5 < 48) for x, y in way)
    assert walk(terrain(".D."), (1, 1), (1, 3)) is None
    assert walk(terrain(".D."), (1, 1), (1, 2)) is not None
    assert walk(terrain(".D."), (1, 2), (1, 3)) is not None


def test_no_step_of_a_way_leaves_the_room_from_wherever_one_stands():
    steps = footing(terrain("....", ".D..", "..#.", "[.D."))
    field = Moves(steps).field(goal_pixels(steps, OnTile(HERE, TilePlace(1, 1)))[0])
    led = 0
    for at in range(steps.ways_out.size):
        if (direction := field.best(at)) is not None:
            assert not steps.ways_out[steps.ends[direction, at]], (at % 160, at // 160)
            led += 1
    assert led > 1000


@pytest.mark.parametrize("hazard", ["o", "~"])
def test_no_step_leads_into_what_kills(hazard):
    ground = terrain(f".{hazard}.", "...")
    way = walk(ground, (1, 1), (1, 3))
    assert all(not (32 <= x < 48 and y + 5 < 32) for x, y in way)
    steps = footing(ground)
    assert steps.ends[Action.RIGHT, steps.index(30, 24)] == NOWHERE
    assert walk(terrain(f".{hazard}."), (1, 1), (1, 3)) is None


def test_who_swims_goes_half_as_fast():
    way = walk(terrain(".~~.", swims=True), (1, 1), (1, 4))
    dry = walk(terrain("....", swims=True), (1, 1), (1, 4))
    assert len(way) > len(dry) + 6


def test_a_cliff_is_jumped_off_and_never_climbed():
    cliff = terrain(".", "v", "v", ".")
    way = walk(cliff, (1, 1), (4, 1))
    assert way[-1] == (24, 72)
    assert walk(cliff, (4, 1), (1, 1)) is None


def test_enemies_are_kept_away_from_where_there_is_room():
    way = walk(terrain(*["........"] * 6), (3, 1), (3, 8), dangers=[(72, 56)])
    assert all(abs(x - 72) > 20 or abs(y - 56) > 20 for x, y in way)
    assert walk(terrain("........"), (1, 1), (1, 8), dangers=[(72, 24)]) is not None


def test_people_are_walked_around():
    free = walk(terrain("...", "...", "..."), (2, 1), (2, 3))
    around = walk(terrain("...", "...", "..."), (2, 1), (2, 3), obstacles=[(40, 40)])
    assert len(around) > len(free)


def test_a_search_for_a_start_ends_soon_after_it():
    steps = footing(terrain(*["........"] * 6))
    (near, _) = goal_pixels(steps, OnTile(HERE, TilePlace(1, 1)))
    start, far = steps.index(40, 24), steps.index(136, 104)
    bounded, whole = Moves(steps).field(near, start=start), Moves(steps).field(near)
    assert bounded.costs[start] == whole.costs[start] < FAR
    assert bounded.costs[far] == FAR > whole.costs[far]


def test_what_can_be_reached_from_a_pixel_is_what_has_a_way_to_it():
    ground = terrain("..#..", ".[...", "#.o#D")
    steps = footing(ground)
    start = steps.index(24, 24)
    reached = Moves(steps).reachable(start)
    for x, y in ((24, 40), (72, 24), (88, 24), (8, 8), (120, 100), (62, 36)):
        goal = np.zeros(reached.size, dtype=np.bool_)
        goal[steps.index(x, y)] = True
        assert (Moves(steps).field(goal).costs[start] < FAR) == reached[steps.index(x, y)], (x, y)
