"""The compiled steps and paths of a room against plain ones, and against the rule of walking."""

import math
from collections.abc import Collection, Iterable
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt
import pytest
from hypothesis import HealthCheck, assume, example, given, settings
from hypothesis import strategies as st

from rlaif.game.machine.actions import DIRECTIONS, Action
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.game.motion.grid import (
    FEET,
    PROBES,
    RIM_BOTTOM,
    RIM_LEFT,
    RIM_RIGHT,
    RIM_TOP,
    VECTORS,
    WALKS,
    TilePlace,
)
from rlaif.game.motion.ground import Goal, Ground, ground_of, is_plain
from rlaif.game.motion.kernels import ARRIVED, NOWHERE
from rlaif.game.motion.terrain import (
    TILE,
    TILE_COLUMNS,
    TILE_ROWS,
    Terrain,
    solid_pixels,
    terrain_of,
)
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
def test_every_step_of_a_room_leads_where_the_plain_footing_says(room, start, make_ram):
    ram = ram_of(room, start, make_ram)
    own = TilePlace((start[1] + FEET) // 16, start[0] // 16)
    terrain = terrain_of(ram)
    plain, made = footing(terrain, enterable=[own]), Ground(terrain, own, [])
    expected = np.where(plain.ends == KILLED, NOWHERE, plain.ends)
    assert np.array_equal(made.ends, expected)
    assert np.array_equal(made.outs.astype(np.bool_), plain.ways_out)


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


@settings(lenient, max_examples=8)
@given(room=rooms, start=starts, tile=st.sampled_from(all_tiles()))
def test_a_tile_is_walked_onto_whenever_a_way_leads_there(room, start, tile, make_ram):
    assume(stands(room, start))
    truth = Walking(room.ground).truth(start)
    assume(tile not in truth.doors)
    end, at, _, steps = walk(room, start, Goal("on", tile[0] * 16 + tile[1]), make_ram)
    least = truth.least(tile)
    assert (end == "arrived") == (least is not None)
    if least is not None:
        assert tile_of(*at) == tile
        assert steps <= max(2, 1.5 * least)


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


def test_a_goal_has_a_mark_that_no_direction_has():
    assert ARRIVED > 0b1111


# --- the plain implementation ------------------------------------------------

KILLED = -1
"""End of a step that kills."""

_PAD = 16
_LANE = 4
"""Pixels off the middle of a tile from which the player jumps off a cliff."""

Pixels = npt.NDArray[np.bool_]


@dataclass(frozen=True)
class Footing:
    """The steps of a room; a pixel is the index `y * width + x` of where the player stands.

    Attributes:
        ends: `[4, pixels]` int32, the pixel after a step by direction; KILLED where it would kill.
        ways_out: `[pixels]` bool, the room is left there: its rim, doors, stairs.
    """

    ends: npt.NDArray[np.int32]
    ways_out: Pixels


def footing(terrain: Terrain, *, enterable: Collection[TilePlace] = ()) -> Footing:
    """Find the steps of four frames of a room; doors in `enterable` are ordinary ground."""
    solid = np.pad(solid_pixels(terrain.collisions), _PAD)
    deadly, wet, ways_out = _ground(terrain, enterable)
    ends = np.empty((4, deadly.size), dtype=np.int32)
    for direction in WALKS:
        pixel = _a_frame_on(solid, direction, terrain.size)
        ends[direction] = _a_step_on(pixel, 4, deadly.ravel(), wet.ravel(), ways_out.ravel())
        for start, end in _leaps(terrain, direction, pixel, deadly):
            ends[direction, start] = end
    return Footing(ends, ways_out.ravel())


def _ground(terrain: Terrain, enterable: Collection[TilePlace]) -> tuple[Pixels, Pixels, Pixels]:
    """`[height, width]` each: what kills, what is swum in, where the room is left."""
    doors = terrain.warps()
    for row, column in enterable:
        if 0 <= row < TILE_ROWS and 0 <= column < TILE_COLUMNS:
            doors[row, column] = False
    wet = terrain.wet()
    deadly = terrain.deadly() if terrain.swims else terrain.deadly() | wet
    height, width = terrain.size
    rows = np.clip((np.arange(height) + FEET) // TILE, 0, TILE_ROWS - 1)[:, np.newaxis]
    columns = np.arange(width) // TILE
    left = np.any(np.stack(list(_rims(terrain.size).values())), axis=0)
    return deadly[rows, columns], wet[rows, columns], doors[rows, columns] | left


def _rims(size: tuple[int, int]) -> dict[Action, Pixels]:
    y, x = np.indices(size)
    return {
        Action.UP: y <= RIM_TOP,
        Action.DOWN: y >= size[0] - RIM_BOTTOM,
        Action.LEFT: x <= RIM_LEFT,
        Action.RIGHT: x >= size[1] - RIM_RIGHT,
    }


def _a_frame_on(solid: Pixels, direction: Action, size: tuple[int, int]) -> npt.NDArray[np.int32]:
    """`[pixels]`: the pixel a frame later. Slides ask no wall, as in the game."""
    height, width = size
    one, two = (
        solid[_PAD + y : _PAD + y + height, _PAD + x : _PAD + x + width]
        for y, x in PROBES[direction]
    )
    dy, dx = VECTORS[direction]
    aside = one.astype(np.int32) - two  # to the right or down where the first alone is blocked
    free = ~(one | two)
    y, x = np.indices(size, dtype=np.int32)
    y = np.clip(y + free * dy + aside * (dx != 0), 0, height - 1)
    x = np.clip(x + free * dx + aside * (dy != 0), 0, width - 1)
    return (y * width + x).ravel()


def _a_step_on(
    pixel: npt.NDArray[np.int32], frames: int, deadly: Pixels, wet: Pixels, ways_out: Pixels
) -> npt.NDArray[np.int32]:
    """`[pixels]`: the pixel after a step; who leaves the room on the way stops there."""
    here = np.arange(pixel.size, dtype=np.int32)
    dead = np.zeros(pixel.size, dtype=np.bool_)
    starts_out = ways_out.copy()
    for frame in range(frames):
        # In water every second frame counts.
        stops = (wet[here] & (frame % 2 == 0)) | (ways_out[here] & ~starts_out)
        here = np.where(stops, here, pixel[here])
        dead |= deadly[here]
    return np.where(dead, KILLED, here).astype(np.int32)


def _leaps(
    terrain: Terrain, direction: Action, pixel: npt.NDArray[np.int32], deadly: Pixels
) -> Iterable[tuple[int, int]]:
    """Jumps over cliffs to the middle of the next free tile, from where the cliff blocks."""
    ledges = terrain.ledges(direction)
    if not ledges.any():
        return
    (height, width), (dy, dx) = terrain.size, VECTORS[direction]
    rows, columns = height // TILE, width // TILE
    free = terrain.collisions == 0
    for row, column in np.argwhere(free[:rows, :columns]).tolist():
        y, x = row + dy, column + dx
        while 0 <= y < rows and 0 <= x < columns and ledges[y, x]:
            y, x = y + dy, x + dx
        if (y, x) == (row + dy, column + dx) or not (0 <= y < rows and 0 <= x < columns):
            continue
        landing = y * TILE + TILE // 2, x * TILE + TILE // 2
        if free[y, x] and not deadly[landing]:
            yield from _off_the_edge(pixel, (row, column), direction, landing, width)


def _off_the_edge(
    pixel: npt.NDArray[np.int32],
    tile: tuple[int, int],
    direction: Action,
    landing: tuple[int, int],
    width: int,
) -> Iterable[tuple[int, int]]:
    """Pixels in the lane of a tile's middle where the cliff blocks, the feet on the tile."""
    dy, dx = VECTORS[direction]
    y, x = tile[0] * TILE + TILE // 2, tile[1] * TILE + TILE // 2
    for aside in range(-_LANE, _LANE + 1):
        for ahead in range(math.ceil(TILE / 2)):
            line = y + dy * ahead + aside * (dx != 0)
            at = line * width + x + dx * ahead + aside * (dy != 0)
            if pixel[at] == at and (line + FEET) // TILE == tile[0]:
                there = landing[0] + aside * (dx != 0), landing[1] + aside * (dy != 0)
                yield at, there[0] * width + there[1]
