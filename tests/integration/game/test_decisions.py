"""Every mechanic of the embedded game can be performed with every action set."""

from collections.abc import Callable
from typing import Any

import pytest

from rlaif.game.decisions.catalog import BUTTON, DECISIONS, FIGHT
from rlaif.game.decisions.mask import allowed
from rlaif.game.machine.actions import Action
from rlaif.game.memory.blocks import RamBlocks, bcd
from rlaif.game.memory.entities import enemies
from rlaif.game.memory.memory_map import address
from rlaif.game.memory.predicates import has_control, is_dying, is_text_choice
from rlaif.game.motion.things import KINDS, things
from rlaif.testing.data.read_ram import FLIPPERS, SHIELD, SWORD, in_room, index, keys, owns, season

BASE_FRAMES = 4
NUMBERS = {decision.name: decision.index for decision in DECISIONS}
Check = Callable[[RamBlocks], bool]


def u8(name: str) -> Callable[[RamBlocks], int]:
    return lambda ram: ram.u8(address(name))


coins, x_of = u8("wNumRupees"), u8("w1Link.xh")

TORCHES_OF_EMBER_CAVE = [(1, 1), (8, 1), (8, 5), (1, 5)]
TORCHES_OF_TORCH_HALL = [(1, 1), (8, 1), (8, 6), (1, 6)]


def light(torches: list[tuple[int, int]]) -> list[str]:
    return [
        name for column, row in torches for name in (f"GO_TO_{column}_{row}", "ITEM_seed_satchel")
    ]


