import json

import pytest

from rlaif.game.description.describe import MAX_ENTITIES, describe
from rlaif.game.description.words import words_of
from rlaif.game.memory.blocks import RamBlocks
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import (
    is_dialog_state,
    is_puzzle_state,
    is_room_stable,
    is_scrolling,
)
from rlaif.game.memory.state import decode
from rlaif.game.stories.story_lookup import story_of
from rlaif.judge.evidence.described import VOCABULARY
from rlaif.testing.data.written_ram import written_ram


def ram_of(*writes):
    return written_ram(("wLinkHealth", 10), *writes)


def test_numbers_are_decoded_by_their_encoding():
    state = decode(
        ram_of(
            ("wNumRupees", b"\x23\x01"), ("wNumBombs", 0x15), ("wDeathCounter", b"\x12\x00"),
            ("wTotalEnemiesKilled", b"\x2c\x01"),
            ("wActiveGroup", 5), ("wActiveRoom", 0x21), ("w1Link.direction", 3),
            ("wRoomStateModifier", 3), ("wObtainedTreasureFlags", b"\x20\x00\x40"),
        )
    )  # fmt: skip
    assert (state.rupees, state.bombs, state.deaths) == (123, 15, 12)
    assert state.kills == 300
    assert (state.group, state.room, state.facing, state.season) == (5, 0x21, "left", "winter")
    assert state.owns(0x05)
    assert state.owns(0x16)
    assert not state.owns(0x01)
    assert state.has_control


def test_what_belongs_to_a_dungeon_is_unknown_outside():
    outside = decode(ram_of(("wDungeonSmallKeys", b"\x05")))
    assert (outside.dungeon, outside.keys, outside.boss_key) == (None, None, False)
    inside = decode(
        ram_of(("wDungeonSmallKeys", b"\x05\x02"), ("wDungeonIndex", 1), ("wDungeonMaps", 0x02))
    )
    assert (inside.dungeon, inside.keys, inside.dungeon_map) == (1, 2, True)


def busy_room():
    writes = []
    for page in range(16):
        for first in (0xD040, 0xD080, 0xD0C0):
            base = first + page * 0x100
            writes += [(base, b"\x01\x01"), (base + 0x0B, bytes([page * 8])), (base + 0x29, 200)]
        writes.append((0xCCCA + 2 * page, bytes([0x40, 0xD0 + page])))
    everything = ("wObtainedTreasureFlags", b"\xff" * 16)
    return ram_of(*writes, everything, ("wNumRupees", b"\x99\x09"), ("wDungeonIndex", 8))


def test_a_description_is_json_and_small():
    described = describe(decode(busy_room()), words_of("oracle-of-seasons", b""))
    text = json.dumps(described)
    assert json.loads(text) == described
    # A token has about three characters of JSON: this keeps it below 600 tokens.
    assert len(text) < 1800
    assert len(described["entities"]) == MAX_ENTITIES


def test_a_description_holds_no_reward_and_no_policy():
    text = json.dumps(describe(decode(busy_room()))).lower()
    assert not [
        word for word in ("reward", "score", "policy", "value", "advantage") if word in text
    ]


def test_the_description_says_what_a_judge_needs():
    state = decode(
        ram_of(
            ("wActiveGroup", 0), ("wActiveRoom", 0x66), ("w1Link.xh", 80), ("w1Link.yh", 48),
            ("wNumRupees", b"\x10\x00"), ("wObtainedTreasureFlags", 0x20), ("wTextIsActive", 1),
            (0xC767, 0x10), (0xD080, b"\x01\x34"), (0xD08B, 50), (0xD08D, 90), (0xD0A9, 2),
        )
    )  # fmt: skip
    described = describe(state)
    assert described["room"]["group"] == 0
    assert described["room"]["room"] == 0x66
    assert described["room"]["visited_neighbours"] == ["E"]
    assert described["player"] == {
        "x": 80, "y": 48, "facing": "up", "hearts": 2.5, "max_hearts": 3.0,
    }  # fmt: skip
    assert described["rupees"] == 10
    assert described["items"] == ["sword"]
    assert described["flags"]["dialog"] is True
    assert described["flags"]["control"] is False
    assert described["entities"] == [{"kind": "enemy", "id": 0x34, "x": 90, "y": 50, "health": 2}]


