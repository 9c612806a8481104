import numpy as np
import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from rlaif.contracts.game.observation import slot_index
from rlaif.game.encoder.reference import encode, encode_into
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address

SIZE = 0x2000


def ram_of(*writes, layout=bytes(256)):
    """RAM that is zero but for (symbol or address, byte or bytes)."""
    wram = bytearray(SIZE)
    wram[address("wDungeonIndex") - 0xC000] = 0xFF
    for where, value in writes:
        at = (address(where) if isinstance(where, str) else where) - 0xC000
        data = bytes([value]) if isinstance(value, int) else value
        wram[at : at + len(data)] = data
    return RamBlocks(bytes(wram), layout)


def slot(ram, name):
    return float(encode(ram)[slot_index(name)])


any_ram = st.builds(
    lambda seed, zeros, layout: RamBlocks(
        (
            np.random.default_rng(seed).integers(0, 256, SIZE, dtype=np.uint8)
            * (np.random.default_rng(seed + 1).random(SIZE) >= zeros)
        )
        .astype(np.uint8)
        .tobytes(),
        np.random.default_rng(layout).bytes(256),
    ),
    st.integers(0, 2**32 - 2),
    st.sampled_from([0.0, 0.5, 0.95]),
    st.integers(0, 2**32 - 1),
)


@settings(max_examples=150, deadline=None)
@given(any_ram)
@example(RamBlocks(bytes(SIZE)))
@example(RamBlocks(b"\xff" * SIZE, b"\xff" * 256))
@example(RamBlocks(b"\x99" * SIZE, b"\x99" * 256))
@example(RamBlocks(b"\x80" * SIZE, b"\x80" * 256))
def test_any_ram_gives_128_finite_numbers_from_0_to_1(ram):
    observation = encode(ram)
    assert observation.shape == (128,)
    assert observation.dtype == np.float32
    assert np.isfinite(observation).all()
    assert observation.min() >= 0
    assert observation.max() <= 1


@settings(max_examples=20, deadline=None)
@given(any_ram)
def test_the_same_ram_gives_the_same_bits_into_any_row(ram):
    rows = np.full((2, 128), np.nan, dtype=np.float32)
    encode_into(ram, rows[1])
    assert rows[1].tobytes() == encode(ram).tobytes()
    assert np.isnan(rows[0]).all()


@pytest.mark.parametrize(
    ("name", "writes", "expected"),
    [
        ("health_ratio", [("wLinkHealth", 6)], 0.0),
        ("shield_level", [("wShieldLevel", 1)], 0.0),
        ("sword_equipped", [("wInventoryB", 0x05)], 1.0),
        ("story_keys", [(0xC69A, b"\xff\xff")], 1.0),
        ("other_tools", [(0xC692, 0x40), (0xC694, 0x20)], 0.5),
        ("switches", [("wSwitchState", 0b11), ("wToggleBlocksState", 0b100)], 3 / 8),
        ("essences", [("wEssencesObtained", 0b101)], 0.25),
        ("scrolling", [("wScrollMode", 0x81)], 0.0),
        ("text_choice", [("wTextDisplayMode", 1)], 0.0),
        ("dying", [], 1.0),
        ("locked", [("wActiveCollisions", 4), (0xCF22, 0x70)], 1.0),
        ("locked", [("wActiveCollisions", 0), (0xCF22, 0x70)], 0.0),
        ("locked", [("wActiveCollisions", 0), (0xCF22, 0xEC)], 1.0),
    ],
)  # fmt: skip
def test_a_slot_reads_its_symbol_with_its_limits(name, writes, expected):
    assert slot(ram_of(*writes), name) == pytest.approx(expected, abs=1e-6)


def test_a_dungeon_index_that_does_not_exist_is_no_dungeon():
    assert slot(ram_of(("wDungeonIndex", 12)), "dungeon") == 0
    assert slot(ram_of(("wDungeonIndex", 11)), "dungeon") == 1


def test_the_edge_of_the_grid_has_no_neighbour():
    ram = ram_of(("wActiveRoom", 0x00), (0xC700, b"\x10" * 256))
    around = [slot(ram, f"visited_{side}") for side in ("north", "east", "south", "west")]
    assert around == [0, 1, 1, 0]


def test_neighbours_in_a_dungeon_lie_on_its_floor():
    layout = bytearray(256)
    layout[64 + 9], layout[64 + 1], layout[64 + 10] = 0x20, 0x33, 0x44
    ram = ram_of(
        ("wActiveGroup", 4), ("wActiveRoom", 0x20), ("wDungeonIndex", 1),
        ("wDungeonMapPosition", 9), ("wDungeonFloor", 1), (0xC933, 0x10),
        layout=bytes(layout),
    )  # fmt: skip
    around = [slot(ram, f"visited_{side}") for side in ("north", "east", "south", "west")]
    assert around == [1, 0, 0, 0]


def enemy(number, x, y, *, health=8, kind=0x10):
    base = 0xD080 + number * 0x100
    return [(base, bytes([1, kind])), (base + 0x0B, y), (base + 0x0D, x), (base + 0x29, health)]


