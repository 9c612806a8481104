"""Equality of cells, and scores of states."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.walls import COLLISION_BYTES, COLLISIONS
from rlaif.trainer.search.cell import Worth, cell_of, strength_of

WALL = 0x0F


def changed(ram: RamBlocks, places: dict[int, int]) -> RamBlocks:
    wram = bytearray(ram.wram)
    for where, value in places.items():
        wram[where - 0xC000] = value
    return RamBlocks(bytes(wram), ram.dungeon_layout)


def test_hearts_and_money_change_the_score_but_not_the_cell(village: RamBlocks):
    weak = changed(village, {address("wLinkHealth"): 4})
    rich = changed(village, {address("wNumRupees"): 0x15})
    assert cell_of(weak).key == cell_of(rich).key == cell_of(village).key
    assert strength_of(weak) < strength_of(village) < strength_of(rich)


def test_fewer_enemies_improve_the_score_but_do_not_change_the_cell(village: RamBlocks):
    watched = changed(village, {address("wNumEnemies"): 2})
    assert cell_of(watched).key == cell_of(village).key
    assert strength_of(watched) < strength_of(village)


def test_a_person_in_front_of_a_door_does_not_close_it(village: RamBlocks):
    person = 0xD140
    x, y = village.u8(address("w1Link.xh")), village.u8(address("w1Link.yh"))
    crowded = changed(
        village,
        {
            person: 1, person + 0x0B: y - 16, person + 0x0D: x,
            address("wAButtonSensitiveObjectList"): 0x40,
            address("wAButtonSensitiveObjectList") + 1: 0xD1,
        },
    )  # fmt: skip
    assert cell_of(crowded).key == cell_of(village).key


def test_a_small_flag_changes_the_score_but_not_the_cell(village: RamBlocks):
    dug = changed(village, {0xC778: village.u8(0xC778) | 0x01})
    assert cell_of(dug).key == cell_of(village).key
    assert strength_of(dug) > strength_of(village)


def test_an_item_changes_the_cell_but_not_the_place(village: RamBlocks):
    armed = changed(village, {address("wObtainedTreasureFlags"): 0x20})
    assert cell_of(armed).key != cell_of(village).key
    assert cell_of(armed).place == cell_of(village).place


def test_a_step_aside_does_not_change_the_cell(village: RamBlocks):
    x = address("w1Link.xh")
    assert cell_of(changed(village, {x: village.u8(x) + 3})) == cell_of(village)


@pytest.mark.parametrize(
    ("name", "value"),
    [
        ("wObtainedTreasureFlags", 0x20),
        ("wRoomStateModifier", 2),
        ("wActiveTriggers", 1),
        ("wNumTorchesLit", 3),
        ("wLinkGrabState", 0x83),
    ],
)
def test_progress_season_puzzles_and_a_carried_object_change_the_cell(
    village: RamBlocks, name: str, value: int
):
    assert cell_of(changed(village, {address(name): value})).key != cell_of(village).key


def test_a_blocked_exit_changes_the_cell(village: RamBlocks):
    shut = changed(village, {COLLISIONS + tile: WALL for tile in range(COLLISION_BYTES)})
    assert cell_of(shut).exits == ()
    assert len(cell_of(village).exits) > 2
    assert cell_of(shut).key != cell_of(village).key


WORTHS = st.builds(Worth, st.floats(0, 20), st.integers(0, 100_000))


@given(WORTHS, WORTHS)
@settings(deadline=None)
def test_much_better_implies_better_and_is_asymmetric(one: Worth, other: Worth):
    if one.much_better_than(other, 0.3, 0.7):
        assert one.better_than(other) or one == other == Worth(one.strength, 0)
        assert not other.better_than(one)


def test_an_equally_strong_state_reached_much_sooner_is_much_better():
    assert Worth(4.0, 700).much_better_than(Worth(4.0, 1000), 0.3, 0.7)
    assert not Worth(4.0, 800).much_better_than(Worth(4.0, 1000), 0.3, 0.7)
    assert not Worth(3.9, 100).much_better_than(Worth(4.0, 1000), 0.3, 0.7)
