"""The committed walkthrough plays the embedded game from power-on to its end."""

import re

from rlaif.game.memory.memory_map import address
from rlaif.game.memory.state import SEASONS, decode
from rlaif.game.stories.story_lookup import story_of

LONGEST_DESCRIPTION = 1800
"""Characters; a judge receives at most about 600 tokens of a state."""


def story():
    return story_of("seedling-vale").milestones


def test_it_reaches_every_milestone_of_the_story(walked):
    assert {step.name for step in story()} - set(walked.reached) == set()
    assert walked.latch.fraction == 1.0


def test_the_steps_of_the_quest_come_in_the_order_of_the_story(walked):
    quest = [step.name for step in story() if step.is_main]
    assert [name for name in walked.reached if name in quest] == quest


def test_each_extra_comes_on_the_way_too(walked):
    extras = [step.name for step in story() if not step.is_main]
    assert len(extras) >= 5
    assert all(walked.reached.index(name) < walked.reached.index("essence") for name in extras)


def test_the_player_dies_once_sees_game_over_and_continues(walked):
    assert walked.game_overs == 1
    assert walked.controlled_after
    assert decode(walked.ram).deaths == 1


def test_it_ends_at_home_with_the_essence_and_the_file_completed(walked):
    end = decode(walked.ram)
    assert (end.group, end.room) == (0, 0x77)
    assert end.has_control
    assert end.essences == 1
    assert walked.ram.u8(address("wFileIsCompleted")) == 1


def test_it_visits_every_room_and_all_four_seasons(walked, cartridge_folder):
    source = (cartridge_folder / "data/rooms.c").read_text()
    rooms = {(int(g), int(r, 16)) for g, r in re.findall(r"\{(\d), 0x([0-9A-F]{2}), \"", source)}
    assert len(rooms) >= 26
    assert rooms - set(walked.rooms) == set()
    assert walked.seasons >= set(SEASONS)


def test_every_state_of_the_walkthrough_is_described_in_few_words(walked):
    assert 0 < walked.longest_description <= LONGEST_DESCRIPTION
