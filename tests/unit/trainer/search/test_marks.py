"""Permanent flags: what counts as one."""

from hypothesis import given, settings
from hypothesis import strategies as st

from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import ROOM_VISITED, address
from rlaif.testing.data.written_ram import written_ram
from rlaif.trainer.search.marks import large, level_of, marks_of, weight_of

TREASURES, FLAGS = address("wObtainedTreasureFlags"), 0xC700


def ram(**at: int) -> RamBlocks:
    return written_ram(*at.items(), play=False)


def written(places: dict[int, int]) -> RamBlocks:
    return written_ram(*places.items(), play=False)


def test_a_new_game_has_no_flags():
    assert marks_of(written({})) == frozenset()


def test_treasures_essences_and_dungeon_items_are_flags():
    found = marks_of(
        written(
            {
                TREASURES: 0x20,
                TREASURES + 2: 0x40,
                address("wEssencesObtained"): 0x01,
                address("wDungeonBossKeys"): 0x02,
            }
        )
    )
    assert found == {"treasure:5", "treasure:16", "essence:0", "boss_key:1"}


def test_a_second_item_level_is_a_flag_and_the_first_is_not():
    assert marks_of(ram(wSwordLevel=1, wShieldLevel=1)) == frozenset()
    assert marks_of(ram(wSwordLevel=3)) == {"sword:2", "sword:3"}


def test_the_rod_itself_does_not_count_as_a_season():
    assert marks_of(ram(wObtainedSeasons=0x85)) == {"season:0", "season:2"}


def test_room_flags_are_named_by_page_room_and_bit():
    assert marks_of(written({FLAGS + 0x68: 0x80, FLAGS + 0x21C: 0x03})) == {
        "room:0:68:80",
        "room:4:1c:01",
        "room:4:1c:02",
    }


@given(st.integers(0, 0x3FF))
@settings(deadline=None)
def test_a_room_visit_is_never_a_flag(place: int):
    assert marks_of(written({FLAGS + place: ROOM_VISITED})) == frozenset()


def test_memory_that_two_dungeons_use_as_scratch_is_ignored():
    assert marks_of(written({0xC8F3: 0xEF})) == frozenset()


@given(
    st.dictionaries(st.integers(0, 0x3FF), st.integers(0, 255), max_size=20), st.integers(0, 127)
)
@settings(deadline=None)
def test_more_progress_gives_more_flags_and_a_higher_level(flags: dict[int, int], treasure: int):
    before = {FLAGS + place: value for place, value in flags.items()}
    after = before | {TREASURES + treasure // 8: 1 << treasure % 8}
    less, more = marks_of(written(before)), marks_of(written(after))
    assert less < more
    assert level_of(less) < level_of(more)


def test_frequent_flags_are_small_and_weigh_less():
    item, event, door, key = "treasure:16", "room:0:68:80", "room:4:1c:01", "room:4:1b:20"
    seeds, dug, chest = "treasure:20", "room:0:78:01", "room:0:66:20"
    assert weight_of(item) == weight_of(event) == weight_of(door) == 1
    assert weight_of(key) == 0.5
    assert weight_of(seeds) == weight_of(dug) == weight_of(chest) == 0.25
    assert large(frozenset({item, event, door, key, seeds, dug, chest})) == {item, event, door, key}
