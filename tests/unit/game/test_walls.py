import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.observation import slot_index
from rlaif.game.encoder.reference import encode
from rlaif.game.memory import walls
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.walls import FREE, HAZARD, SOLID, half_tiles

WALL, HOLE, BORDER = 0x0F, 0x10, 0xFF


def room(*tiles, fill=0x00):
    """RAM of a 10x8 room, border outside, with (column, row, collision byte)."""
    wram = bytearray(0x2000)
    for row in range(12):
        for column in range(16):
            inside = column < 10 and row < 8
            wram[0xE00 + row * 16 + column] = fill if inside else BORDER
    for column, row, byte in tiles:
        wram[0xE00 + row * 16 + column] = byte
    return RamBlocks(bytes(wram))


def look_around(ram, x, y):
    return walls.look_around(walls.room_cells(ram.block(walls.COLLISIONS, 192)), x, y)


def test_a_collision_byte_is_a_mask_of_quarters():
    grid = half_tiles(room((2, 3, 0b1001)))
    assert grid.shape == (24, 32)
    assert grid[6:8, 4:6].tolist() == [[SOLID, FREE], [FREE, SOLID]]
    assert np.count_nonzero(grid) == 2


@pytest.mark.parametrize(
    ("byte", "meaning"),
    [(0x0F, SOLID), (0x10, HAZARD), (0x30, HAZARD), (0x1E, SOLID), (0x18, FREE), (0xFF, FREE)],
)
def test_special_bytes_have_their_meaning(byte, meaning):
    assert (half_tiles(room((0, 0, byte)))[:2, :2] == meaning).all()


def test_the_grid_shows_what_is_around_the_player():
    ram = room((5, 3, WALL), (4, 4, HOLE))
    grid, _ = look_around(ram, 72, 56)  # in the lower right quarter of tile (4, 3)
    assert grid.reshape(5, 5).tolist() == [
        [0, 0, 0, 0, 0],
        [0, 0, 0, 2, 2],
        [0, 0, 0, 2, 2],
        [0, 1, 1, 0, 0],
        [0, 1, 1, 0, 0],
    ]


def test_rays_end_at_the_first_wall():
    # The body spans half tiles 8-9 by 6-7: in the middle of tile (4, 3).
    _, free = look_around(room((4, 1, WALL), (7, 3, WALL), (4, 5, HOLE)), 72, 56)
    assert free.tolist() == [2, 4, 2, 8]


def test_half_a_body_is_stopped_as_well():
    _, free = look_around(room((3, 1, WALL)), 65, 56)
    assert free.tolist()[0] == 2


def test_a_player_at_the_border_can_walk_off():
    _, free = look_around(room(), 5, 5)
    assert free.tolist() == [8, 8, 8, 8]


@settings(max_examples=60, deadline=None)
@given(st.binary(min_size=192, max_size=192), st.integers(0, 255), st.integers(0, 255))
def test_the_tables_agree_with_the_plain_grid(collisions, x, y):
    wram = bytearray(0x2000)
    wram[0xE00:0xEC0] = collisions
    ram = RamBlocks(bytes(wram))
    padded = np.zeros((24 + 40, 32 + 40), dtype=np.uint8)
    padded[20:44, 20:52] = half_tiles(ram)
    row, column = (y >> 3) + 20, (x >> 3) + 20
    grid, free = look_around(ram, x, y)
    assert (
        grid.reshape(5, 5).tolist() == padded[row - 2 : row + 3, column - 2 : column + 3].tolist()
    )
    left, right = (x - 3 >> 3) + 20, (x + 2 >> 3) + 20
    top, bottom = (y - 3 >> 3) + 20, (y + 7 >> 3) + 20

    def count(cells):
        blocked = [bool(a or b) for a, b in cells]
        return blocked.index(True) if True in blocked else 8

    steps = range(1, 9)
    assert free.tolist() == [
        count([(padded[top - s, left], padded[top - s, right]) for s in steps]),
        count([(padded[top, right + s], padded[bottom, right + s]) for s in steps]),
        count([(padded[bottom + s, left], padded[bottom + s, right]) for s in steps]),
        count([(padded[top, left - s], padded[bottom, left - s]) for s in steps]),
    ]


def test_walls_reach_the_observation_in_their_slots():
    wram = bytearray(room((5, 3, WALL), (4, 4, HOLE)).wram)
    wram[0x100D], wram[0x100B] = 72, 56
    observation = encode(RamBlocks(bytes(wram)))
    assert observation[slot_index("wall_e1")] == 1
    assert observation[slot_index("wall_s1")] == 0.5
    assert observation[slot_index("wall_w1")] == 0
    assert observation[slot_index("free_west")] == 1
    assert observation[slot_index("free_east")] == 0
