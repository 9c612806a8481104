"""The compiled steps and paths of a room against the rule of walking."""

import numpy as np
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rlaif.game.machine.actions import DIRECTIONS, Action
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.grid import VECTORS, WALKS, TilePlace
from rlaif.game.motion.ground import Goal, Ground, ground_of, is_plain
from rlaif.game.motion.terrain import TILE_COLUMNS, TILE_ROWS, terrain_of
from rlaif.game.skills.walk import walk_to
from rlaif.testing.data.motion.made_rooms import Room, made_room
from rlaif.testing.data.motion.reach import Pixel, all_tiles, tile_of
from rlaif.testing.data.motion.walking_rule import Walking

ROOM, BEYOND = 0x20, 0x21
lenient = settings(
    deadline=None,
    suppress_health_check=[HealthCheck.filter_too_much, HealthCheck.function_scoped_fixture],
)
rooms = st.builds(made_room, st.integers(0, 2**32), st.floats(0.1, 0.5), large=st.booleans())
starts = st.tuples(st.integers(6, 154), st.integers(6, 121))


def ram_of(room: Room, at: Pixel, make_ram, *, facing=2, beyond=False):
    return make_ram(
        *room.writes(),
        ("w1Link.xh", at[0]), ("w1Link.yh", at[1]), ("w1Link.direction", facing),
        ("wActiveRoom", BEYOND if beyond else ROOM),
    )  # fmt: skip


def stands(room: Room, start: Pixel) -> bool:
    x, y = start
    ground = room.ground
    body = [(x + dx, y + dy) for dx in (-3, 2) for dy in (-2, 6)]
    return tile_of(x, y) not in ground.deadly | ground.doors and not any(
        ground.solid(*corner) for corner in body
    )


@settings(lenient, max_examples=25)
@given(room=rooms, start=starts)
def test_a_step_ends_where_it_leaves_the_room(room, start, make_ram):
    terrain = terrain_of(ram_of(room, start, make_ram))
    ground = Ground(terrain, TilePlace(99, 99), [])
    outside, pixels = ground.outs.astype(np.bool_), np.arange(ground.outs.size)
    for way in WALKS:
        dy, dx = VECTORS[way]
        frame = dy * terrain.size[1] + dx
        for frames in (2, 3, 4):
            whole = np.flatnonzero(~outside & (ground.ends[way] == pixels + frames * frame))
            for early in range(1, frames):
                assert not outside[whole + early * frame].any()


@pytest.mark.parametrize("tile_set", range(7))
@pytest.mark.parametrize("collision", [0x00, 0x0E, 0x0F, 0x10, 0x11, 0xFF])
def test_a_tile_is_plain_if_the_terrain_has_no_hazard_water_or_door_there(
    make_ram, tile_set, collision
):
    for indices in (bytes(range(192)), bytes(range(64, 256))):
        ram = make_ram(
            ("wActiveCollisions", tile_set), ("wRoomLayout", indices),
            (COLLISIONS, bytes([collision]) * COLLISION_BYTES),
        )  # fmt: skip
        terrain = terrain_of(ram)
        plain = ~(terrain.deadly() | terrain.wet() | terrain.warps())
        found = [is_plain(ram, TilePlace(*at)) for at in np.ndindex(TILE_ROWS, TILE_COLUMNS)]
        assert found == plain.ravel().tolist()


@settings(lenient, max_examples=8)
@given(room=rooms, start=starts)
@example(room=made_room(408290, 0.5, large=True), start=(6, 6))  # beside a cliff, feet below it
def test_what_can_be_reached_is_what_trying_everything_reaches(room, start, make_ram):
    assume(stands(room, start))
    truth = Walking(room.ground).truth(start)
    trodden = {tile_of(*pixel) for pixel in truth.steps} | set(truth.doors)
    reached = ground_of(ram_of(room, start, make_ram)).reached(*start)
    rows, columns = (11, 15) if room.large else (8, 10)
    found = {
        (row, column)
        for row in range(rows)
        for column in range(columns)
        if reached.trodden[row * 16 + column]
    }
    edge = {(row, column) for row, column in found if row in (0, rows - 1)}
    edge |= {(row, column) for row, column in found if column in (0, columns - 1)}
    assert found - edge == trodden - edge


@settings(lenient, max_examples=10)
@given(room=rooms, starts=st.lists(starts, min_size=4, max_size=4))
def test_it_does_not_matter_who_asked_before(room, starts, make_ram):
    """What is kept for one pixel is given to others; never to one from which it is not true."""
    starts = [start for start in starts if stands(room, start)]
    assume(starts)
    shared = Ground(terrain_of(ram_of(room, starts[0], make_ram)), TilePlace(99, 99), [])
    for start in starts:
        alone = Ground(terrain_of(ram_of(room, start, make_ram)), TilePlace(99, 99), [])
        found, own = shared.reached(*start), alone.reached(*start)
        assert (found.trodden, found.faced, found.rims) == (own.trodden, own.faced, own.rims)


def walk(room: Room, start: Pixel, goal: Goal, make_ram) -> tuple[str, Pixel, int, int]:
    """Play the rule: how it ended, where, turned where, after how many steps."""
    walking, at, facing, beyond, steps = Walking(room.ground), start, 2, False, 0
    walk = walk_to(ram_of(room, at, make_ram), goal)
    try:
        action = next(walk)
        while True:
            if action in DIRECTIONS:
                facing = (Action.UP, Action.RIGHT, Action.DOWN, Action.LEFT).index(action)
                at, happened = walking.step(at, action)
                assert happened != "dies", f"walked to death at {at}"
                beyond = happened is not None
            steps += 1
            assert steps < 400
            action = walk.send(ram_of(room, at, make_ram, facing=facing, beyond=beyond))
    except StopIteration as over:
        return over.value[0], at, facing, steps


@settings(lenient, max_examples=15)
@given(room=rooms, start=starts, tile=st.sampled_from(all_tiles()))
def test_who_goes_before_a_tile_is_turned_towards_it(room, start, tile, make_ram):
    assume(stands(room, start))
    at = tile[0] * 16 + tile[1]
    reached = ground_of(ram_of(room, start, make_ram)).reached(*start)
    end, (x, y), facing, _ = walk(room, start, Goal("before", at), make_ram)
    assert (end == "arrived") == any(faced[at] for faced in reached.faced)
    if end == "arrived":
        dy, dx = ((-7, 0), (2, 8), (11, 0), (2, -9))[facing]
        assert ((y + dy) // 16, (x + dx) // 16) == tile


@settings(lenient, max_examples=15)
@given(room=rooms, start=starts, way=st.sampled_from(range(4)))
def test_the_room_is_left_over_an_edge_whenever_it_can_be(room, start, way, make_ram):
    assume(stands(room, start))
    leads = ground_of(ram_of(room, start, make_ram)).reached(*start).rims[way]
    end, *_ = walk(room, start, Goal("over", directions=1 << way), make_ram)
    assert (end == "left") == leads
