import pytest

from rlaif.game.stories.milestones import (
    ByteTest,
    Milestone,
    MilestoneLatch,
    Story,
    boss_key,
    compass,
    dungeon_map,
    essence,
    fraction,
    milestones_reached,
    room_flag,
    season,
    story_flag,
    treasure,
    visited,
)
from rlaif.game.stories.story_lookup import story_of

GAMES = ("oracle-of-seasons", "seedling-vale")
TOY = Story(
    (
        Milestone("sword", "Sword", treasure(0x05)),
        Milestone("shield", "Shield", treasure(0x01), is_main=False),
        Milestone("essence", "Essence", essence(1)),
    )
)


def names(reached):
    return [milestone.name for milestone in reached]


@pytest.mark.parametrize("game", GAMES)
def test_every_step_has_its_own_name_and_a_title(game):
    steps = story_of(game).milestones
    assert len({step.name for step in steps}) == len(steps) > 0
    assert len({step.title for step in steps}) == len(steps)
    assert all(step.name.replace("_", "a").isalnum() and step.name.islower() for step in steps)


@pytest.mark.parametrize("game", GAMES)
def test_every_step_reads_memory_that_is_there_and_can_pass_and_fail(game):
    for step in story_of(game).milestones:
        assert 0xC000 <= step.test.address < 0xE000
        passed = {step.test.holds(byte) for byte in range(256)}
        assert passed == {True, False}, step


@pytest.mark.parametrize("game", GAMES)
def test_a_new_file_has_reached_nothing(make_ram, game):
    assert milestones_reached(make_ram(), story_of(game)) == ()


def test_an_unknown_game_has_no_story(make_ram):
    story = story_of("other")
    assert milestones_reached(make_ram(), story) == ()
    assert fraction((), story) == 0.0


def test_nothing_counts_while_no_file_is_loaded(make_ram):
    writes = ("wObtainedTreasureFlags", b"\xff" * 16)
    assert milestones_reached(make_ram(writes, play=False), TOY) == ()
    assert names(milestones_reached(make_ram(writes), TOY)) == ["sword", "shield"]


def test_the_early_game_of_oracle_of_seasons_is_read_in_quest_order(make_ram):
    # The bits that a real file shows once the gnarled key is picked up.
    ram = make_ram(
        (0xC6CF, 0x04), (0xC6CE, 0x02), (0xC6CB, 0x04), (0xC662, 0x01), (0xC692, 0x20),
        (0xC7D9, 0x90), (0xC6CD, 0x01), (0xC69A, 0x04),
    )  # fmt: skip
    story = story_of("oracle-of-seasons")
    reached = milestones_reached(ram, story)
    assert names(reached) == [
        "link_summoned", "pregame_intro", "intro_done", "enter_heros_cave", "sword", "maku_gate",
        "gnarled_key_quest", "gnarled_key",
    ]  # fmt: skip
    assert fraction(reached, story) == pytest.approx(8 / len(story.main_names))


@pytest.mark.parametrize(
    ("test", "address", "mask"),
    [
        (treasure(0x42), 0xC69A, 0x04), (treasure(0x05), 0xC692, 0x20),
        (story_flag(0x18), 0xC6CD, 0x01), (story_flag(0x28), 0xC6CF, 0x01),
        (room_flag(0, 0xD9, 0x80), 0xC7D9, 0x80), (room_flag(4, 0x12, 0x80), 0xC912, 0x80),
        (room_flag(7, 0x50, 0x80), 0xCA50, 0x80), (room_flag(3, 0x98, 0x20), 0xC898, 0x20),
        (visited(2), 0xC664, 0xFF), (essence(8), 0xC6BB, 0x80), (boss_key(8), 0xC67B, 0x01),
        (compass(1), 0xC67C, 0x02), (dungeon_map(1), 0xC67E, 0x02), (season(3), 0xC6B0, 0x08),
    ],
)  # fmt: skip
def test_a_step_is_looked_for_where_the_game_writes_it(test, address, mask):
    assert (test.address, test.mask) == (address, mask)
    assert test.holds(mask)
    assert not test.holds(0xFF & ~mask)


def test_levels_and_exact_values_are_distinguished():
    assert [byte for byte in range(5) if ByteTest(0xC6AC, low=2).holds(byte)] == [2, 3, 4]
    exact = ByteTest(0xC6E1, low=0x0F, high=0x0F)
    assert [byte for byte in range(256) if exact.holds(byte)] == [0x0F]


def test_these_steps_alone_are_not_in_the_save_file():
    steps = story_of("oracle-of-seasons").milestones
    assert [step.name for step in steps if step.test.address not in range(0xC5B0, 0xCB00)] == [
        "subrosia", "dragon_onox", "onox_beaten", "credits",
    ]  # fmt: skip


def test_extras_count_for_no_fraction(make_ram):
    ram = make_ram(("wObtainedTreasureFlags", 0x22))
    assert fraction(milestones_reached(ram, TOY), TOY) == 0.5


def test_a_step_is_reached_once_and_stays_although_the_treasure_is_lost(make_ram):
    latch = MilestoneLatch(TOY, make_ram())
    armed = make_ram(("wObtainedTreasureFlags", 0x20))
    assert names(latch.update(armed)) == ["sword"]
    assert latch.update(make_ram()) == ()
    assert latch.update(armed) == ()
    assert names(latch.reached) == ["sword"]
    assert latch.fraction == 0.5


def test_a_late_start_pays_nothing_for_what_it_already_has(make_ram):
    armed = make_ram(("wObtainedTreasureFlags", 0x20))
    latch = MilestoneLatch(TOY, armed)
    assert latch.update(armed) == ()
    assert latch.reached == ()
    assert latch.fraction == 0.5
    assert names(latch.update(make_ram(("wEssencesObtained", 1)))) == ["essence"]
    assert latch.fraction == 1.0


def test_all_steps_at_once_come_in_quest_order(make_ram):
    story = story_of("oracle-of-seasons")
    everything = make_ram(*((step.test.address, step.test.high) for step in story.milestones))
    reached = names(milestones_reached(everything, story))
    # Three steps ask one byte, the cutscene, for different values.
    assert [name for name in names(story.milestones) if name in reached] == reached
    assert len(reached) >= len(story.milestones) - 4