MECHANICS: dict[str, tuple[str, list[str], Check]] = {
    "walk": ("village", ["WALK_RIGHT"], lambda ram: x_of(ram) > 72),
    "a way out of a room": ("village", ["LEAVE_DOWN"], lambda ram: in_room(ram, 0, 0x87)),
    "a door in": (
        "village, with the blade", ["GO_TO_2_3"], lambda ram: in_room(ram, 3, 0x10)
    ),
    "a door out": (
        "house, with the blade", ["GO_TO_4_7"], lambda ram: in_room(ram, 0, 0x77)
    ),
    "a bush": (
        "village, with the blade",
        ["GO_TO_1_4", "ITEM_sword"],
        lambda ram: index(ram, 1, 4) != 0xC4,
    ),
    "what lies on the ground": ("meadow", ["GO_TO_1_1"], lambda ram: bcd(coins(ram)) >= 5),
    "going on after a death": (
        "death", ["INTERACT"], lambda ram: has_control(ram) and not is_dying(ram)
    ),
    "a chest": (
        "orchard",
        ["GO_TO_4_3", "ITEM_sword", "GO_TO_4_1", "INTERACT"],
        lambda ram: index(ram, 4, 1) == 0xF0 and has_control(ram),
    ),
    "a question of a shop": ("shop", ["GO_TO_3_3", "INTERACT"], is_text_choice),
    "to buy": (
        "shop",
        ["GO_TO_3_3", "INTERACT", "INTERACT"],
        lambda ram: owns(ram, SHIELD) and has_control(ram),
    ),
    "to dig": ("field", ["GO_TO_6_2", "ITEM_shovel"], lambda ram: index(ram, 6, 2) == 0xE1),
    "a drift of snow": (
        "orchard in winter",
        ["GO_TO_6_1", "ITEM_shovel"],
        lambda ram: index(ram, 6, 1) != 0xD7,
    ),
    "a crack in a cliff, and the cave behind": (
        "stair",
        ["GO_TO_4_1", "ITEM_bombs", "GO_TO_4_1"],
        lambda ram: in_room(ram, 5, 0xA1),
    ),
    "a crack in a wall": (
        "vault",
        ["GO_TO_4_3", "ITEM_bombs", "GO_TO_3_1", "INTERACT"],
        lambda ram: ram.u8(address("wDungeonBossKeys")) == 2,
    ),
    "to lift": (
        "lane", ["GO_TO_1_4", "INTERACT"], lambda ram: ram.u8(address("wLinkGrabState")) == 0x83
    ),
    "to carry": (
        "lane",
        ["GO_TO_1_4", "INTERACT", "WALK_RIGHT"],
        lambda ram: ram.u8(address("wLinkGrabState")) == 0x83,
    ),
    "to throw": (
        "lane",
        ["GO_TO_1_4", "INTERACT", "INTERACT"],
        lambda ram: ram.u8(address("wLinkGrabState")) == 0 and index(ram, 1, 4) != 0xC2,
    ),
    "to turn the season": (
        "shrine", ["GO_TO_3_5", "ITEM_rod_of_seasons"], lambda ram: season(ram) == 1
    ),
    "to jump over a hole": (
        "windy cave",
        ["ITEM_feather", "GO_TO_3_3", "AIMED_LEFT", "GO_TO_1_3", "GO_TO_3_3", "AIMED_RIGHT"],
        lambda ram: ram.u8(address("wNumHeartPieces")) == 1 and x_of(ram) > 64,
    ),
    "to burn": (
        "dry hollow",
        ["GO_TO_5_3", "ITEM_seed_satchel", "GO_TO_5_2", "ITEM_seed_satchel"],
        lambda ram: 0xCB not in (index(ram, 5, 3), index(ram, 5, 2)),
    ),
    "torches, and the chest that they give": (
        "ember cave",
        ["FIGHT", "FIGHT", *light(TORCHES_OF_EMBER_CAVE), "GO_TO_4_2", "INTERACT"],
        lambda ram: owns(ram, FLIPPERS),
    ),
    "torches, and the key that they give": (
        "torch hall",
        [*light(TORCHES_OF_TORCH_HALL), "GO_TO_4_3"],
        lambda ram: keys(ram) == 1,
    ),
    "to swim": ("lake", ["LEAVE_DOWN"], lambda ram: in_room(ram, 0, 0x89)),
    "a keyhole": (
        "root gate",
        ["GO_TO_4_1", "WALK_UP", "GO_TO_4_1"],
        lambda ram: in_room(ram, 4, 0x1C),
    ),
    "a block, two buttons and the chest that they give": (
        "button room",
        [
            "GO_TO_3_3", "WALK_DOWN", "WALK_LEFT", "WALK_LEFT", "WALK_UP", "WALK_RIGHT",
            "GO_TO_4_5", "GO_TO_4_1", "INTERACT",
        ],
        lambda ram: keys(ram) == 1,
    ),
    "a door with a lock": (
        "root cave, with a key",
        ["GO_TO_4_0", "WALK_UP", "LEAVE_UP"],
        lambda ram: in_room(ram, 4, 0x14) and keys(ram) == 0,
    ),
    "a lever behind a hole, and a chest behind another": (
        "hop hall",
        [
            "ITEM_feather", "GO_TO_4_2", "AIMED_RIGHT", "GO_TO_6_1", "ITEM_sword",
            "GO_TO_7_2", "AIMED_RIGHT", "GO_TO_8_1", "INTERACT",
        ],
        lambda ram: index(ram, 6, 1) == 0x0B and ram.u8(address("wDungeonMaps")) == 2,
    ),
    "the door of the boss": (
        "cross hall, with the thorn key",
        ["GO_TO_4_0", "WALK_UP", "LEAVE_UP"],
        lambda ram: in_room(ram, 4, 0x0C),
    ),
    "the essence": (
        "seed hall", ["GO_TO_5_2"], lambda ram: ram.u8(address("wEssencesObtained")) == 1
    ),
}  # fmt: skip
"""What can be done in the game → a moment, decisions, and what is so after them."""

TEXTS = {"a sign": ("village", "GO_TO_6_5"), "a person": ("village", "GO_TO_2_6")}


@pytest.mark.parametrize("mechanic", MECHANICS)
def test_every_mechanic_can_be_decided_and_pressed_button_by_button(
    play: Any, mechanic: str
) -> None:
    moment, names, is_so = MECHANICS[mechanic]
    play.at(moment)
    assert not is_so(play.ram), "it was so before"
    ends = [play.decide(NUMBERS[name], "options", "macros") for name in names]
    assert is_so(play.ram), ends
    pressed, after = play.pressed, play.emulator.ram_digest()
    play.at(moment)
    for action in pressed:
        play.decide(action, "seed", "buttons")
    assert play.pressed == pressed
    assert play.emulator.ram_digest() == after


@pytest.mark.parametrize("what", TEXTS)
def test_texts_are_read_to_their_end(play: Any, what: str) -> None:
    moment, place = TEXTS[what]
    play.at(moment)
    saw = []
    for name in (place, "INTERACT"):
        play.decide(NUMBERS[name], "options")
        saw.append(play.saw_text)
    assert saw == [False, True]
    assert has_control(play.ram)