def test_the_nearest_enemy_comes_first():
    ram = ram_of(
        ("w1Link.xh", 80), ("w1Link.yh", 64), *enemy(0, 140, 64), *enemy(9, 90, 64, health=16)
    )
    assert slot(ram, "enemy_1_present") == 1
    assert slot(ram, "enemy_1_dx") == pytest.approx(0.5 + 10 / 512)
    assert slot(ram, "enemy_1_dy") == 0.5
    assert slot(ram, "enemy_1_health") == 0.5
    assert slot(ram, "enemy_2_dx") == pytest.approx(0.5 + 60 / 512)
    fields = ("present", "dx", "dy", "health", "dir_x", "dir_y")
    assert [slot(ram, f"enemy_3_{field}") for field in fields] == [0] * 6


def test_the_talkable_object_is_preferred_to_a_nearer_trigger():
    objects = [(0xD240, 1), (0xD24D, 10), (0xD340, 1), (0xD34D, 90)]
    assert slot(ram_of(*objects), "npc_dx") == pytest.approx(0.5 + 10 / 512)
    listed = (0xCCCA, b"\x4a\xd3")
    assert slot(ram_of(*objects, listed), "npc_dx") == pytest.approx(0.5 + 90 / 512)


def test_a_drop_is_preferred_to_another_part():
    button, drop = (0xD0C0, b"\x01\x09"), (0xD1C0, b"\x01\x01")
    assert slot(ram_of(button, (0xD0CD, 20)), "item_dx") == pytest.approx(0.5 + 20 / 512)
    ram = ram_of(button, (0xD0CD, 20), drop, (0xD1CD, 50))
    assert slot(ram, "item_dx") == pytest.approx(0.5 + 50 / 512)


@pytest.mark.parametrize(
    ("angle", "direction"),
    [(0, (0.5, 0.0)), (8, (1.0, 0.5)), (16, (0.5, 1.0)), (24, (0.0, 0.5)), (0xFF, (0.5, 0.5)),
     (4, (0.5 + 0.5**1.5, 0.5 - 0.5**1.5)), (32, (0.5, 0.5))],
)  # fmt: skip
def test_an_enemys_angle_is_a_direction(angle, direction):
    ram = ram_of(*enemy(0, 80, 60), (0xD089, angle))
    assert (slot(ram, "enemy_1_dir_x"), slot(ram, "enemy_1_dir_y")) == pytest.approx(direction)


WALL_ROW, WALL = 0xCE00, 0x0F


def wall_off(side, *, columns=10, rows=8):
    tiles = {
        "north": [(0, column) for column in range(columns)],
        "south": [(rows - 1, column) for column in range(columns)],
        "west": [(row, 0) for row in range(rows)],
        "east": [(row, columns - 1) for row in range(rows)],
    }[side]
    return [(WALL_ROW + row * 16 + column, WALL) for row, column in tiles]


@pytest.mark.parametrize("side", ["north", "east", "south", "west"])
@pytest.mark.parametrize("large", [False, True])
def test_an_edge_that_is_walled_off_has_no_exit(side, large):
    size = {"columns": 15, "rows": 11} if large else {}
    ram = ram_of(("wRoomIsLarge", int(large)), *wall_off(side, **size))
    sides = ("north", "east", "south", "west")
    assert [slot(ram, f"exit_{s}") for s in sides] == [float(s != side) for s in sides]


def test_a_gap_of_one_tile_is_an_exit_and_half_a_tile_is_none():
    walls = wall_off("north")
    assert slot(ram_of(*walls, (WALL_ROW + 4, 0)), "exit_north") == 1
    assert slot(ram_of(*walls, (WALL_ROW + 4, 0b1010)), "exit_north") == 0
    halves = [(WALL_ROW + 4, 0b1010), (WALL_ROW + 5, 0b0101)]
    assert slot(ram_of(*walls, *halves), "exit_north") == 1


def test_water_at_the_edge_is_an_exit_for_who_can_swim():
    writes = [*wall_off("south"), (WALL_ROW + 0x70, 0x10)]
    assert slot(ram_of(*writes), "exit_south") == 0
    assert slot(ram_of(*writes, (0xC697, 0x40)), "exit_south") == 1


def person(x, y):
    return [(0xD240, 1), (0xD24B, y), (0xD24D, x), (0xD266, b"\x06\x06"), (0xCCCA, b"\x40\xd2")]


@pytest.mark.parametrize(
    ("facing", "x", "y", "answers"),
    [(0, 80, 54, 1), (0, 80, 74, 0), (1, 90, 64, 1), (2, 80, 75, 1), (3, 69, 66, 1),
     (3, 58, 64, 0), (1, 95, 64, 1), (1, 96, 64, 0)],
)  # fmt: skip
def test_a_person_answers_who_stands_in_front_of_him(facing, x, y, answers):
    me = [("w1Link.xh", 80), ("w1Link.yh", 64), ("w1Link.direction", facing)]
    assert slot(ram_of(*me, *person(x, y)), "npc_ahead") == answers
    held = ("wLinkGrabState", 0x83)
    assert slot(ram_of(*me, *person(x, y), held), "npc_ahead") == 0


@pytest.mark.parametrize(("tile", "facing", "answers"), [(0xF2, 1, 1), (0xF1, 0, 1), (0xF1, 1, 0)])
def test_signs_are_read_and_chests_opened_from_below(tile, facing, answers):
    at = {0: 0xCF00 + 3 * 16 + 5, 1: 0xCF00 + 4 * 16 + 6}[facing]
    me = [("w1Link.xh", 88), ("w1Link.yh", 72), ("w1Link.direction", facing)]
    me[:2] = [("w1Link.xh", 88), ("w1Link.yh", 70)] if facing == 0 else me[:2]
    assert slot(ram_of(*me, (at, tile)), "npc_ahead") == answers
