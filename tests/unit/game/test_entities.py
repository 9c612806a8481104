import pytest

from rlaif.game.memory.entities import (
    Entity,
    are_enemies_near,
    enemies,
    interactions,
    is_riding,
    nearest,
    parts,
    player_position,
    talkables,
    things,
)


def an_object(first, *, kind=1, x=0, y=0, **fields):
    offsets = {"subid": 2, "direction": 8, "angle": 9, "health": 0x29}
    writes = [(first, bytes([1, kind])), (first + 0x0B, y), (first + 0x0D, x)]
    return [*writes, *((first + offsets[name], value) for name, value in fields.items())]


def test_an_object_is_read_with_all_its_fields(make_ram):
    ram = make_ram(*an_object(0xD280, kind=9, x=90, y=50, subid=2, direction=3, angle=24, health=4))
    assert enemies(ram) == [Entity(0xD280, 9, 2, 90, 50, 4, 3, 24)]


@pytest.mark.parametrize("page", range(16))
def test_every_page_holds_one_object_of_each_kind(make_ram, page):
    for kind, first in ((interactions, 0xD040), (enemies, 0xD080), (parts, 0xD0C0)):
        found = kind(make_ram(*an_object(first + page * 0x100, x=7)))
        assert [(e.slot, e.x) for e in found] == [(first + page * 0x100, 7)]


def test_what_only_looks_like_an_enemy_is_left_out(make_ram):
    ram = make_ram(*an_object(0xD080, kind=0x56), *an_object(0xD180, kind=0x09))
    assert [enemy.id for enemy in enemies(ram)] == [0x09]


def test_on_foot_the_position_is_the_players_and_riding_the_animals(make_ram):
    both = [*an_object(0xD000, x=10, y=20), *an_object(0xD100, kind=0x0B, x=100, y=60)]
    on_foot = make_ram(*both)
    assert (is_riding(on_foot), player_position(on_foot)) == (False, (10, 20))
    riding = make_ram(*both, ("wLinkObjectIndex", 0xD1))
    assert (is_riding(riding), player_position(riding)) == (True, (100, 60))


def test_talkables_follow_the_games_list_and_skip_what_is_gone(make_ram):
    pointers = b"\x42\xd3\x00\x00\x40\xd5\x40\xd4"
    ram = make_ram(
        *an_object(0xD340, kind=0x87), *an_object(0xD440), ("wAButtonSensitiveObjectList", pointers)
    )
    assert [found.slot for found in talkables(ram)] == [0xD340, 0xD440]


def test_items_to_pick_up_are_drops_and_treasures(make_ram):
    button = an_object(0xD2C0, kind=0x09)
    assert [found.slot for found in things(make_ram(*button))] == [0xD2C0]
    ram = make_ram(*button, *an_object(0xD3C0, kind=0x01), *an_object(0xD540, kind=0x60))
    assert [found.slot for found in things(ram)] == [0xD3C0, 0xD540]


def test_the_nearest_comes_first_and_ties_go_by_slot():
    near, far, tied = (Entity(slot, 1, 0, x, 0, 0) for slot, x in ((3, 12), (1, 40), (2, 8)))
    assert nearest([far, near, tied], 10, 0) == [tied, near, far]


@pytest.mark.parametrize(
    ("x", "y", "near"), [(100, 60, True), (126, 86, True), (127, 60, False), (100, 33, False)]
)
def test_an_enemy_is_near_when_it_is_on_both_axes(make_ram, x, y, near):
    ram = make_ram(*an_object(0xD380, kind=0x09, x=x, y=y))
    assert are_enemies_near(ram, 100, 60, 26) is near
    assert not are_enemies_near(make_ram(), 100, 60, 26)
