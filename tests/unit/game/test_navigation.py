"""Ways through a room: connected, never through a wall, never dearer than the cheapest."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from rlaif.game.machine.actions import Action
from rlaif.game.navigation.grid import VECTORS, Costs, Node, TilePlace, collision_grid
from rlaif.game.navigation.search import find_path, nearest_path
from rlaif.game.navigation.terrain import Terrain, solid_pixels

FREE, WALL, HAZARD = 0x00, 0x0F, 0x10
LETTERS = {
    ".": (FREE, 0x02),
    "#": (WALL, 0x80),
    "o": (HAZARD, 0xF3),
    "~": (HAZARD, 0xFD),
    "D": (FREE, 0xE6),
    "v": (WALL, 0x54),
    "/": (0x06, 0x80),  # top right and bottom left quarters are solid
    "=": (0x11, 0x80),  # a vertical bridge: four pixels left and right are solid
    "?": (HAZARD, 0x77),
}
BODY_LEFT, BODY_RIGHT = -3, 2
PROBES = {Action.UP: -3, Action.DOWN: 7}


def room(*rows, swims=False):
    collisions = np.full((12, 16), 0xFF, dtype=np.uint8)
    layout = np.zeros((12, 16), dtype=np.uint8)
    for y, row in enumerate(rows):
        for x, letter in enumerate(row):
            collisions[y, x], layout[y, x] = LETTERS[letter]
    return Terrain(collisions, layout, swims=swims)


def walled(*inner, swims=False):
    """A room with a wall around; `inner` are up to 6 rows of up to 8 letters."""
    rows = ["#" + row.ljust(8, "#") + "#" for row in inner]
    rows += ["#" * 10] * (6 - len(rows))
    return room("#" * 10, *rows, "#" * 10, swims=swims)


def middle(row, column):
    return Node(2 * row + 1, 2 * column + 1)


def way(terrain, start, goal, **options):
    grid = collision_grid(terrain, **options)
    return find_path(grid, {middle(*start): 0.0}, [middle(*goal)])


def brute_force(grid, start):
    """Costs of all nodes by relaxing every move until nothing changes (Bellman-Ford)."""
    best = {start: 0.0}
    changed = True
    while changed:
        changed = False
        for node in list(best):
            for _, there, cost in grid.neighbours(node):
                if best[node] + cost < best.get(there, math.inf) - 1e-12:
                    best[there] = best[node] + cost
                    changed = True
    return best


tiles = st.sampled_from("....#~o/D=v?")
rooms = st.lists(st.lists(tiles, min_size=8, max_size=8).map("".join), min_size=6, max_size=6)


@settings(max_examples=60, deadline=None)
@given(rows=rooms, swims=st.booleans(), start=st.tuples(*[st.integers(1, 6)] * 2), data=st.data())
def test_a_path_is_connected_free_of_walls_and_as_cheap_as_brute_force_finds(
    rows, swims, start, data
):
    terrain = walled(*rows, swims=swims)
    goal = data.draw(st.tuples(st.integers(1, 6), st.integers(1, 8)))
    dangers = data.draw(st.lists(st.tuples(st.integers(0, 159), st.integers(0, 127)), max_size=2))
    grid = collision_grid(terrain, dangers=dangers)
    first, last = middle(*start), middle(*goal)
    solid = solid_pixels(terrain.collisions)
    # The middle of a tile whose quarters are solid crosswise is in a wall: nobody starts there.
    assume(not solid[first.y : first.y + 5, first.x - 2 : first.x + 2].any())
    path = find_path(grid, {first: 0.0}, [last])
    best = brute_force(grid, first)
    if path is None:
        assert last not in best
        return
    assert path.cost == pytest.approx(best[last])
    assert (path.nodes[0], path.nodes[-1]) == (first, last)
    for here, there, direction in zip(path.nodes, path.nodes[1:], path.directions, strict=False):
        if (here, direction) in grid.leaps and grid.leaps[here, direction][0] == there:
            continue
        dy, dx = VECTORS[direction]
        assert there == (here.row + dy, here.column + dx)
        for pixel in range(1, 9):
            y, x = here.y + dy * pixel, here.x + dx * pixel
            # The middle of the body never stands in a wall.
            assert not solid[y : y + 5, x - 2 : x + 2].any()


@settings(max_examples=30, deadline=None)
@given(rows=rooms, start=st.tuples(st.integers(1, 6), st.integers(1, 8)))
def test_the_nearest_reachable_place_is_nearer_than_every_other(rows, start):
    grid = collision_grid(walled(*rows))
    path = nearest_path(grid, {middle(*start): 0.0}, 72, 56)
    assert path is not None
    best = brute_force(grid, middle(*start))
    distance = {n: abs(n.x - 72) + abs(n.y - 56) for n in best}
    assert distance[path.nodes[-1]] == min(distance.values())


def test_an_open_room_is_crossed_on_the_shortest_way():
    path = way(walled(*["........"] * 6), (1, 1), (6, 8))
    assert path.cost == 2 * (5 + 7)
    assert len(path.waypoints) == 3
    assert len(path.actions()) == 4 * (5 + 7)


def test_a_way_leads_around_a_wall_and_into_a_gap_of_one_tile():
    path = way(walled("...#....", "...#....", "........", "...#...."), (1, 1), (1, 8))
    # The head may overlap the wall above the gap by three pixels, as in the game.
    assert path.cost == 7 * 2 + 2 * 3
    assert max(node.row for node in path.nodes) == 6


def test_the_way_through_quarter_walls_is_closed_for_the_width_of_the_body():
    assert way(walled("./."), (1, 1), (1, 3)) is None


def test_a_bridge_is_crossed_along_but_not_across():
    assert way(walled(".", "=", "."), (1, 1), (3, 1)) is not None
    assert way(walled(".=."), (1, 1), (1, 3)) is None


@pytest.mark.parametrize("hazard", ["o", "?"])
def test_holes_and_unknown_hazards_are_never_walked_into(hazard):
    assert way(walled("." + hazard + "."), (1, 1), (1, 3)) is None
    around = way(walled("." + hazard + ".", "..."), (1, 1), (1, 3))
    assert around.cost == 6
    assert all((node.y + 5 - 2) // 16 == 2 for node in around.nodes if 28 <= node.x <= 52)


def test_a_hole_can_be_priced_instead():
    assert way(walled("?.."), (1, 2), (1, 3), costs=Costs(deadly=9.0)).cost == 2
    assert way(walled(".o."), (1, 1), (1, 3), costs=Costs(deadly=9.0)).cost > 4


def test_only_who_owns_flippers_swims():
    assert way(walled(".~."), (1, 1), (1, 3)) is None
    assert way(walled(".~.", swims=True), (1, 1), (1, 3)).cost > 4


def test_a_door_is_entered_only_as_the_target_and_left_when_standing_on_it():
    terrain = walled(".D.")
    assert way(terrain, (1, 1), (1, 3)) is None
    assert way(terrain, (1, 1), (1, 2)) is None
    assert way(terrain, (1, 1), (1, 2), enterable=[TilePlace(1, 2)]) is not None
    assert way(terrain, (1, 2), (1, 3)) is None
    assert way(terrain, (1, 2), (1, 3), enterable=[TilePlace(1, 2)]) is not None


def test_a_cliff_is_jumped_off_and_never_climbed():
    terrain = walled(".", "v", "v", ".")
    down = way(terrain, (1, 1), (4, 1))
    assert down.directions == (Action.DOWN,)
    assert down.cost == 2 * 3 + Costs().leap
    assert way(terrain, (4, 1), (1, 1)) is None


def test_people_are_walked_around_and_enemies_are_kept_away_from():
    terrain = walled("...", "...", "...")
    free = way(terrain, (2, 1), (2, 3))
    around = way(terrain, (2, 1), (2, 3), obstacles=[(40, 40)])
    assert around.cost > free.cost
    wary = way(walled(*["........"] * 6), (3, 1), (3, 8), dangers=[(72, 56)])
    assert all(abs(n.x - 72) > 20 or abs(n.y - 56) > 20 for n in wary.nodes)


def test_exits_are_where_the_edge_is_open():
    grid = collision_grid(
        room("####.#####", "#........#", "..........", *["#........#"] * 4, "######..##")
    )
    assert [tuple(at) for at in np.argwhere(grid.exits[Action.UP])] == [(1, 9)]
    assert {int(r) for r, _ in np.argwhere(grid.exits[Action.LEFT])} == {4, 5}
    assert {int(c) for _, c in np.argwhere(grid.exits[Action.DOWN])} == {13, 14, 15}


def test_a_player_between_two_nodes_reaches_them_on_foot():
    grid = collision_grid(walled("...", "..."))
    entries = grid.entries(27, 30)
    assert entries[Node(3, 3)] == 3 + 6
    assert all(grid.inside(node) for node in entries)


def test_actions_need_a_step_that_divides_half_a_tile():
    path = way(walled("..."), (1, 1), (1, 2))
    assert len(path.actions(8)) == 2
    with pytest.raises(ValueError, match="no multiple of 3"):
        path.actions(3)