def test_a_question_can_be_refused(play: Any) -> None:
    play.at("shop")
    for name in ("GO_TO_3_3", "INTERACT", "WALK_RIGHT", "INTERACT"):
        play.decide(NUMBERS[name], "options")
    assert has_control(play.ram)
    assert play.saw_text
    assert not owns(play.ram, SHIELD)


def test_a_held_button_opens_and_closes_the_menu(play: Any) -> None:
    play.at("lane").decide(Action.START, "buttons")
    while not play.ram.u8(address("wMenuActiveState")):
        play.decide(Action.NOP, "buttons")
    play.decide(NUMBERS["INTERACT"], "macros")
    assert has_control(play.ram)


@pytest.mark.parametrize("item", ["ITEM_shovel", "ITEM_bombs", "ITEM_rod_of_seasons"])
def test_an_item_comes_onto_a_button_that_is_not_the_blade_s(play: Any, item: str) -> None:
    play.at("shrine").decide(NUMBERS[item], "buttons", "options")
    held = {play.ram.u8(address("wInventoryA")), play.ram.u8(address("wInventoryB"))}
    assert SWORD in held
    assert len(held) == 2


FREE_SIDE = [(x, y) for x in range(65, 92, 3) for y in range(52, 82, 5)]
"""Pixels of Windy Cave to the right of its holes."""


def jump_from(play: Any, at: tuple[int, int], *names: str) -> bool:
    """Whether the decisions lead from a pixel over the holes, which are 48 <= x < 64."""
    play.at("windy cave").decide(NUMBERS["ITEM_feather"])
    play.emulator.poke(1, address("w1Link.xh"), at[0])
    play.emulator.poke(1, address("w1Link.yh"), at[1])
    health = play.ram.u8(address("wLinkHealth"))
    for name in names:
        play.decide(NUMBERS[name], "options")
    return x_of(play.ram) < 48 and play.ram.u8(address("wLinkHealth")) == health


def test_a_walk_to_a_hole_jumps_over_it_from_any_side(play: Any) -> None:
    jumped = [jump_from(play, at, "GO_TO_3_3", "AIMED_LEFT") for at in FREE_SIDE]
    assert all(jumped)


def test_a_jump_in_place_needs_a_near_target(play: Any) -> None:
    """From half a tile at most: a jump covers 25 pixels, and a hole is 16 wide."""
    jumped = {x - 64: jump_from(play, (x, 56), "AIMED_LEFT") for x in range(66, 80)}
    assert [off for off, over in jumped.items() if over] == list(range(2, 9))


FIGHTS = ["orchard", "stair", "quarry cave", "root gate", "hop hall", "vault", "torch hall"]


def test_enemies_are_beaten_at_a_small_price(play: Any) -> None:
    """Nine in ten, for less than a quarter heart and a half each."""
    beaten = met = lost = 0
    for moment in FIGHTS:
        for wait in range(4):
            play.at(moment).emulator.tick(5 * wait)
            alive = [foe for foe in enemies(play.ram) if foe.health]
            health = play.ram.u8(address("wLinkHealth"))
            for _ in range(2 * len(alive)):
                if allowed(play.ram, "options")[FIGHT]:
                    play.decide(FIGHT)
            met += len(alive)
            beaten += len(alive) - len([foe for foe in enemies(play.ram) if foe.health])
            lost += max(0, health - play.ram.u8(address("wLinkHealth")))
    assert beaten >= 0.9 * met, (beaten, met)
    assert lost <= 1.5 * beaten, (lost, beaten)


def test_all_kinds_of_things_of_this_game_are_seen(play: Any) -> None:
    seen = {thing.kind for moment in play.moments for thing in things(play.at(moment).ram)}
    assert seen >= set(KINDS) - {"rock", "pot", "boss_lock", "lit_torch", "snow", "lock", "crack"}


def test_a_decision_is_the_same_each_time(play: Any) -> None:
    for moment in ("orchard", "hop hall"):
        numbers = [number for number in range(BUTTON.stop, len(DECISIONS), 7)]
        digests = []
        for _ in range(2):
            play.at(moment)
            for number in numbers:
                if allowed(play.ram, "macros")[number]:
                    play.decide(number)
            digests.append(play.emulator.ram_digest())
        assert digests[0] == digests[1]