def reported_items(*bits):
    flags = sum(1 << bit for bit in bits).to_bytes(16, "little")
    return describe(decode(ram_of(("wObtainedTreasureFlags", flags))))["items"]


@pytest.mark.parametrize("game", ["oracle-of-seasons", "seedling-vale"])
def test_every_treasure_that_a_milestone_knows_is_reported_by_its_name(game):
    flags = address("wObtainedTreasureFlags")
    known = [
        (step.name, 8 * (step.test.address - flags) + step.test.mask.bit_length() - 1)
        for step in story_of(game).milestones
        if flags <= step.test.address < flags + 16
    ]
    assert len(known) > 10
    assert [name for name, bit in known if len(reported_items(bit)) != 1] == []


@pytest.mark.parametrize(
    ("bit", "name"),
    [(0x42, "gnarled_key"), (0x15, "shovel"), (0x06, "boomerang"), (0x46, "ribbon")],
)
def test_items_of_the_story_are_reported_by_the_words_that_judges_may_read(bit, name):
    assert reported_items(bit) == [name]
    assert name in VOCABULARY


def test_a_title_screen_is_not_described():
    assert describe(decode(RamBlocks(bytes(0x2000)))) == {"running": False}


def test_dungeons_are_named_for_oracle_of_seasons_only():
    inside = decode(ram_of(("wDungeonIndex", 1)))
    seasons = describe(inside, words_of("oracle-of-seasons", b""))
    assert (seasons["game"], seasons["room"]["name"]) == (
        "oracle-of-seasons", "Gnarled Root Dungeon",
    )  # fmt: skip
    other = describe(inside, words_of("other", b""))
    assert (other["game"], other["room"]["name"], other["room"]["dungeon"]) == ("other", None, 1)
    assert describe(inside)["game"] is None


def test_rooms_of_oracle_of_seasons_outside_of_dungeons_have_no_name():
    outside = decode(ram_of(("wActiveRoom", 0x77)))
    assert describe(outside, words_of("oracle-of-seasons", b""))["room"]["name"] is None


def test_map_compass_and_boss_key_are_reported_of_the_dungeon_that_the_player_is_in():
    of_one = [("wDungeonMaps", 0x02), ("wDungeonCompasses", 0x02), ("wDungeonBossKeys", 0x02)]
    assert describe(decode(ram_of(*of_one)))["dungeon_items"] is None
    inside = describe(decode(ram_of(("wDungeonIndex", 1), *of_one)))
    assert inside["dungeon_items"] == ["map", "compass", "boss_key"]
    assert describe(decode(ram_of(("wDungeonIndex", 2), *of_one)))["dungeon_items"] == []


@pytest.mark.parametrize(
    ("mode", "scrolling", "stable"),
    [(0x01, False, True), (0x81, False, True), (0x08, True, False), (0x04, True, False),
     (0x00, False, False)],
)  # fmt: skip
def test_the_camera_of_a_large_room_is_no_transition(mode, scrolling, stable):
    ram = ram_of(("wScrollMode", mode))
    assert (is_scrolling(ram), is_room_stable(ram)) == (scrolling, stable)


@pytest.mark.parametrize(
    ("symbol", "value"),
    [("wCutsceneIndex", 2), ("wDisabledObjects", 0x80), ("w1Link.id", 8),
     ("wUseSimulatedInput", 0xFF)],
)  # fmt: skip
def test_scripts_are_cutscenes(symbol, value):
    assert not decode(ram_of()).cutscene
    assert decode(ram_of((symbol, value))).cutscene


def test_a_state_knows_what_it_asks_of_a_planner():
    puzzle = ram_of(("wActiveCollisions", 4), ("wActiveGroup", 4), (0xCF34, 0x0C))
    assert is_puzzle_state(puzzle)
    assert [element.kind for element in decode(puzzle).puzzle] == ["button"]
    dialog = ram_of(("wTextIsActive", 1))
    assert (is_dialog_state(dialog), is_puzzle_state(dialog)) == (True, False)
    assert decode(ram_of(("wLinkObjectIndex", 0xD1), (0xD10D, 77))).x == 77
    assert decode(ram_of(("wLinkObjectIndex", 0xD1))).riding
